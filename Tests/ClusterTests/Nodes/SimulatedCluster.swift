import BorealisBase
import BorealisCrypto
import Core
import Model
import PushTesting
import Storage
import Synchronization

@testable import Cluster

/// Three nodes with real routers on a real store, one of which leads; devices; and a bus that loses, repeats,
/// delays and reorders. Time is simulated.
class SimulatedCluster {
  struct Failed: Error, CustomStringConvertible {
    let description: String
  }

  final class Node {
    let incarnation: Incarnation
    let gateway: ScriptedGateway
    let link: NodeLink
    var router: Router?
    /// Of one of several homes.
    var own: OwnStore?

    init(_ incarnation: Incarnation, _ gateway: ScriptedGateway, _ link: NodeLink) {
      self.incarnation = incarnation
      self.gateway = gateway
      self.link = link
    }
  }

  /// The database as one of several homes has it.
  struct OwnStore {
    let store: Store
    let apps: AssignedApps
  }

  struct Sent {
    let id: MessageID
    let app: Int
    let targets: Set<RegistrationNumber>
    var isRecalled = false
    var isPaced = false
  }

  let clock = ManualClock()
  let network: SimulatedNetwork
  let database: TestDatabase
  var nodes: [Node] = []
  private(set) var devices: [SimulatedDevice] = []
  private(set) var keys: [AppKey] = []
  private(set) var sent: [Sent] = []
  var violations: [String] = []
  /// Nodes that stand still: what comes for them waits.
  var frozen: Set<Incarnation> = []
  var random: SeededRandom
  private var incarnations: UInt64 = 0
  private var epoch: UInt64 = 0
  private var seconds: UInt64 = 0

  init(seed: UInt64) throws {
    random = SeededRandom(seed: seed)
    network = SimulatedNetwork(seed: seed ^ 0xABCD)
    database = try TestDatabase()
  }

  func start(apps: Int = 2, devicesPerApp: Int = 6) async throws {
    for _ in 0..<3 { nodes.append(try makeNode()) }
    try await lead(0, makingApps: apps, devicesPerApp: devicesPerApp)
  }

  /// Whether each app has a home of its own.
  var isDivided: Bool { false }

  func makeNode() throws -> Node {
    incarnations += 1
    let incarnation = Incarnation(incarnations)
    let gateway = ScriptedGateway("\(incarnations)", time: clock)
    guard let name = ClusterName("test") else { throw Failed(description: "no name") }
    let identity = NodeIdentity(
      cluster: name, incarnation: incarnation, name: "n\(incarnations)", address: "h:1", program: "1")
    let network = network
    let link = try NodeLink(
      identity, gateway: gateway.mail, loops: 1, time: clock, hasThread: false,
      connect: { incarnation, wake in network.bus(of: incarnation, wake: wake) })
    gateway.home = link.home(ofLoop: 0)
    return Node(incarnation, gateway, link)
  }

  var leader: Node? { nodes.first { $0.router != nil } }

  /// The home of an app.
  func home(of key: AppKey) -> Router? { leader?.router }

  /// A node loads the store and is the home.
  func lead(_ index: Int, makingApps apps: Int = 0, devicesPerApp: Int = 0) async throws {
    let router = Router(store: database.store, scope: .all, time: clock, log: .silent)
    try router.load()
    for _ in 0..<apps {
      let app = try await router.makeApp(in: database.store)
      try await addDevices(devicesPerApp, of: app, router)
    }
    epoch += 1
    nodes[index].router = router
    nodes[index].link.lead(router, epoch: Epoch(epoch))
    for node in nodes where node !== nodes[index] {
      // Some hear of it only from the bus.
      if Bool.random(using: &random) { node.link.follow(nodes[index].incarnation, epoch: Epoch(epoch)) }
    }
  }

  /// Registers devices of an app.
  func addDevices(_ count: Int, of app: App, _ router: Router) async throws {
    keys.append(app.key)
    for _ in 0..<count {
      let (id, secret, number) = try await router.newDevice(in: app, fingerprint: SystemRandom.bytes(16))
      devices.append(
        SimulatedDevice(
          app: app.id, key: app.key, id: id, secretHash: SHA256.digest128(secret), number: number))
    }
  }

  /// The home dies, or drains and lives on as a gateway; another node leads.
  func changeHome(killing: Bool, to next: Int? = nil) async throws {
    guard let index = nodes.firstIndex(where: { $0.router != nil }) else { return }
    let old = nodes[index]
    if killing {
      try replace(index)
    } else {
      old.link.follow(nil, epoch: Epoch(epoch))
      old.router?.finish()
    }
    old.router?.unplug()
    old.router = nil
    try await barrier()
    try await lead(next ?? (index + Int.random(in: 1...2, using: &random)) % 3)
  }

