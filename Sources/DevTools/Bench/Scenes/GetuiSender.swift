import BorealisBase
import BorealisCrypto
import CLinux

/// An app server that was written for Getui's API: its access, and the bytes of its requests.
struct GetuiSender {
  private let path: String
  private let token: String
  private let endpoint: Endpoint

  /// Gives an app access to Getui's API while no server runs; returns its master secret for it.
  static func enable(_ app: BorealisApp, _ environment: BenchEnvironment) throws(BenchError) -> String {
    let line = try ServerProcess.firstLine(
      environment.server, ["app", "getui", "set", app.key.text, "--data", app.folder],
      executable: environment.executable, log: environment.workspace.path + "/servers.log")
    guard let secret = (try? parseJSON(Array(line.utf8)))?["master_secret"]?.string else {
      throw .unexpected("borealis app getui set says: \(line)")
    }
    return secret
  }

  /// Gets a token.
  init(_ server: BorealisServer, secret: String) throws(BenchError) {
    let key = server.appKey.text
    path = "/v2/\(key)"
    endpoint = server.http
    let client = try ConsoleClient(endpoint, cookie: "")
    let time = String(cl_wall_ms())
    let sign = Hex.encode(SHA256.digest(Array("\(key)\(time)\(secret)".utf8)))
    let answer = try client.post(
      path + "/auth", "{\"sign\":\"\(sign)\",\"timestamp\":\"\(time)\",\"appkey\":\"\(key)\"}", fields: "")
    guard let token = (try? parseJSON(Array(answer.text.utf8)))?["data"]?["token"]?.string else {
      throw .unexpected("auth: \(answer.text)")
    }
    self.token = token
  }

  /// Names as the members of a JSON array.
  static func list(_ names: [String]) -> String {
    "\"" + names.joined(separator: "\",\"") + "\""
  }

  /// `POST /push/single/cid`, with a name of its own.
  func request(to cid: String, _ payload: [UInt8]) -> [UInt8] {
    let body =
      "{\"request_id\":\"\(RequestCycle.numberPlace)\",\"settings\":{\"ttl\":86400000},"
      + "\"audience\":{\"cid\":[\"\(cid)\"]},"
      + "\"push_message\":{\"transmission\":\"\(String(decoding: payload, as: UTF8.self))\"}}"
    return request("POST", "/push/single/cid", body)
  }

  /// `POST /push/list/message`; returns the task.
  func storeMessage(_ payload: [UInt8], timeToLive: Int) throws(BenchError) -> String {
    let body =
      "{\"request_id\":\"message-\(cl_monotonic_ns())\",\"settings\":{\"ttl\":\(timeToLive * 1000)},"
      + "\"push_message\":{\"transmission\":\"\(String(decoding: payload, as: UTF8.self))\"}}"
    // A connection of its own: the server closes one that is idle while other requests are measured.
    let client = try ConsoleClient(endpoint, cookie: "")
    let answer = try client.post(path + "/push/list/message", body, fields: "token: \(token)\r\n")
    guard let task = (try? parseJSON(Array(answer.text.utf8)))?["data"]?["taskid"]?.string else {
      throw .unexpected("push/list/message: \(answer.text)")
    }
    return task
  }

  /// `POST /push/list/cid`.
  func request(to cids: [String], task: String, isAsync: Bool) -> [UInt8] {
    request(
      "POST", "/push/list/cid",
      "{\"taskid\":\"\(task)\",\"audience\":{\"cid\":[\(Self.list(cids))]},\"is_async\":\(isAsync)}")
  }

  /// A call that does next to nothing but check its token.
  func check() -> [UInt8] { request("GET", "/user/status/nobody", "") }

  private func request(_ method: String, _ call: String, _ body: String) -> [UInt8] {
    Array(
      """
      \(method) \(path)\(call) HTTP/1.1\r
      Host: 127.0.0.1\r
      token: \(token)\r
      Content-Type: application/json;charset=utf-8\r
      Content-Length: \(body.utf8.count)\r
      \r
      \(body)
      """.utf8)
  }
}
