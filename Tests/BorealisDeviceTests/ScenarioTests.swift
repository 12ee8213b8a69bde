import BorealisBase
import PushTesting
import Testing

/// The scenarios that every device library runs: Docs/device-scenarios.json.
@Suite struct ScenarioTests {
  /// A scenario of the file.
  struct Scenario: Sendable, CustomTestStringConvertible {
    let name: String
    let from: String
    let steps: [JSONObject]
    var testDescription: String { name }
  }

  static let scenarios: [Scenario] = {
    let root = #filePath.split(separator: "/").prefix { $0 != "Tests" }.joined(separator: "/")
    let file = try? parseJSON(TemporaryFolder.bytes("/\(root)/Docs/device-scenarios.json"))
    return (file?["scenarios"]?.array ?? []).compactMap { value in
      guard let name = value["name"]?.string, let from = value["from"]?.string,
        let steps = value["steps"]?.array
      else { return nil }
      return Scenario(name: name, from: from, steps: steps.compactMap(\.object))
    }
  }()

  @Test func theFileIsRead() { #expect(Self.scenarios.count >= 60) }

  /// Each twice: what the server sends arrives as one piece, and byte by byte.
  @Test(arguments: scenarios, [false, true]) func play(scenario: Scenario, isCut: Bool) throws {
    var device = ScenarioDevice()
    try Self.begin(&device, from: scenario.from)
    for (index, step) in scenario.steps.enumerated() {
      let verb = try #require(step.members.first)
      try Self.perform(verb.key, verb.value, on: &device, isCut: isCut)
      let expected = (step["then"]?.array ?? []).compactMap(\.string)
      let done = device.drain()
      let isEqual =
        expected.count == done.count && zip(expected, done).allSatisfy { Self.matches($0, $1) }
      #expect(isEqual, "step \(index + 1), \(verb.key): \(done) instead of \(expected)")
      guard isEqual else { return }
    }
  }

  private static func begin(_ device: inout ScenarioDevice, from: String) throws {
    guard from != "new" else { return }
    device.register(from)
    guard !from.hasPrefix("registered") else { return }
    let values = from.trimmingPrefix("session")
    try device.app("start")
    device.connected()
    try device.receive(ScenarioFrames.bytes(["HELLO_OK\(values)", "LOGIN_OK\(values)"]))
    _ = device.drain()
  }

  private static func perform(
    _ verb: String, _ value: JSONValue, on device: inout ScenarioDevice, isCut: Bool
  ) throws {
    let text = value.string ?? ""
    switch (verb, text) {
    case ("app", _): try device.app(text)
    case ("network", "connected"): device.connected()
    case ("network", "lost"): device.lost()
    case ("network", _): device.setReadingPaused(text == "unread")
    case ("server", _):
      let bytes = try ScenarioFrames.bytes((value.array ?? []).compactMap(\.string))
      for piece in isCut ? bytes.map({ [$0] }) : [bytes] { device.receive(piece) }
    case ("wait", _): device.wait(try #require(value.int64.map { UInt64($0) }))
    case ("sleep", _): device.sleep(try #require(value.int64.map { UInt64($0) }))
    case ("disk", _): device.isDiskFull = text == "full"
    case ("process", _): device.restart()
    default: throw ScenarioFrames.Unknown(text: verb)
    }
  }

  /// Whether an action is the expected one, of which `retry=LEAST..MOST` gives the limits of a wait.
  private static func matches(_ expected: String, _ done: String) -> Bool {
    guard let match = expected.wholeMatch(of: /(.* retry=)(\d+)\.\.(\d+)/) else { return expected == done }
    guard done.hasPrefix(match.1), let wait = UInt64(done.dropFirst(match.1.count)),
      let least = UInt64(match.2), let most = UInt64(match.3)
    else { return false }
    return least <= wait && wait <= most
  }
}
