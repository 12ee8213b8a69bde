import BorealisBase
import Testing

/// `borealis serve` on ports of the system's choice.
final class TestServer: Sendable {
  let program: RunningProgram
  let ready: JSONValue
  let data: String
  private let environment: [String: String]

  var http: String { ready["http"]?.string ?? "" }
  var device: String { ready["device_plain"]?.string ?? "" }

  /// Starts a server and waits until it is ready.
  init(
    data: String, _ arguments: [String] = [], environment: [String: String] = [:],
    http: String = "127.0.0.1:0", device: String = "127.0.0.1:0"
  ) throws {
    self.data = data
    self.environment = environment
    program = try RunningProgram(
      ["serve", "--data", data, "--http", http, "--device-plain", device] + arguments,
      environment: environment)
    ready = try program.document()
  }

  /// An app's key and master secret.
  typealias App = (key: String, secret: String)

  /// Makes an app with the program's own command.
  func makeApp(_ name: String = "test") throws -> App {
    try Self.makeApp(name, data: data, environment: environment)
  }

  /// The same in a data folder that no server has to use.
  static func makeApp(
    _ name: String = "test", data: String, environment: [String: String] = [:]
  ) throws -> App {
    try initialize(data: data, environment: environment)
    let ending = try RunningProgram.run(["app", "create", name, "--data", data], environment: environment)
    guard let app = ending.documents.first ?? nil, let key = app["app_key"]?.string,
      let secret = app["master_secret"]?.string
    else { throw RunningProgram.Failure(description: ending.errors) }
    return (key, secret)
  }

  /// Makes a data folder with a database, unless it is there.
  static func initialize(data: String, environment: [String: String] = [:]) throws {
    let ending = try RunningProgram.run(["init", "--data", data], environment: environment)
    guard ending.status == 0 else { throw RunningProgram.Failure(description: ending.errors) }
  }

  /// Gives an app a key for Apple's service.
  static func setKey(
    _ file: String, team: String, topic: String, environment: String = "production", of app: App, data: String
  ) throws {
    let set = try RunningProgram.run([
      "app", "channel", "set", app.key, "apns", "--data", data, "--p8", file, "--team-id", team, "--topic",
      topic, "--environment", environment,
    ])
    guard set.status == 0 else { throw RunningProgram.Failure(description: set.errors) }
  }

  /// Sends a push to one registration and returns the answer.
  func push(_ text: String, to identity: TestDevice.Identity, as app: App) throws -> HTTPCall {
    let body: JSONValue = [
      "platform": "all", "audience": ["registration_id": [.string(identity.id.text)]],
      "message": ["msg_content": .string(text)],
    ]
    return try call("POST", "/v3/push", as: app, body: body)
  }

  func call(
    _ method: String, _ path: String, as app: App? = nil, headers: [String] = [], body: JSONValue? = nil
  ) throws -> HTTPCall {
    let text = body.map { String(decoding: JSONWriter.serialize($0), as: UTF8.self) } ?? ""
    return try HTTPCall(method, path, at: http, login: app, headers: headers, body: text)
  }

  /// Waits until the server has seen that no device is there. The device API says so only after ten minutes,
  /// as JPush's.
  func waitUntilAway() throws {
    let isAway = try RunningProgram.eventually {
      try call("GET", "/metrics").body.contains("\nborealis_device_open_connections 0")
    }
    #expect(isAway)
  }
}
