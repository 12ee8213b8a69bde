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

  /// Whose connection a request opens.
  enum Kind {
    case device, browser
  }

  /// Answers an upgrade request on the loop of `devices`; returns nil if the path is none of theirs.
  func upgrade(_ request: HTTPRequest, from peer: IPAddress?, to devices: DeviceServer) -> HTTPUpgrade? {
    guard let kind = kind(of: request) else { return nil }
    let client = proxies.client(of: request, from: peer) ?? peer
    let response: HTTPResponse
    do throws(WebSocketHandshake.Refusal) { response = try answer(to: request, of: kind) } catch {
      rejections.record(error, request, from: client)
      return .answered(error.response)
    }
    let network = client.map { PeerNetwork(of: $0) } ?? PeerNetwork(rawValue: 0)
    guard devices.admit(network) else { return .answered(HTTPResponse(status: 503)) }
    return .granted(response) { [autopush = kind == .browser ? autopush : nil] in
      devices.adopt($0, from: network, autopush: autopush)
    }
  }

  /// Whose a request is; nil if it is for none of them.
  func kind(of request: HTTPRequest) -> Kind? {
    if Self.names(Self.path, request) { return .device }
    guard autopush != nil else { return nil }
    if Self.names(Self.autopushPath, request) { return .browser }
    return request.target == "/" && request.headers.lists("upgrade", "websocket")
      && request.headers.lists("sec-websocket-protocol", Self.autopushProtocol) ? .browser : nil
  }

  /// The answer that opens a WebSocket.
  func answer(
    to request: HTTPRequest, of kind: Kind
  ) throws(WebSocketHandshake.Refusal) -> HTTPResponse {
    let isBrowser = kind == .browser
    let allowed = isBrowser && !Self.isPage(request) ? Self.anyOrigin ?? origins : origins
    var response = try WebSocketHandshake.answer(to: request, origins: allowed)
    if isBrowser, request.headers.lists("sec-websocket-protocol", Self.autopushProtocol) {
      response.headers.append("Sec-WebSocket-Protocol", Self.autopushProtocol)
    }
    return response
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