  /// A node dies and starts again under a new registration.
  func replace(_ index: Int) throws {
    let old = nodes[index]
    old.link.close()
    violations += old.gateway.violations
    for device in devices where device.gateway === old.gateway { device.gateway = nil }
    nodes[index] = try makeNode()
    for node in nodes { node.link.forget(old.incarnation) }
    if let leader, leader !== nodes[index] {
      nodes[index].link.follow(leader.incarnation, epoch: Epoch(epoch))
    }
  }

  // MARK: Time

  /// Waits until the store has done what was asked of it.
  func barrier() async throws {
    _ = try await database.store.look { _ throws(StorageError) in 0 }
    _ = try await database.store.change { _ throws(StorageError) in 0 }
  }

  /// Lets time go by in steps.
  func run(milliseconds: Int, step: Int = 10) async throws {
    for _ in 0..<max(1, milliseconds / step) {
      clock.advance(milliseconds: step)
      network.advance(to: clock.monotonic())
      for node in nodes where !frozen.contains(node.incarnation) {
        _ = node.link.turn()
        node.gateway.handleMail()
        _ = node.link.turn()
      }
      let second = clock.monotonic() / 1_000_000_000
      if second != seconds {
        seconds = second
        try await barrier()
        try await beginSecond()
        for node in nodes where !frozen.contains(node.incarnation) {
          node.gateway.tick()
          node.router?.tick()
        }
        try await barrier()
      }
    }
  }

  /// Lets time go by until something holds, at most this long. Before each look, the store has done what was
  /// asked of it.
  func run(atMost milliseconds: Int, until holds: () async throws -> Bool) async throws {
    for _ in 0..<milliseconds / 100 {
      try await run(milliseconds: 100)
      try await barrier()
      if try await holds() { return }
    }
  }

  /// What happens once a second: nodes look into the database.
  func beginSecond() async throws {
    for node in nodes {
      node.link.confirm((leader === node ? nil : leader?.incarnation, Epoch(epoch)))
    }
  }

  /// Somebody who is no node says to one that he is the home, since an epoch.
  func pretend(to node: Node, _ app: AppID, _ epoch: Epoch) throws {
    incarnations += 1
    let forger = Incarnation(incarnations)
    let message = ClusterMessage.home(HomeNotice(incarnation: forger))
    let head = FrameHead(type: message.type, from: forger, to: node.incarnation, sequence: 1)
    guard let name = ClusterName("test"),
      let frame = ClusterFrame.encode(head, [ClusterEntry(app: app, epoch: epoch, message)], cluster: name)
    else { throw Failed(description: "no frame") }
    network.bus(of: forger).publish(frame, to: .node(node.incarnation))
  }

  // MARK: Acts

