import BorealisBase
import BorealisNet
import DeviceGateway
import HTTP

/// Upgrades HTTP connections of devices to WebSocket (Docs/protocol.md, section 8).
struct DeviceUpgradeHandler: Sendable {
  static let path = "/device"

  let origins: OriginRule
  let proxies: TrustedProxies
  let rejections: HandshakeRejections

  /// Answers an upgrade request on the loop of `devices`; returns nil if the path is not the devices' one.
  func upgrade(_ request: HTTPRequest, from peer: IPAddress?, to devices: DeviceServer) -> HTTPUpgrade? {
    guard request.target == Self.path || request.target.hasPrefix(Self.path + "?") else { return nil }
    let client = proxies.client(of: request, from: peer) ?? peer
    let response: HTTPResponse
    do throws(WebSocketHandshake.Refusal) {
      response = try WebSocketHandshake.answer(to: request, origins: origins)
    } catch {
      rejections.record(error, request, from: client)
      return .answered(error.response)
    }
    let network = client.map { PeerNetwork(of: $0) } ?? PeerNetwork(rawValue: 0)
    guard devices.admit(network) else { return .answered(HTTPResponse(status: 503)) }
    return .granted(response) { devices.adopt($0, from: network) }
  }
}
