import BorealisBase
import Glibc
import PushTesting
import Synchronization

/// Pushes of all kinds to all nodes, by a thread for each node, and what they were answered with.
final class FaultTraffic: Sendable {
  enum Kind: Sendable, CaseIterable {
    case single, tag, broadcast, online, repeated, replacing, recalled, scheduled
  }

  enum Outcome: Sendable {
    case accepted
    /// It was said that it was not carried out.
    case refused
    case unknown
  }

  struct Sent: Sendable {
    let text: String
    let kind: Kind
    let app: Int
    /// Indexes of devices.
    let targets: Set<Int>
    var id: String?
    var outcome = Outcome.unknown
    /// Whether it was to be recalled, or replaced.
    var isWithdrawn = false
    /// When all nodes had confirmed that it was recalled.
    var recalledAt: UInt64?
  }

  private struct State: Sendable {
    var sent: [String: Sent] = [:]
    var accepted = 0
    /// Calls that were not answered with 200, and those that were with what nothing may be answered with
    /// here.
    var failures: [String] = []
    var problems: [String] = []
    var isOver = false
    var running = 0
  }

  /// Tags that each third device of an app has.
  static let tags = ["t0", "t1", "t2"]

  private let apps: [TestServer.App]
  private let devices: [(id: String, app: Int)]
  private let addresses: NodeAddresses
  private let state = Mutex(State())
  private let ended = Semaphore()
  /// Microseconds between two calls of a thread.
  private let pause: UInt32

  init(
    _ apps: [TestServer.App], devices: [(id: String, app: Int)], nodes: [String], _ addresses: NodeAddresses,
    pause: UInt32 = 60_000
  ) throws {
    (self.apps, self.devices, self.addresses, self.pause) = (apps, devices, addresses, pause)
    state.withLock { $0.running = nodes.count }
    for node in nodes {
      try SystemThread.start("traffic") { [self] in
        run(node)
        ended.signal()
      }
    }
  }

  /// How many calls were answered with 200.
  var accepted: Int { state.withLock { $0.accepted } }

  /// Calls that were not answered with 200.
  var failures: [String] { state.withLock { $0.failures } }

  /// Ends it, and gives all that was sent.
  func finish() -> (sent: [Sent], problems: [String]) {
    state.withLock { $0.isOver = true }
    let running = state.withLock { state in
      defer { state.running = 0 }
      return state.running
    }
    for _ in 0..<running { ended.wait() }
    return state.withLock { (Array($0.sent.values), $0.problems) }
  }

  private var isOver: Bool { state.withLock { $0.isOver } }

  private func run(_ node: String) {
    var number = 0
    var last: Sent?
    while !isOver {
      usleep(pause)
      guard addresses[node] != nil else { continue }
      number += 1
      let kind: Kind =
        number % 40 == 5
        ? .scheduled
        : [.single, .tag, .broadcast, .single, .online, .recalled, .single, .replacing, .tag, .repeated][
          number % 10]
      last = push("\(node)-\(number)", kind, app: number % 4 == 3 ? 1 : 0, at: node, after: last)
    }
  }

