import BorealisBase
import Cluster
import Glibc
import PushTesting
import Testing

/// Three nodes, five apps, and a bus that does its worst for some seconds. Five seconds later all must be as
/// if nothing had been.
@Suite struct SimulationTests {
  private struct Simulation {
    let seed: UInt64
    let database = SimulatedDatabase()
    let network: SimulatedNetwork
    let apps = (1...5).map { AppID($0) }
    var nodes: [SimulatedNode] = []
    var random: SeededRandom
    var now: UInt64 = 1_000_000_000
    var nextIncarnation: UInt64 = 4
    var mostHeld = 0
    var mostUnapplied = 0
    var mostUnderWay = 0
    let isHeavy: Bool

    init(seed: UInt64) {
      self.seed = seed
      random = SeededRandom(seed: seed)
      network = SimulatedNetwork(seed: seed ^ 0x5555)
      isHeavy = seed % 40 == 7
      for number: UInt64 in 1...3 {
        nodes.append(SimulatedNode(Incarnation(number), network, database, apps, now: now))
      }
      for app in apps { database.assign(app, to: nodes[Int(app.rawValue) % 3].incarnation) }
    }

    /// Lets time go by, and nodes do what is due.
    mutating func run(until end: UInt64) {
      while true {
        let next = min(nodes.map(\.deadline).min() ?? .max, network.nextArrival ?? .max)
        guard next <= end else { break }
        now = max(now, next)
        network.advance(to: now)
        for node in nodes { node.turn(now: now) }
        note()
      }
      now = end
      network.advance(to: now)
    }

    private mutating func note() {
      for node in nodes {
        mostHeld = max(mostHeld, node.node.heldBytes)
        mostUnapplied = max(mostUnapplied, node.node.mostUnapplied)
      }
      mostUnderWay = max(mostUnderWay, network.bytes)
    }

    mutating func act() {
      let node = nodes[Int.random(in: 0..<3, using: &random)]
      let app = apps[Int.random(in: 0..<apps.count, using: &random)]
      switch Int.random(in: 0..<100, using: &random) {
      case 0..<40:
        let home = nodes.first { $0.incarnation == database.homes[app]?.incarnation }
        home?.push(app, size: isHeavy ? 60_000 : Int.random(in: 0...200, using: &random), now: now)
      case 40..<55: node.logIn(app, number: UInt32.random(in: 0..<20_000, using: &random), now: now)
      case 55..<63: node.close(app, now: now)
      case 63..<72: node.toggle(app, now: now)
      case 72..<80: node.acknowledge(app, now: now)
      case 80..<83: node.recall(app, now: now)
      case 83..<93:
        let other = nodes[Int.random(in: 0..<3, using: &random)]
        if other.incarnation != node.incarnation { node.sendLate(to: other.incarnation, now: now) }
      case 93..<97:
        guard let pushes = database.pushes[app], !pushes.isEmpty else { return }
        database.end(app, at: Int.random(in: 0..<pushes.count, using: &random))
      case 97: changeFaults()
      case 98 where Int.random(in: 0..<4, using: &random) == 0:
        database.assign(app, to: node.incarnation)
      case 99 where Int.random(in: 0..<6, using: &random) == 0: restart(node)
      default: break
      }
    }

    private mutating func changeFaults() {
      var faults = SimulatedNetwork.Faults()
      faults.lost = [0, 10, 100, 300][Int.random(in: 0..<4, using: &random)]
      faults.repeated = [0, 50, 200][Int.random(in: 0..<3, using: &random)]
      faults.delayed = [0, 20, 200, 500][Int.random(in: 0..<4, using: &random)]
      faults.longestDelay = [20_000_000, 300_000_000, 5_000_000_000][Int.random(in: 0..<3, using: &random)]
      network.setFaults(faults)
      network.heal()
      guard Bool.random(using: &random) else { return }
      let (one, other) = (Int.random(in: 0..<3, using: &random), Int.random(in: 0..<3, using: &random))
      network.cut(from: nodes[one].incarnation, to: nodes[other].incarnation)
      // One way or both.
      if Bool.random(using: &random) {
        network.cut(from: nodes[other].incarnation, to: nodes[one].incarnation)
      }
    }

    /// A node dies, with all that it knows, and starts again; the database gives its apps to others.
    private mutating func restart(_ node: SimulatedNode) {
      guard let place = nodes.firstIndex(where: { $0 === node }) else { return }
      node.leave()
      let new = SimulatedNode(Incarnation(nextIncarnation), network, database, apps, now: now)
      nextIncarnation += 1
      nodes[place] = new
      for other in nodes { other.forget(node.incarnation) }
      for app in apps where database.homes[app]?.incarnation == node.incarnation {
        database.assign(app, to: nodes[Int.random(in: 0..<3, using: &random)].incarnation)
      }
    }

    mutating func stopFaults() {
      network.setFaults(SimulatedNetwork.Faults())
      network.heal()
    }

    /// What is not as it should be.
    var differences: [String] {
      var found = database.violations
      for app in apps {
        guard let home = nodes.first(where: { $0.incarnation == database.homes[app]?.incarnation }) else {
          continue
        }
        for gateway in nodes where gateway.incarnation != home.incarnation {
          let name =
            "app \(app.rawValue) from \(home.incarnation.rawValue) at \(gateway.incarnation.rawValue)"
          for push in database.open(app, after: MessageID(0))
          where gateway.received[app]?.contains(push.id) != true {
            found.append("\(name): no push \(push.id.rawValue)")
          }
          if home.belief(of: app, at: gateway.incarnation) != Set((gateway.sessions[app] ?? [:]).values) {
            found.append("\(name): other sessions")
          }
        }
      }
      for node in nodes where !node.openRequests.isEmpty {
        found.append("node \(node.incarnation.rawValue): \(node.openRequests) are open")
      }
      return found
    }
  }

  /// How many seeds there are; `BOREALIS_SEEDS` says how many to try instead.
  private static let seeds = getenv("BOREALIS_SEEDS").flatMap { UInt64(String(cString: $0)) } ?? 200
  /// Processes of a test run share the seeds of a part.
  private static let parts: [UInt64] = Array(0..<8)

  @Test(arguments: parts)
  func theBusDoesItsWorst(part: UInt64) {
    var gaps: UInt64 = 0
    var replays: UInt64 = 0
    for seed in stride(from: part, to: Self.seeds, by: Self.parts.count) {
      var simulation = Simulation(seed: seed)
      simulation.run(until: simulation.now + 2_000_000_000)
      for _ in 0..<250 {
        let pause = UInt64.random(in: 0...40_000_000, using: &simulation.random)
        simulation.run(until: simulation.now + pause)
        simulation.act()
      }
      simulation.stopFaults()
      // A login that nobody could answer is given up after five seconds; all else is equal again by then.
      simulation.run(until: simulation.now + 5_000_000_000)
      let differences = simulation.differences
      #expect(differences.isEmpty, "seed \(seed)")
      #expect(simulation.mostHeld <= 2 * (ClusterLimits.maxReorderBytes + ClusterLimits.maxFrame))
      #expect(simulation.mostUnapplied <= ClusterLimits.maxUnappliedOfAll + ClusterLimits.maxFrame)
      #expect(simulation.mostUnderWay <= 64 << 20)
      for node in simulation.nodes {
        gaps += node.node.counts.lost
        replays += node.node.counts.replaysAsked
        #expect(node.node.counts.malformed == 0)
      }
      if !differences.isEmpty { return }
    }
    #expect(gaps > 0 && replays > 0, "the faults have an effect")
  }
}
