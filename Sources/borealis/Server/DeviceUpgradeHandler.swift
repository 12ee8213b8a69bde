import BorealisBase
import BorealisNet
import DeviceGateway
import HTTP

/// Upgrades HTTP connections to WebSocket: those of devices (Docs/protocol.md, section 8), and those of
/// browsers that use this server as their push service (Docs/autopush.md).
struct DeviceUpgradeHandler: Sendable {
  static let path = "/device"
  /// Where browsers come; those with the subprotocol also come to `/`, since some clients have no path.
  static let autopushPath = "/autopush"
  private static let autopushProtocol = "push-notification"
  private static let anyOrigin = OriginRule(others: ["*"])

  let origins: OriginRule
  let proxies: TrustedProxies
  let rejections: HandshakeRejections
  /// Nil if browsers are not served.
  let autopush: AutopushOptions?

  /// Answers an upgrade request on the loop of `devices`; returns nil if the path is none of theirs.
  func upgrade(_ request: HTTPRequest, from peer: IPAddress?, to devices: DeviceServer) -> HTTPUpgrade? {
    let autopush = isAutopush(request) ? autopush : nil
    guard autopush != nil || Self.names(Self.path, request) else { return nil }
    let client = proxies.client(of: request, from: peer) ?? peer
    var response: HTTPResponse
    do throws(WebSocketHandshake.Refusal) {
      response = try WebSocketHandshake.answer(
        to: request, origins: autopush == nil || Self.isPage(request) ? origins : Self.anyOrigin ?? origins)
    } catch {
      rejections.record(error, request, from: client)
      return .answered(error.response)
    }
    if autopush != nil, request.headers.lists("sec-websocket-protocol", Self.autopushProtocol) {
      response.headers.append("Sec-WebSocket-Protocol", Self.autopushProtocol)
    }
    let network = client.map { PeerNetwork(of: $0) } ?? PeerNetwork(rawValue: 0)
    guard devices.admit(network) else { return .answered(HTTPResponse(status: 503)) }
    return .granted(response) { devices.adopt($0, from: network, autopush: autopush) }
  }

  private func isAutopush(_ request: HTTPRequest) -> Bool {
    guard autopush != nil else { return false }
    if Self.names(Self.autopushPath, request) || Self.names(Self.autopushPath + "/", request) { return true }
    return request.target == "/" && request.headers.lists("upgrade", "websocket")
      && request.headers.lists("sec-websocket-protocol", Self.autopushProtocol)
  }

  /// Whether a web page asks. Browsers themselves name the address of their push service as the origin, which
  /// is one of WebSocket.
  private static func isPage(_ request: HTTPRequest) -> Bool {
    let origin = request.headers["origin"]?.lowercased() ?? ""
    return !origin.isEmpty && !origin.hasPrefix("ws://") && !origin.hasPrefix("wss://")
  }

  private static func names(_ path: String, _ request: HTTPRequest) -> Bool {
    request.target == path || request.target.hasPrefix(path + "?")
  }
}
