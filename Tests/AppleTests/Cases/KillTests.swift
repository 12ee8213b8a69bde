import Foundation
import PushTesting
import Testing

/// Server and devices are killed again and again while pushes come.
@Suite(.timeLimit(.minutes(5))) struct KillTests {
  private static let devices = 200
  /// A third of them kills the server, one the devices, and one both: 100 kills.
  private static let rounds = 75

  private let folder = TemporaryFolder()

  @Test func everyAcceptedPushIsShownOnce() async throws {
    let server = try BuiltServer(folder.file("data"))
    var fleet = try Fleet(of: server, in: folder.path, count: Self.devices)
    /// The devices that each accepted push is for.
    var accepted: [UInt64: Range<Int>] = [:]
    for round in 0..<Self.rounds {
      let (names, api) = (fleet.names, server.api)
      async let more = Self.push(to: names, by: api)
      // The moment of the kill is what is random here; nothing waits for this.
      try await Task.sleep(nanoseconds: .random(in: 0..<300_000_000))
      let killsServer = round % 3 != 1
      let killsFleet = round % 3 != 0
      if killsFleet { fleet.kill() }
      if killsServer { server.kill() }
      accepted.merge(await more) { _, new in new }
      if killsServer { try server.start() }
      if killsFleet { fleet = try Fleet(of: server, in: folder.path, count: Self.devices) }
      fleet.networkChanged()
    }
    try await Self.wait(for: accepted, in: folder.file("shown"))
    #expect(accepted.count > Self.rounds)
    fleet.kill()
  }

  /// Sends pushes until one fails, or enough for a round.
  private static func push(to names: [String], by api: BuiltServer.API) async -> [UInt64: Range<Int>] {
    var accepted: [UInt64: Range<Int>] = [:]
    for _ in 0..<30 {
      let device = Int.random(in: 0..<names.count)
      let isForAll = Int.random(in: 0..<10) == 0
      let content: [String: Any] = ["message": ["msg_content": "load"]]
      let id = try? await api.push(to: isForAll ? nil : names[device], content)
      // If the server was killed, nobody knows whether it had accepted the push.
      guard let id else { break }
      accepted[id] = isForAll ? 0..<names.count : device..<device + 1
    }
    return accepted
  }

  /// Waits until every device has shown all its pushes; none may be there twice.
  private static func wait(for accepted: [UInt64: Range<Int>], in file: String) async throws {
    let wanted = Set(accepted.flatMap { id, devices in devices.map { "\($0) \(id)" } })
    var lost = wanted
    for _ in 0..<600 where !lost.isEmpty {
      let lines = TemporaryFolder.read(file).split(separator: "\n").map(String.init)
      let shown = Set(lines)
      try #require(shown.count == lines.count, "\(lines.count - shown.count) were shown twice")
      lost = wanted.subtracting(shown)
      if !lost.isEmpty { try await Task.sleep(nanoseconds: 100_000_000) }
    }
    #expect(lost.isEmpty, "\(lost.count) of \(wanted.count) were lost: \(lost.prefix(10))")
  }
}

/// A process with many devices, which notes what they show in the file `shown` of a folder.
private final class Fleet {
  /// The devices' registration IDs.
  private(set) var names: [String]
  private let process = Process()
  private let input = Pipe()

  /// Starts it, and waits until all devices have a registration.
  init(of server: BuiltServer, in folder: String, count: Int) throws {
    names = [String](repeating: "", count: count)
    guard let tests = Bundle.main.executableURL else { throw BuiltServer.Failed(reason: "no program") }
    process.executableURL = tests.deletingLastPathComponent().appendingPathComponent("borealis-fleet")
    process.arguments = [server.devicePlain, server.appKey, folder, "\(count)"]
    process.standardInput = input
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    var text = Data()
    while names.contains("") {
      let more = output.fileHandleForReading.availableData
      guard !more.isEmpty else { throw BuiltServer.Failed(reason: "the devices have ended") }
      text += more
      while let end = text.firstIndex(of: 10) {
        let words = String(decoding: text[..<end], as: UTF8.self).split(separator: " ")
        text = Data(text[(end + 1)...])
        if words.count == 2, let number = Int(words[0]), names.indices.contains(number) {
          names[number] = String(words[1])
        }
      }
    }
  }

  deinit { kill() }

  /// Lets all devices connect at once.
  func networkChanged() { try? input.fileHandleForWriting.write(contentsOf: Data("\n".utf8)) }

  /// Ends the process as `kill -9` does.
  func kill() {
    guard process.isRunning else { return }
    Foundation.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }
}
