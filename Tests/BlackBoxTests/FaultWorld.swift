import BorealisBase
import Glibc
import PushTesting
import Testing

/// Three nodes, some devices at each, and pushes of all kinds to all of them; and what has to be true
/// whatever fails meanwhile.
final class FaultWorld {
  static let names = ["a", "b", "c"]

  let cluster: ClusterWorld
  let addresses = NodeAddresses()
  private(set) var devices: [FleetDevice] = []
  private(set) var apps: [TestServer.App] = []
  let traffic: FaultTraffic
  private let arguments: [String]

  /// Whether each app has a home of its own: the first one "a", the second one "b".
  private let isDivided: Bool

  /// `prepare` may put proxies in between before the nodes start.
  init(
    devices count: Int = 24, hasStandby: Bool = false, pause: UInt32 = 60_000, arguments: [String] = [],
    isDivided: Bool = false, _ prepare: (ClusterWorld) throws -> Void = { _ in }
  ) throws {
    self.isDivided = isDivided
    self.arguments = ["--time-zone", "UTC"] + arguments + (isDivided ? ["--spread-apps"] : [])
    cluster = try ClusterWorld(hasStandby: hasStandby)
    try prepare(cluster)
    for name in Self.names { try cluster.start(name, self.arguments) }
    for name in Self.names { addresses[name] = try Self.place(cluster.node(name)) }
    // A node that is not a home yet, or that is not reached yet, would not be given an app.
    if isDivided { try cluster.waitForApps(at: ["a": 0, "b": 0, "c": 0]) }
    for name in ["one", "two"] { apps.append(try cluster.makeApp(name)) }
    let home = try cluster.node("a")
    if isDivided { try cluster.waitForApps(at: ["a": 1, "b": 1, "c": 0]) }
    for index in 0..<count {
      let app = index % 4 == 3 ? 1 : 0
      let identity = try TestDevice.register(home.device, app: apps[app].key, install: "\(index)")
      let tag = FaultTraffic.tags[index % FaultTraffic.tags.count]
      let answer = try home.call(
        "POST", "/v3/devices/\(identity.id.text)", as: apps[app], body: ["tags": ["add": [.string(tag)]]])
      #expect(answer.status == 200, "\(answer.body)")
      devices.append(
        try FleetDevice(index, app: app, key: apps[app].key, identity, nodes: Self.names, addresses))
    }
    traffic = try FaultTraffic(
      apps, devices: devices.map { ($0.identity.id.text, $0.app) }, nodes: Self.names, addresses, pause: pause
    )
    try wait("the devices are connected") { devices.allSatisfy { $0.now.node != nil } }
    try waitForPushes(30)
  }

  deinit {
    for device in devices { device.end() }
    _ = traffic.finish()
    for name in cluster.nodes.keys { _ = try? cluster.end(name) }
  }

  private static func place(_ server: TestServer) -> NodeAddresses.Place {
    .init(http: server.http, device: server.device)
  }

  // MARK: What is waited for

  func wait(_ what: String, _ holds: () throws -> Bool) throws {
    guard try RunningProgram.eventually(holds) else {
      throw RunningProgram.Failure(description: "in vain: \(what)")
    }
  }

  /// Waits until so many more pushes are accepted.
  func waitForPushes(_ count: Int) throws {
    let before = traffic.accepted
    try wait("\(count) pushes") { traffic.accepted >= before + count }
  }

  /// Waits until a node has said something for the so many-th time.
  func wait(for text: String, at name: String, times: Int = 1) throws {
    let program = try cluster.node(name).program
    try wait("\(name): \(text)") {
      program.errors.split(separator: "\n").count { $0.contains(text) } >= times
    }
  }

  /// Waits until one of the others takes a node for dead.
  func waitUntilDead(_ name: String, for others: [String]) throws {
    try wait("\(name) is taken for dead") {
      try others.contains { other in
        try cluster.node(other).program.errors.split(separator: "\n").contains {
          $0.contains("considered dead") && $0.contains("node=\(name)")
        }
      }
    }
  }

  // MARK: What happens to nodes

  func kill(_ names: [String]) throws {
    for name in names { addresses[name] = nil }
    for name in names { try cluster.node(name).program.signal(SIGKILL) }
    for name in names { try cluster.end(name) }
  }

