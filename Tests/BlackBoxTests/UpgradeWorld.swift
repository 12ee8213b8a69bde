import BorealisBase
import Dispatch
import Glibc
import PushTesting
import Synchronization
import Testing

/// A server that other processes take the place of, with devices and app servers.
final class UpgradeWorld {
  /// A push that was answered with 200, and whom it was for.
  struct Accepted: Sendable {
    let id: String
    let targets: [Seat]
  }

  /// A device of a fleet.
  struct Seat: Hashable, Sendable {
    let fleet: String
    let number: Int
  }

  /// A push on one device.
  struct Arrival: Hashable {
    let id: String
    let seat: Seat
  }

  /// What the devices of the fleets have printed.
  struct Seen: Sendable {
    var names: [Seat: String] = [:]
    var logins: [Seat: Int] = [:]
    var shown: [Arrival: Int] = [:]
    var ends: [String] = []
  }

  /// What is seen, which threads that read what fleets print add to.
  private final class Watch: Sendable {
    let seen = Mutex(Seen())
  }

  let data: String
  private let arguments: [String]
  private(set) var server: TestServer
  /// The process that serves.
  private(set) var process: Int32
  let app: TestServer.App
  private let watch = Watch()
  private var fleets: [RunningProgram] = []
  private let readers = DispatchGroup()
  private let folder: String
  /// Where the processes read at which step they stop.
  private let stopFile: String

  init(_ folder: String, _ arguments: [String] = [], environment: [String: String] = [:]) throws {
    self.folder = folder
    stopFile = folder + "/stop"
    data = folder + "/data"
    self.arguments = arguments + ["--device", "127.0.0.1:0", "--push-calls", "1000000"]
    server = try TestServer(
      data: data, self.arguments, environment: environment.merging(["UPGRADE_STOP": stopFile]) { $1 })
    process = server.program.processID
    app = try server.makeApp()
  }

  deinit {
    for fleet in fleets { fleet.signal(SIGKILL) }
    readers.wait()
    if process != server.program.processID { Glibc.kill(process, SIGKILL) }
  }

  var tls: String { server.ready["device"]?.string ?? "" }
  var now: Seen { watch.seen.withLock { $0 } }

  // MARK: Devices

  /// Starts devices of the program's own and waits until they are there.
  func start(_ name: String, count: Int, at address: String, _ arguments: [String]) throws {
    let fleet = try RunningProgram(
      [
        "device", "--server", address, "--app-key", app.key, "--state", folder + "/" + name, "--count",
        String(count),
      ] + arguments)
    fleets.append(fleet)
    DispatchQueue.global().async(group: readers) { [watch] in
      while let line = try? fleet.document() { Self.note(line, of: name, in: watch) }
    }
    let isThere = RunningProgram.eventually {
      watch.seen.withLock { seen in seen.logins.keys.count { $0.fleet == name } } == count
    }
    #expect(isThere, "\(fleet.errors)")
  }

  private static func note(_ line: JSONValue, of fleet: String, in watch: Watch) {
    let seat = Seat(fleet: fleet, number: line["device"]?.int64.flatMap { Int(exactly: $0) } ?? 0)
    watch.seen.withLock { seen in
      switch line["event"]?.string {
      case "logged_in":
        seen.logins[seat, default: 0] += 1
        seen.names[seat] = line["registration_id"]?.string
      case "push":
        seen.shown[Arrival(id: line["msg_id"]?.string ?? "", seat: seat), default: 0] += 1
      // A crowd that connects at once may take longer than a login may.
      case "disconnected" where seen.logins[seat] != nil: seen.ends.append("\(seat): \(line)")
      default: break
      }
    }
  }

  // MARK: Processes

  /// Has another process take the server's place.
  func upgrade(_ arguments: [String] = []) throws -> Ending {
    try end(of: startUpgrade(arguments))
  }

  /// Begins to have another process take the server's place.
  func startUpgrade(_ arguments: [String] = []) throws -> RunningProgram {
    try RunningProgram(["upgrade", "--data", data, "--unsupervised"] + arguments)
  }

  /// Begins an upgrade whose new process, in a build for tests, has stopped before anything has changed for
  /// anybody.
  func prepareUpgrade() throws -> (command: RunningProgram, new: Int32?) {
    #if DEBUG
      let (command, new) = try upgrade(stoppingAt: "new-prepared")
      return (command, new)
    #else
      return (try startUpgrade(), nil)
    #endif
  }

