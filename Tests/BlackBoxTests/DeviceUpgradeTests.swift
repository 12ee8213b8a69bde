import BorealisBase
import DeviceGateway
import HTTP
import Testing

@testable import borealis

/// Whose WebSockets are opened, and for whom.
@Suite struct DeviceUpgradeTests {
  private static let options = AppKey("0123456789abcdef01234567").map {
    AutopushOptions(app: $0, origin: "https://push.example.com")
  }

  private static func handler(servesBrowsers: Bool = true) throws -> DeviceUpgradeHandler {
    DeviceUpgradeHandler(
      origins: try #require(OriginRule(site: "https://push.example.com")), proxies: TrustedProxies([]),
      rejections: HandshakeRejections(Metrics(), time: SystemTime(), log: .silent),
      autopush: servesBrowsers ? options : nil)
  }

  private static func request(_ target: String, _ fields: [(String, String)] = []) -> HTTPRequest {
    var request = HTTPRequest(
      method: "GET", target: target,
      headers: [
        "Host": "push.example.com", "Connection": "Upgrade", "Upgrade": "websocket",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version": "13",
      ])
    for (name, value) in fields { request.headers.append(name, value) }
    return request
  }

  private static let offer = ("Sec-WebSocket-Protocol", "push-notification")

  @Test(
    arguments: [
      ("/device", false, .device, .device), ("/device?a", true, .device, .device),
      ("/autopush", false, .browser, nil), ("/autopush?a=b", true, .browser, nil),
      ("/autopush/", true, nil, nil), ("/autopushed", true, nil, nil), ("/", true, .browser, nil),
      ("/", false, nil, nil), ("/?a", true, nil, nil), ("/v3/push", true, nil, nil),
    ] as [(String, Bool, DeviceUpgradeHandler.Kind?, DeviceUpgradeHandler.Kind?)])
  func `A request is a device's or a browser's`(
    target: String, offers: Bool, kind: DeviceUpgradeHandler.Kind?,
    withoutBrowsers: DeviceUpgradeHandler.Kind?
  ) throws {
    let request = Self.request(target, offers ? [Self.offer] : [])
    #expect(try Self.handler().kind(of: request) == kind)
    #expect(try Self.handler(servesBrowsers: false).kind(of: request) == withoutBrowsers)
  }

  @Test func `The console's page is not an upgrade`() throws {
    let page = HTTPRequest(
      method: "GET", target: "/", headers: ["Host": "push.example.com", Self.offer.0: Self.offer.1])
    #expect(try Self.handler().kind(of: page) == nil)
  }

  @Test(
    arguments: [
      (.browser, nil, 101), (.browser, "wss://push.example.com", 101), (.browser, "ws://other.example", 101),
      (.browser, "https://push.example.com", 101), (.browser, "https://other.example", 403),
      (.browser, "null", 403), (.device, nil, 101), (.device, "https://push.example.com", 101),
      (.device, "wss://push.example.com", 403), (.device, "https://other.example", 403),
    ] as [(DeviceUpgradeHandler.Kind, String?, Int)])
  func `Pages of other sites open nothing`(
    kind: DeviceUpgradeHandler.Kind, origin: String?, status: Int
  ) throws {
    let request = Self.request("/x", origin.map { [("Origin", $0)] } ?? [])
    #expect(try Self.status(of: request, kind) == status)
  }

  private static func status(of request: HTTPRequest, _ kind: DeviceUpgradeHandler.Kind) throws -> Int {
    let handler = try handler()
    do throws(WebSocketHandshake.Refusal) { return try handler.answer(to: request, of: kind).status } catch {
      return error.response.status
    }
  }

  @Test func `The subprotocol is accepted where it is offered, by a browser`() throws {
    let handler = try Self.handler()
    func accepted(_ kind: DeviceUpgradeHandler.Kind, _ fields: [(String, String)]) throws -> String? {
      try handler.answer(to: Self.request("/x", fields), of: kind).headers["sec-websocket-protocol"]
    }
    #expect(try accepted(.browser, [Self.offer]) == "push-notification")
    #expect(try accepted(.browser, [(Self.offer.0, "a, push-notification")]) == "push-notification")
    #expect(try accepted(.browser, [(Self.offer.0, "a")]) == nil)
    #expect(try accepted(.browser, []) == nil)
    #expect(try accepted(.device, [Self.offer]) == nil)
  }
}
