import BorealisBase
import BorealisProtocol
import PushTesting
import Testing

/// A server with the simulator of channels in the place of a browser's push service, and an app with a key
/// for Web Push.
final class WebPushWorld {
  let server: TestServer
  let app: TestServer.App
  let folder = TemporaryFolder()
  let data: String
  let url: String
  private let service: RunningProgram
  private var keys: [String] = []

  /// The public key that pages subscribe with.
  var publicKey: String { keys.last ?? "" }

  init(_ more: [String] = []) throws {
    data = folder.file("data")
    service = try RunningProgram(
      [
        "channel-simulator", "--listen", "127.0.0.1:0", "--data", folder.file("google"), "--quiet",
      ], of: RunningProgram.tools)
    url = try #require(try service.document()["url"]?.string)
    app = try TestServer.makeApp("pages", data: data)
    server = try TestServer(data: data, ["--web-push-url", url] + more)
  }

  /// Sets the key with the program's own command.
  func setKey(contact: String = "mailto:push@example.com") throws {
    let set = try RunningProgram.run([
      "app", "channel", "set", app.key, "webpush", "--data", data, "--contact", contact,
    ])
    #expect(set.status == 0, "\(set.errors)")
    keys.append(try #require(set.documents.first??["key_id"]?.string))
  }

  /// A browser subscribes with the app's key, or another one.
  func subscribe(_ key: String? = nil) throws -> JSONValue {
    let made = try order("subscriptions", ["application_server_key": .string(key ?? publicKey)])
    return try #require(made["subscription"])
  }

  /// A page that has told its subscription on its connection and is away.
  func page(_ name: String, _ subscription: JSONValue) throws -> TestDevice.Identity {
    let page = try TestDevice.register(server.device, app: app.key, install: name)
    #expect(try reportToken(page, String(decoding: JSONWriter.serialize(subscription), as: UTF8.self)) == .ok)
    try server.waitUntilAway()
    return page
  }

  func reportToken(_ page: TestDevice.Identity, _ token: String) throws -> ResultCode {
    let online = try TestDevice.login(server.device, app: app.key, page)
    try online.send(
      .operation(sequence: 1, .setChannelToken(ReportedToken(channel: "webpush", token: token))))
    guard case .result(1, let code, _) = try online.next() else { throw TestDevice.Unexpected() }
    return code
  }

  /// The ID of a subscription, as its address ends.
  func id(_ subscription: JSONValue) -> String {
    String(subscription["endpoint"]?.string?.split(separator: "/").last ?? "")
  }

  func push(
    to pages: [TestDevice.Identity], android: JSONValue = ["alert": "Hello"],
    options: JSONValue = ["time_to_live": 3600]
  ) throws -> String {
    let audience: JSONValue = ["registration_id": .array(pages.map { .string($0.id.text) })]
    let call = try server.call(
      "POST", "/v3/push", as: app,
      body: [
        "platform": "all", "audience": audience, "notification": ["android": android], "options": options,
      ])
    return try #require(call.document?["msg_id"]?.string, "\(call.body)")
  }

  func report(_ id: String) throws -> JSONValue {
    let call = try server.call("GET", "/v1/pushes/\(id)", as: app)
    return try #require(call.document, "\(call.body)")
  }

  /// Waits until the channel has an end for so many targets of a push; gives the ends.
  @discardableResult
  func results(of id: String, _ count: Int64 = 1) throws -> JSONValue? {
    var results: JSONValue?
    let isOver = try RunningProgram.eventually {
      results = try report(id)["webpush"]?["results"]
      return (results?.object?.members ?? []).reduce(0) { $0 + ($1.value.int64 ?? 0) } >= count
    }
    #expect(isOver, "\(String(describing: try? report(id)))")
    return results
  }

  /// Waits until the server uses the key, and what was pushed to see that has arrived.
  func untilKeyIsUsed(by page: TestDevice.Identity) throws {
    var last = ""
    let isUsed = try RunningProgram.eventually {
      last = try push(to: [page])
      return try report(last)["webpush"]?["targets"]?.int64 == 1
    }
    #expect(isUsed)
    #expect(try results(of: last) == ["delivered": 1])
  }

  // MARK: The push service

  @discardableResult
  func order(_ path: String, _ body: JSONValue, _ method: String = "POST") throws -> JSONValue {
    let text = String(decoding: JSONWriter.serialize(body), as: UTF8.self)
    let call = try HTTPCall(method, "/control/\(path)", at: String(url.dropFirst(7)), body: text)
    #expect(call.status == 200, "\(call.body)")
    return call.document ?? .null
  }

  /// What came for a push, as its topic says, in order.
  func requests(for id: String) throws -> [JSONValue] {
    try log().filter { $0["topic"]?.string == id || $0["message"]?["msg_id"]?.string == id }
  }

  func log() throws -> [JSONValue] {
    let call = try HTTPCall("GET", "/control/log?limit=10000", at: String(url.dropFirst(7)))
    return (call.document?["entries"]?.array ?? []).filter { $0["kind"] == "push" }
  }
}