  /// Ends a node in an orderly way, as behind a load balancer that sends it nothing new.
  func stop(_ name: String) throws -> Ending {
    addresses[name] = nil
    return try cluster.end(name, SIGTERM)
  }

  /// Starts a node, with more settings than before.
  func start(_ name: String, _ more: [String] = []) throws {
    addresses[name] = Self.place(try cluster.start(name, arguments + more))
  }

  /// A node has ended by itself, and its supervisor starts it again.
  func restart(_ name: String) throws -> Ending {
    let ending = try cluster.waitForEnd(name)
    try start(name)
    return ending
  }

  // MARK: What is true in the end

  /// Ends the pushes and looks what became of them. `stayed` are nodes whose connections must not have ended.
  func check(stayed: [String] = []) throws {
    let (sent, problems) = traffic.finish()
    var missing: [String] = []
    func look() -> Bool {
      let seen = devices.map(\.now)
      missing = []
      for push in sent where push.outcome == .accepted && !push.isWithdrawn && push.kind != .online {
        for target in push.targets where seen[target].shown[push.text] == nil {
          missing.append("\(push.text) (\(push.kind), \(push.id ?? "")) at \(target)")
        }
      }
      return missing.isEmpty && seen.allSatisfy { $0.node != nil }
    }
    _ = RunningProgram.eventually(look)
    #expect(missing.count == 0, "lost: \(missing.prefix(20)), \(missing.count) in all")
    var faults = problems
    for (index, seen) in devices.map(\.now).enumerated() {
      faults += seen.faults
      if seen.node == nil { faults.append("\(index) is not connected") }
      for node in seen.lost where stayed.contains(node) { faults.append("\(index) has lost \(node)") }
      for (text, times) in seen.shown where times.count > 1 {
        faults.append("\(text) was shown \(times.count) times")
      }
    }
    for (name, node) in cluster.nodes where node.program.errors.contains("do not add up") {
      faults.append("\(name) has found sets of targets that overlap")
    }
    for push in sent {
      for device in devices {
        guard let shown = device.now.shown[push.text]?.first else { continue }
        if !push.targets.contains(device.index) {
          faults.append("\(push.text) came to \(device.index), no target")
        }
        if push.outcome == .refused { faults.append("\(push.text) was refused, and came") }
        if let recalled = push.recalledAt, shown > recalled, !device.now.recalled.contains(push.id ?? "") {
          faults.append("\(push.text) was shown after its recall")
        }
      }
    }
    #expect(faults.count == 0, "\(faults.prefix(8)), \(faults.count) in all")
    try checkReports(sent)
    let check = try RunningProgram.run(
      ["check", "--data", cluster.folder.path + "/commands"], environment: cluster.environment)
    #expect(check.status == 0, "\(check.output) \(check.errors)")
    let kinds = Dictionary(grouping: sent.filter { $0.outcome == .accepted }, by: \.kind)
    for kind in FaultTraffic.Kind.allCases {
      #expect(kinds[kind]?.isEmpty == false, "no push of kind \(kind)")
    }
  }

  /// Every target is in one state, and nobody is left waiting.
  private func checkReports(_ sent: [FaultTraffic.Sent]) throws {
    let any = isDivided ? cluster.nodes.keys.min() : nil
    let home = try cluster.node(any ?? cluster.home())
    var unbalanced: [String] = []
    for push in sent where push.id != nil {
      func number(_ report: JSONValue?, _ name: String) -> Int64 { report?[name]?.int64 ?? -1 }
      var report: JSONValue?
      let isSettled = try RunningProgram.eventually {
        report = try home.call("GET", "/v1/pushes/\(push.id ?? "")", as: apps[push.app]).document
        return number(report, "pending") == 0
      }
      let sum = ["delivered", "expired", "recalled", "failed", "pending"].reduce(0) {
        $0 + number(report, $1)
      }
      let hasAll = push.isWithdrawn || push.kind == .online || number(report, "delivered") == sum
      if !isSettled || number(report, "targets") != sum || Int(sum) != push.targets.count || !hasAll {
        unbalanced.append("\(push.text) (\(push.kind)): \(report.map { "\($0)" } ?? "none")")
      }
    }
    #expect(unbalanced.count == 0, "\(unbalanced.prefix(10)), \(unbalanced.count) in all")
  }
}
