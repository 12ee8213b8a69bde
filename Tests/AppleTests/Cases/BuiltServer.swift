import Foundation
import FoundationNetworking
import PushTesting

/// The built program as a server, with one app.
final class BuiltServer {
  struct Failed: Error {
    let reason: String
  }

  let appKey: String
  let http = FixedPort.address()
  /// The device port with TLS.
  let device = FixedPort.address()
  /// The device port without TLS.
  let devicePlain = FixedPort.address()
  private let data: String
  private let login: String
  private var process = Process()

  init(_ data: String) throws {
    self.data = data
    _ = try Self.run(["init", "--data", data])
    let app = try Self.object(try Self.run(["app", "create", "test", "--data", data]))
    guard let key = app["app_key"] as? String, let secret = app["master_secret"] as? String else {
      throw Failed(reason: "no app")
    }
    appKey = key
    login = "Basic " + Data("\(key):\(secret)".utf8).base64EncodedString()
    try start()
  }

  deinit { kill() }

  /// The certificate that the server made.
  var certificate: String { data + "/tls/certificate.pem" }

  /// Starts the program, each time on the same ports.
  func start() throws {
    let output = Pipe()
    process = try Self.program([
      "serve", "--data", data, "--http", http, "--device", device, "--device-plain", devicePlain,
      "--tls-names",
      "push.test,127.0.0.1",
    ])
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    var line = Data()
    while !line.contains(10) {
      let more = output.fileHandleForReading.availableData
      guard !more.isEmpty else { throw Failed(reason: "the server did not start") }
      line += more
    }
  }

  /// Ends the program as `kill -9` does.
  func kill() {
    guard process.isRunning else { return }
    Foundation.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  /// The HTTP API, while the server runs.
  var api: API { API(address: http, login: login) }

  /// A call of the HTTP API; fails if the server does not answer with 200.
  func call(_ method: String, _ path: String, _ body: [String: Any]? = nil) async throws -> [String: Any] {
    try await api.call(method, path, body)
  }

  /// Sends a push to a registration and returns its message ID.
  func push(to registrationID: String, _ content: [String: Any]) async throws -> UInt64 {
    try await api.push(to: registrationID, content)
  }

  /// Waits until a push's report has a number.
  func wait(for member: String, of push: UInt64) async throws {
    for _ in 0..<1500 {
      if try await call("GET", "/v1/pushes/\(push)")[member] as? Int == 1 { return }
      try await Task.sleep(nanoseconds: 20_000_000)
    }
    throw Failed(reason: "\(member) of \(push) is not 1")
  }

  private static func program(_ arguments: [String]) throws -> Process {
    guard let path = ProcessInfo.processInfo.environment["BOREALIS_PROGRAM"] else {
      throw Failed(reason: "BOREALIS_PROGRAM names no program")
    }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = arguments
    // Without the settings of the tests, which it does not know.
    process.environment = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("BOREALIS_") }
    process.standardInput = FileHandle.nullDevice
    return process
  }

  private static func run(_ arguments: [String]) throws -> Data {
    let output = Pipe()
    let process = try program(arguments)
    process.standardOutput = output
    try process.run()
    let bytes = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw Failed(reason: "\(arguments) failed") }
    return bytes
  }

  fileprivate static func object(_ bytes: Data) throws -> [String: Any] {
    guard let object = try JSONSerialization.jsonObject(with: bytes) as? [String: Any] else {
      throw Failed(reason: String(decoding: bytes, as: UTF8.self))
    }
    return object
  }
}

extension BuiltServer {
  /// Calls of the HTTP API.
  struct API: Sendable {
    let address: String
    let login: String

    func call(_ method: String, _ path: String, _ body: [String: Any]? = nil) async throws -> [String: Any] {
      guard let url = URL(string: "http://\(address)\(path)") else { throw Failed(reason: path) }
      var request = URLRequest(url: url)
      request.httpMethod = method
      request.setValue(login, forHTTPHeaderField: "Authorization")
      request.setValue("application/json", forHTTPHeaderField: "Content-Type")
      request.httpBody = try body.map { try JSONSerialization.data(withJSONObject: $0) }
      let (answer, response) = try await URLSession.shared.data(for: request)
      guard (response as? HTTPURLResponse)?.statusCode == 200 else {
        throw Failed(reason: String(decoding: answer, as: UTF8.self))
      }
      return answer.isEmpty ? [:] : try BuiltServer.object(answer)
    }

    /// Sends a push to a registration, or to all, and returns its message ID.
    func push(to registrationID: String?, _ content: [String: Any]) async throws -> UInt64 {
      var body = content
      body["platform"] = "all"
      body["audience"] = registrationID.map { ["registration_id": [$0]] } ?? "all" as Any
      guard let id = try await call("POST", "/v3/push", body)["msg_id"] as? String, let number = UInt64(id)
      else { throw Failed(reason: "no msg_id") }
      return number
    }
  }
}
