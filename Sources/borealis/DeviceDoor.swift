import PushBase
import PushHTTP
import PushHTTPServer
import PushNet
import PushPassthrough
import PushWebSocket

/// Lets devices in that come over WebSocket, on the HTTP ports (Docs/protocol.md, section 8).
struct DeviceDoor: Sendable {
  static let path = "/device"

  let origins: OriginRule
  let proxies: TrustedProxies
  let refusals: DoorRefusals

  /// What becomes of a request on the loop of `devices`; nil if it is none for a device.
  func upgrade(_ request: HTTPRequest, from peer: IPAddress?, to devices: DeviceServer) -> HTTPUpgrade? {
    guard request.target == Self.path || request.target.hasPrefix(Self.path + "?") else { return nil }
    let client = proxies.client(of: request, from: peer) ?? peer
    let response: HTTPResponse
    do throws(WebSocketHandshake.Refusal) {
      response = try WebSocketHandshake.answer(to: request, origins: origins)
    } catch {
      refusals.note(error, request, from: client)
      return .answered(error.response)
    }
    let network = client.map { PeerNetwork(of: $0) } ?? PeerNetwork(rawValue: 0)
    guard devices.admit(network) else { return .answered(HTTPResponse(status: 503)) }
    return .granted(response) { devices.adopt($0, from: network) }
  }
}