  /// Sends one, and gives it if another one may replace it.
  private func push(_ text: String, _ kind: Kind, app: Int, at node: String, after last: Sent?) -> Sent? {
    let own = devices.indices.filter { devices[$0].app == app }
    var (kind, app, targets) = (kind, app, Set(own))
    var audience: JSONValue = "all"
    var options: JSONObject = JSONObject()
    options.set("time_to_live", .number(JSONNumber(kind == .online ? Int64(0) : 600)))
    if kind == .replacing, last == nil { kind = .single }
    switch kind {
    case .tag:
      let tag = Int.random(in: 0..<Self.tags.count)
      targets = Set(own.filter { $0 % Self.tags.count == tag })
      audience = ["tag": [.string(Self.tags[tag])]]
    case .single, .recalled, .repeated:
      let target = own[Int.random(in: 0..<own.count)]
      targets = [target]
      audience = ["registration_id": [.string(devices[target].id)]]
    case .replacing:
      guard let last, let id = last.id, let number = Int64(id) else { return nil }
      (app, targets) = (last.app, last.targets)
      audience = ["registration_id": .array(last.targets.map { .string(devices[$0].id) })]
      options.set("override_msg_id", .number(JSONNumber(number)))
      change(last.text) { $0.isWithdrawn = true }
    case .broadcast, .online, .scheduled: break
    }
    var body = JSONObject()
    body.set("platform", "all")
    body.set("audience", audience)
    body.set("message", ["msg_content": .string(text)])
    body.set("options", .object(options))
    if kind == .repeated { body.set("cid", .string("\(apps[app].key)-\(SystemRandom.next())")) }
    var sent = Sent(text: text, kind: kind, app: app, targets: targets)
    state.withLock { $0.sent[text] = sent }
    if kind == .scheduled {
      schedule(.object(body), text, app, node)
      return nil
    }
    repeat {
      let answer = call("POST", "/v3/push", app, node, .object(body))
      (sent.outcome, sent.id) = (Self.outcome(answer), answer?.document?["msg_id"]?.string)
      if sent.outcome != .accepted, kind == .repeated { usleep(200_000) }
    } while kind == .repeated && sent.outcome != .accepted && !isOver
    // What was repeated may have been carried out before.
    if kind == .repeated, sent.outcome == .refused { sent.outcome = .unknown }
    change(text) { [sent] in ($0.outcome, $0.id) = (sent.outcome, sent.id) }
    guard sent.outcome == .accepted, let id = sent.id else { return nil }
    if kind == .recalled { recall(id, text, app, node) }
    return kind == .single ? sent : nil
  }

  private func recall(_ id: String, _ text: String, _ app: Int, _ node: String) {
    change(text) { $0.isWithdrawn = true }
    let answer = call("DELETE", "/v3/push/\(id)", app, node, nil)
    guard answer?.status == 200, answer?.document?["unconfirmed_nodes"] == nil else { return }
    let now = SystemTime().monotonic()
    change(text) { $0.recalledAt = now }
  }

  private func schedule(_ push: JSONValue, _ text: String, _ app: Int, _ node: String) {
    // A call may wait five seconds for a home, and the time has no fractions.
    let due = SystemTime().now().adding(seconds: 8)
    let time = FixedZone(secondsEast: 0).local(due).text
    // A node that stands still for longer reads the call too late.
    let answer = call(
      "POST", "/v3/schedules", app, node,
      [
        "name": .string(text.replacing("-", with: "_")), "enabled": true,
        "trigger": ["single": ["time": .string(time)]], "push": push,
      ]
    ) { $0.body.contains("must be in the future") && SystemTime().now().adding(seconds: 1) > due }
    change(text) { $0.outcome = Self.outcome(answer) }
  }

  private func change(_ text: String, _ body: (inout Sent) -> Void) {
    state.withLock { state in
      guard var sent = state.sent[text] else { return }
      body(&sent)
      if sent.outcome == .accepted, state.sent[text]?.outcome != .accepted { state.accepted += 1 }
      state.sent[text] = sent
    }
  }

  /// Nil if there is no answer. What a node refuses is a fault, but for what `mayRefuse` says.
  private func call(
    _ method: String, _ path: String, _ app: Int, _ node: String, _ body: JSONValue?,
    mayRefuse: (HTTPCall) -> Bool = { _ in false }
  ) -> HTTPCall? {
    guard let address = addresses[node]?.http else { return nil }
    let text = body.map { String(decoding: JSONWriter.serialize($0), as: UTF8.self) } ?? ""
    let answer = try? HTTPCall(
      method, path, at: address, login: apps[app], headers: ["X-Borealis-Extensions: 1"], body: text)
    guard answer?.status != 200 else { return answer }
    let failure = "\(method) \(path) at \(node): " + (answer.map { "\($0.status) \($0.body)" } ?? "no answer")
    state.withLock { state in
      state.failures.append(failure)
      if let answer, answer.status != 503, !mayRefuse(answer) { state.problems.append(failure) }
    }
    return answer
  }

  private static func outcome(_ answer: HTTPCall?) -> Outcome {
    guard let answer else { return .unknown }
    if answer.status == 200 { return .accepted }
    return answer.status == 503 && !answer.body.contains("may have been carried out") ? .refused : .unknown
  }
}