  /// Has that go on to its end.
  func goOn(with upgrade: (command: RunningProgram, new: Int32?)) throws -> Ending {
    if let new = upgrade.new { kill(new, SIGCONT) }
    return try end(of: upgrade.command)
  }

  /// Waits for the end of that; the process that serves by then has to say so.
  func end(of command: RunningProgram) throws -> Ending {
    let ending = try command.end()
    if ending.status == 0, let line = ending.documents.first ?? nil, line["upgraded"] == true {
      let next = try server.program.document()
      process = Int32(clamping: next["pid"]?.int64 ?? 0)
      #expect(line["pid"]?.int64 == Int64(process) && next["http"] == server.ready["http"])
    }
    return ending
  }

  // MARK: Steps

  /// Names the step at which a process stops next; none if nil.
  func stop(at step: String?) throws {
    // In one piece: it is read at any moment.
    try TemporaryFolder.write(step ?? "", to: stopFile + ".new")
    rename(stopFile + ".new", stopFile)
  }

  /// Begins an upgrade and waits until a process has stopped at a step. Gives the new process.
  func upgrade(stoppingAt step: String) throws -> (command: RunningProgram, new: Int32) {
    try stop(at: step)
    let command = try startUpgrade()
    let new = try waitForStop(at: step)
    return (command, new)
  }

  /// Waits until a process has stopped at a step, and lets none stop there again. Gives the new process.
  @discardableResult
  func waitForStop(at step: String) throws -> Int32 {
    var new: Int32?
    let hasStopped = RunningProgram.eventually {
      new = child(of: process) ?? new
      return (step.hasPrefix("new-") ? new : process).map { state(of: $0) == "T" } ?? false
    }
    try stop(at: nil)
    #expect(hasStopped, "\(step): \(server.program.errors.suffix(2000))")
    return try #require(new)
  }

  /// The new process serves by now, though nobody tells: the old one was killed.
  func follow(_ new: Int32) {
    let isThere = RunningProgram.eventually {
      while let next = nextReadyLine() { process = next }
      return process == new && isAnyoneThere
    }
    #expect(isThere)
  }

  /// Kills the new process and waits until none of its threads is left, and so no socket of it: as long as
  /// one is, the server may send it what it does not read.
  func killAndWait(_ new: Int32) {
    kill(new, SIGKILL)
    let isGone = RunningProgram.eventually {
      threads(of: new).count < 2 && !isAlive(new)
    }
    #expect(isGone)
  }

  /// The letter of proc(5) for what a process does.
  private func state(of process: Int32) -> Substring? {
    TemporaryFolder.read("/proc/\(process)/stat").split(separator: ")").last?.split(separator: " ").first
  }