  /// Something happens.
  func act() async throws {
    let device = devices[Int.random(in: 0..<devices.count, using: &random)]
    let node = nodes[Int.random(in: 0..<nodes.count, using: &random)]
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<15: node.gateway.connect(device, noticing: Bool.random(using: &random))
    case 15..<22: device.gateway?.disconnect(device.slot)
    case 22..<50: node.gateway.acknowledge(atMost: Int.random(in: 1...5, using: &random))
    case 50..<60: node.gateway.setAlias("a\(Int.random(in: 0..<1000, using: &random))", of: device)
    case 60..<65: try await recall()
    default: try await push()
    }
  }

  func push(timeToLive: Int = 86_400, mayPace: Bool = true) async throws {
    let index = Int.random(in: 0..<keys.count, using: &random)
    guard let router = home(of: keys[index]), let app = router.apps.loaded(keys[index]) else { return }
    let own = devices.filter { $0.key == keys[index] }
    let chosen =
      Bool.random(using: &random)
      ? own : Array(own.shuffled(using: &random).prefix(Int.random(in: 1...3, using: &random)))
    let audience: Audience =
      chosen.count == own.count ? .all : .filter(AudienceFilter(registrationIDs: chosen.map(\.id.text)))
    let content = PushContent(variants: [
      ContentVariant(platforms: .all, message: Array(#"{"msg_content":"\#(sent.count)"}"#.utf8))
    ])
    let request = PushRequest(
      platforms: .all, audience: audience, content: content,
      options: PushOptions(
        timeToLive: timeToLive,
        bigPushDuration: mayPace && audience == .all && Int.random(in: 0..<4, using: &random) == 0 ? 1 : 0))
    let accepted = try await router.acceptance.accept(AcceptRequest(request), for: app).get()
    note("push \(accepted.id.rawValue) to \(chosen.map(\.number.rawValue))", of: app.id)
    sent.append(
      Sent(
        id: accepted.id, app: index, targets: Set(chosen.map(\.number)),
        isPaced: request.options.bigPushDuration > 0))
  }

  /// Notes what happened to an app with its devices.
  func note(_ text: String, of app: AppID) {
    for device in devices where device.app == app { device.note(text, clock) }
  }

  func recall() async throws {
    guard !sent.isEmpty else { return }
    let index = Int.random(in: 0..<sent.count, using: &random)
    guard !sent[index].isRecalled, let router = home(of: keys[sent[index].app]),
      let app = router.apps.loaded(keys[sent[index].app])
    else { return }
    let id = sent[index].id
    sent[index].isRecalled = true
    router.deliveries.recall(id, in: app) { [answers] in answers.add($0) }
    // Stored; it is answered later.
    try await barrier()
  }

  /// What recalls were answered with.
  let answers = RecallAnswers()

  final class RecallAnswers: Sendable {
    private let answers = Mutex<[Result<Recalled, APIError>]>([])

    func add(_ answer: Result<Recalled, APIError>) { answers.withLock { $0.append(answer) } }

    /// The answers so far: how many nodes have not confirmed.
    var unconfirmed: [Int?] { answers.withLock { $0.map { try? $0.get().unconfirmed } } }
  }

  // MARK: The end

  /// All devices come, and time goes by until everything has arrived; what is wrong then.
  func settle(seconds: Int = 100) async throws -> [String] {
    for _ in 0..<seconds {
      for device in devices where device.gateway == nil || device.gateway?.isConnected(device.slot) != true {
        let isWaiting = device.gateway?.isWaiting(device.slot) ?? false
        if !isWaiting {
          nodes[Int.random(in: 0..<nodes.count, using: &random)].gateway.connect(device, noticing: true)
        }
      }
      try await run(milliseconds: 1000, step: 20)
      for node in nodes { node.gateway.acknowledge() }
      if problems().isEmpty { break }
    }
    return problems()
  }

  func problems() -> [String] {
    var found = violations + nodes.flatMap(\.gateway.violations)
    for push in sent {
      for device in devices where device.key == keys[push.app] {
        let count = device.shown.filter { $0 == push.id }.count
        if count > 0, !push.targets.contains(device.number) { found.append("\(push.id) to a non-target") }
        if count > 1 { found.append("\(push.id) shown twice") }
        if count == 0, push.targets.contains(device.number), !push.isRecalled {
          let at = nodes.firstIndex { $0.gateway === device.gateway } ?? -1
          let how = device.gateway?.description(of: device.slot) ?? ""
          let history = device.history.suffix(80).joined(separator: "\n")
          found.append(
            "\(push.id)\(push.isPaced ? ", paced," : "") did not reach \(device.number) at \(at): \(how)\n\(history)"
          )
        }
      }
    }
    for device in devices {
      guard let app = home(of: device.key)?.apps.loaded(device.key) else {
        found.append("nobody leads")
        continue
      }
      if device.isBanished { found.append("\(device.number) is banished") }
      let waiting = app.directory.pendingCount(for: device.number)
      if waiting > 0 { found.append("\(waiting) pushes wait for \(device.number)") }
      guard let gateway = device.gateway, let location = app.directory.location(of: device.number) else {
        found.append("\(device.number) is not connected")
        continue
      }
      if location.slot != device.slot { found.append("\(device.number) is at another session for the home") }
      if !gateway.isConnected(device.slot) { found.append("\(device.number) has no session") }
    }
    let connected = nodes.reduce(0) { $0 + $1.gateway.connected }
    if connected != devices.count { found.append("\(connected) sessions of \(devices.count) devices") }
    for node in nodes where isDivided || node.router == nil {
      if node.link.status.unconfirmed > 0 { found.append("\(node.incarnation) has unconfirmed requests") }
    }
    return found
  }

  /// What still waits by the database alone.
  func waitingAfterRestart() async throws -> Int {
    leader?.router?.finish()
    try await barrier()
    leader?.router?.unplug()
    let router = Router(store: database.store, scope: .all, time: clock, log: .silent)
    try router.load()
    defer { router.unplug() }
    return devices.reduce(0) { sum, device in
      sum + (router.apps.loaded(device.key)?.directory.pendingCount(for: device.number) ?? 0)
    }
  }

  func setFaults(_ faults: SimulatedNetwork.Faults) { network.setFaults(faults) }

  func close() {
    for node in nodes {
      node.link.close()
      node.router?.unplug()
    }
  }
}
