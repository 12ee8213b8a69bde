import BorealisBase
import Glibc

/// An iPhone with the app: `borealis device` while the app runs, nothing while it does not.
final class TestPhone {
  let name: String
  /// The device token that it tells the server.
  let token: String
  private(set) var id = ""
  /// What the app has printed, since it was installed.
  private(set) var events: [JSONValue] = []
  private let command: [String]
  private var process: RunningProgram?

  /// Installs the app and opens it.
  init(_ name: String, token: String, server: String, app key: String, folder: String) throws {
    self.name = name
    self.token = token
    command = [
      "device", "--server", server, "--plain", "--app-key", key, "--platform", "ios", "--state",
      "\(folder)/\(name).state",
    ]
    try launch()
    try wait { $0["event"] == "logged_in" }
    id = events.lazy.compactMap { $0["registration_id"]?.string }.first ?? ""
    if !token.isEmpty { try ask("token \(token)") }
  }

  /// Starts the app, which connects.
  func launch(_ arguments: [String] = []) throws {
    process = try RunningProgram(command + arguments, input: nil)
  }

  /// Ends the app.
  func quit() throws {
    process?.signal(SIGTERM)
    _ = try process?.end()
    process = nil
  }

  /// Gives the app a command that is answered by an event "result".
  func ask(_ line: String) throws {
    let words = line.split(separator: " ")
    try send(line) { $0["event"] == "result" && $0["operation"]?.string == String(words[0]) }
  }

  /// Gives the app a command and waits for what follows from it.
  @discardableResult
  func send(_ line: String, until isAnswer: (JSONValue) -> Bool) throws -> JSONValue {
    try process?.write(line: line)
    return try wait(for: isAnswer)
  }

  /// The next event of a kind.
  @discardableResult
  func wait(for isWanted: (JSONValue) -> Bool) throws -> JSONValue {
    guard let process else { throw RunningProgram.Failure(description: "\(name): the app does not run") }
    while true {
      let event = try process.document()
      events.append(event)
      if isWanted(event) { return event }
    }
  }

  /// The pushes of one `msg_id` that came over its own connection.
  func pushes(_ id: String) -> [JSONValue] {
    events.filter { $0["event"] == "push" && $0["msg_id"]?.string == id }
  }
}