  /// Devices are there as in the beginning.
  func expectNoReconnect(_ comment: String) {
    let seen = now
    #expect(
      seen.logins.values.allSatisfy { $0 == 1 } && seen.ends.isEmpty, "\(comment): \(seen.ends.prefix(3))")
  }

  /// Has another process take the server's place, while one of both is killed at some moment. Whatever is
  /// left serves, or else what a service manager starts.
  func upgradeKilling(_ killsNew: Bool) throws {
    let command = try startUpgrade()
    // The moment of the kill is what is random here; nothing waits for this.
    usleep(.random(in: 0...1_500_000))
    let (old, new) = (process, child(of: process))
    if let victim = killsNew ? new : old { Glibc.kill(victim, SIGKILL) }
    _ = try command.end()
    let isDecided = RunningProgram.eventually {
      while let next = nextReadyLine() { process = next }
      return isAnyoneThere || ![old, new ?? old, process].contains(where: isAlive)
    }
    #expect(isDecided)
    while let next = nextReadyLine() { process = next }
    guard !isAnyoneThere else { return }
    let same = arguments.replacing(["--device", "127.0.0.1:0"], with: ["--device", tls])
    server = try TestServer(data: data, same, http: server.http, device: server.device)
    process = server.program.processID
  }

  private var isAnyoneThere: Bool { (try? server.call("GET", "/readyz"))?.status == 200 }

  private func nextReadyLine() -> Int32? {
    guard server.program.hasLine(), let line = try? server.program.document() else { return nil }
    return line["pid"]?.int64.map { Int32(clamping: $0) }
  }

  /// The process that one has started.
  func child(of parent: Int32) -> Int32? {
    let text = TemporaryFolder.read("/proc/\(parent)/task/\(parent)/children")
    let all = threads(of: parent).map { TemporaryFolder.read("/proc/\(parent)/task/\($0)/children") }
    return ([text] + all).lazy.flatMap { $0.split(separator: " ") }.compactMap { Int32($0) }.first
  }

  private func threads(of process: Int32) -> [String] {
    guard let folder = opendir("/proc/\(process)/task") else { return [] }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder) {
      names.append(
        withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) })
    }
    return names.filter { Int($0) != nil }
  }

  /// Whether a process has not ended, also if nobody has asked for its status.
  func isAlive(_ process: Int32) -> Bool { state(of: process).map { $0 != "Z" } ?? false }

  /// Stops what serves in an orderly way.
  func stop() throws {
    Glibc.kill(process, SIGTERM)
    let isGone = RunningProgram.eventually { !isAnyoneThere }
    #expect(isGone)
    #expect(try RunningProgram.run(["check", "--data", data]).status == 0)
  }

  // MARK: App servers

  /// Threads that push as fast as they are answered, until they are told to end. One whose connection ends
  /// makes another one.
  final class Load: Sendable {
    private let accepted = Mutex<[Accepted]>([])
    private let faults = Mutex<[String]>([])
    private let isOver = Atomic<Bool>(false)
    private let done = DispatchGroup()

    init(_ world: UpgradeWorld, pushers: Int) {
      let (names, address, app) = (world.now.names, world.server.http, world.app)
      for _ in 0..<pushers {
        DispatchQueue.global().async(group: done) { [self] in run(names, address, app) }
      }
    }

    /// What was accepted, and what else was answered.
    func finish() -> (accepted: [Accepted], faults: [String]) {
      isOver.store(true, ordering: .relaxed)
      done.wait()
      return (accepted.withLock { $0 }, faults.withLock { $0 })
    }

    private func run(_ names: [Seat: String], _ address: String, _ app: TestServer.App) {
      let all = Array(names)
      while !isOver.load(ordering: .relaxed) {
        let (seat, name) = all[Int.random(in: 0..<all.count)]
        let isForAll = Int.random(in: 0..<20) == 0
        let audience: JSONValue = isForAll ? "all" : ["registration_id": [.string(name)]]
        let body: JSONValue = [
          "platform": "all", "audience": audience, "message": ["msg_content": "load"],
        ]
        do {
          let answer = try HTTPCall(
            "POST", "/v3/push", at: address, login: app,
            body: String(decoding: JSONWriter.serialize(body), as: UTF8.self))
          guard answer.status == 200, let id = answer.document?["msg_id"]?.string else {
            faults.withLock { $0.append("\(answer.status) \(answer.body)") }
            continue
          }
          accepted.withLock { $0.append(Accepted(id: id, targets: isForAll ? all.map(\.key) : [seat])) }
        } catch {
          faults.withLock { $0.append("\(error)") }
          usleep(20_000)
        }
      }
    }
  }

  /// Sends a push to all devices; gives its ID.
  func pushToAll(_ text: String) throws -> String {
    let body: JSONValue = [
      "platform": "all", "audience": "all", "message": ["msg_content": .string(text)],
    ]
    let answer = try server.call("POST", "/v3/push", as: app, body: body)
    return try #require(answer.document?["msg_id"]?.string, "\(answer.status) \(answer.body)")
  }

  /// Waits until all that was accepted is there; each once.
  func expectAll(_ accepted: [Accepted]) {
    let wanted = accepted.flatMap { push in push.targets.map { Arrival(id: push.id, seat: $0) } }
    _ = RunningProgram.eventually {
      watch.seen.withLock { seen in wanted.allSatisfy { seen.shown[$0] != nil } }
    }
    let shown = now.shown
    let lost = wanted.filter { shown[$0] == nil }
    #expect(lost.isEmpty, "\(lost.count) of \(wanted.count) were lost: \(lost.prefix(3))")
    #expect(shown.filter { $0.value > 1 }.isEmpty)
  }
}

extension [String] {
  fileprivate func replacing(_ words: [String], with others: [String]) -> [String] {
    firstRange(of: words).map { self[..<$0.lowerBound] + others + self[$0.upperBound...] } ?? self
  }
}
