import PushTesting
import Storage

@testable import Cluster

/// Some nodes and their database in simulated time. Processes end, stand still, and lose the database, as a
/// seed says.
struct SimulatedMembers {
  private struct Process {
    var incarnation: Int64
    var membership: Membership
    var lookAt: UInt64 = 0
    var beatAt: UInt64 = 0
    /// Until then it stands still, or does not reach the database.
    var frozenUntil: UInt64 = 0
    var cutUntil: UInt64 = 0
    /// When its attempt to become the home ends.
    var attempt: (endsAt: UInt64, isHolding: Bool)?
    var isHome = false
    var followed: Int64?
    /// Since when it is well.
    var wellSince: UInt64
  }

  private var random: SeededRandom
  private var now: UInt64 = 1_000_000_000_000
  private var processes: [Process] = []
  private var restarts: [UInt64] = []
  private var nodes: [Int64: NodeRow] = [:]
  private var home: HomeRow?
  /// From then on and until then nobody reaches the database.
  private var awaySince: UInt64 = 0
  private var awayUntil: UInt64 = 0
  /// The incarnation whose connection holds the database.
  private var holder: Int64?
  private var last: Int64 = 0
  private(set) var faults: [String] = []
  private(set) var takeOvers = 0

  init(seed: UInt64) {
    random = SeededRandom(seed: seed)
    for _ in 0..<Int.random(in: 1...5, using: &random) { start() }
  }

  /// The nodes that think that they are the home.
  var homes: [Int64] { processes.filter(\.isHome).map(\.incarnation) }

  /// Whether all others follow the home.
  var isAgreed: Bool {
    processes.allSatisfy { $0.isHome || $0.followed == homes.first } && home?.incarnation == homes.first
  }

  private mutating func start() {
    last += 1
    nodes[last] = NodeRow(incarnation: last, name: "n\(last)", address: "")
    processes.append(
      Process(
        incarnation: last,
        membership: Membership(own: last, random: SeededRandom(seed: random.next())), cutUntil: awayUntil,
        wellSince: max(now, awayUntil)))
  }

  mutating func run(milliseconds: Int, withFaults: Bool) {
    for _ in 0..<milliseconds / 50 {
      now += 50_000_000
      if withFaults, Int.random(in: 0..<60, using: &random) == 0 { harm() }
      while let moment = restarts.first, moment <= now {
        restarts.removeFirst()
        start()
      }
      for incarnation in processes.map(\.incarnation) { step(incarnation) }
    }
  }

  /// From now on everybody is well.
  mutating func heal() {
    for index in processes.indices where max(processes[index].frozenUntil, processes[index].cutUntil) > now {
      (processes[index].frozenUntil, processes[index].cutUntil) = (0, 0)
      processes[index].wellSince = now
    }
    awayUntil = min(awayUntil, now)
  }

  private mutating func harm() {
    guard let index = processes.indices.randomElement(using: &random) else { return }
    let seconds = UInt64.random(in: 1...15, using: &random)
    switch Int.random(in: 0..<3, using: &random) {
    case 0: end(processes[index].incarnation)
    case 1: processes[index].frozenUntil = now + seconds * 1_000_000_000
    default:
      // Sometimes nobody reaches it.
      let isForAll = Bool.random(using: &random)
      if isForAll { (awaySince, awayUntil) = (now, max(awayUntil, now + seconds * 1_000_000_000)) }
      for other in processes.indices where isForAll || other == index {
        processes[other].cutUntil = max(processes[other].cutUntil, now + seconds * 1_000_000_000)
        if holder == processes[other].incarnation { holder = nil }
      }
    }
    for index in processes.indices {
      processes[index].wellSince = max(
        processes[index].wellSince, processes[index].frozenUntil, processes[index].cutUntil)
    }
  }

  /// A process ends; its supervisor starts it again.
  private mutating func end(_ incarnation: Int64) {
    processes.removeAll { $0.incarnation == incarnation }
    if holder == incarnation { holder = nil }
    restarts.append(now + 3_000_000_000)
    restarts.sort()
  }

  private mutating func step(_ incarnation: Int64) {
    guard let index = processes.firstIndex(where: { $0.incarnation == incarnation }),
      processes[index].frozenUntil <= now
    else { return }
    let isCut = processes[index].cutUntil > now
    // The writer connects again.
    if processes[index].isHome, holder == nil, !isCut, home?.incarnation == incarnation {
      holder = incarnation
    }
    if let attempt = processes[index].attempt, attempt.endsAt <= now { finish(attempt.isHolding, index) }
    guard processes[index].lookAt <= now else { return }
    if isCut {
      processes[index].membership.fail()
    } else {
      if processes[index].beatAt <= now {
        nodes[incarnation]?.beat += 1
        processes[index].beatAt = now + 1_000_000_000
      }
      let view = ClusterView(
        nodes: nodes.values.sorted { $0.incarnation < $1.incarnation }, home: home, isFree: holder == nil)
      let actions = processes[index].membership.observe(nodes[incarnation] == nil ? nil : view, at: now)
      for action in actions { perform(action, incarnation) }
    }
    guard let index = processes.firstIndex(where: { $0.incarnation == incarnation }) else { return }
    processes[index].lookAt =
      now + min(processes[index].membership.pause, max(processes[index].beatAt, now + 50_000_000) - now)
  }

  private mutating func perform(_ action: Membership.Action, _ incarnation: Int64) {
    guard let index = processes.firstIndex(where: { $0.incarnation == incarnation }) else { return }
    switch action {
    case .follow(let node, _): processes[index].followed = node?.incarnation
    case .lost: end(incarnation)
    case .gone: break
    case .remove(let node, _):
      guard nodes[node.incarnation]?.beat == node.beat else { return }
      nodes[node.incarnation] = nil
      if isWell(node.incarnation, for: 6_000_000_000) {
        faults.append("\(node.incarnation) is alive and was removed")
      }
      // Whoever comes back with all others has as much time again, if they have noticed that they were away.
      if awayUntil > awaySince + 3_000_000_000,
        processes.contains(where: { $0.incarnation == node.incarnation && $0.wellSince == awayUntil }),
        now < awayUntil + 5_000_000_000
      {
        faults.append("\(node.incarnation) was removed since nobody reached the database")
      }
    case .takeOver(let replaced):
      if let replaced, holder == replaced.incarnation { holder = nil }
      let isHolding = holder == nil
      if isHolding {
        holder = incarnation
        if let old = home?.incarnation, isWell(old, for: 3_000_000_000) {
          faults.append("\(old) is a home without fault and was replaced")
        }
      }
      processes[index].attempt = (now + UInt64.random(in: 50...3000, using: &random) * 1_000_000, isHolding)
    }
  }

  private func isWell(_ incarnation: Int64, for time: UInt64) -> Bool {
    processes.contains { $0.incarnation == incarnation && $0.wellSince + time < now }
  }

  private mutating func finish(_ isHolding: Bool, _ index: Int) {
    let incarnation = processes[index].incarnation
    processes[index].attempt = nil
    guard isHolding, holder == incarnation, nodes[incarnation] != nil, processes[index].cutUntil <= now else {
      if holder == incarnation { holder = nil }
      processes[index].membership.giveUp(at: now)
      return
    }
    let epoch = (home?.epoch ?? 0) + 1
    home = HomeRow(incarnation: incarnation, epoch: epoch, fence: incarnation)
    processes[index].isHome = true
    processes[index].membership.lead(epoch: epoch)
    takeOvers += 1
  }
}
