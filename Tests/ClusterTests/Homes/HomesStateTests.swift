import BorealisBase
import Storage
import Testing

@testable import Cluster

/// What a node knows about homes, and what follows from it.
@Suite struct HomesStateTests {
  private static let second: UInt64 = 1_000_000_000

  private static func node(_ number: Int64, _ change: (inout NodeRow) -> Void = { _ in }) -> NodeRow {
    var row = NodeRow(incarnation: number, name: "n\(number)", address: "127.0.0.1:\(9000 + number)")
    row.spreadsApps = true
    change(&row)
    return row
  }

  private static func view(_ nodes: [NodeRow]) -> ClusterView {
    ClusterView(nodes: nodes, home: nil, isFree: true)
  }

  // MARK: When a node may become a home of some apps

  @Test(
    arguments: [
      ("alone", [node(1)], nil),
      ("beside a node that spreads apps, too", [node(1), node(2)], nil),
      ("beside a node that knows of one home only", [node(1), node(2) { $0.spreadsApps = false }], "n2"),
      (
        "beside one of those that ends",
        [
          node(1),
          node(2) {
            $0.spreadsApps = false
            $0.isDraining = true
          },
        ], nil
      ),
      (
        "beside one of those that has lost the database",
        [
          node(1),
          node(2) {
            $0.spreadsApps = false
            $0.isConnected = false
          },
        ], nil
      ),
      (
        "where there is a home of some apps already",
        [node(1), node(2) { $0.spreadsApps = false }, node(3) { $0.isHome = true }], nil
      ),
      ("as one that knows of one home only itself", [node(1) { $0.spreadsApps = false }], nil),
    ] as [(String, [NodeRow], String?)])
  func `A home of some apps comes after a node that would be the home of all`(
    name: String, nodes: [NodeRow], other: String?
  ) {
    var state = NodeHomesState()
    #expect(state.yields(to: Self.view(nodes), of: 1, at: Self.second) == other, "\(name)")
  }

  @Test func `A node that does not become the home of all apps is waited for in bounded time`() {
    let nodes = Self.view([Self.node(1), Self.node(2) { $0.spreadsApps = false }])
    let limit = NodeRegistry.deadAfter + 2 * Self.second
    var state = NodeHomesState()
    #expect(state.yields(to: nodes, of: 1, at: 0) == "n2")
    #expect(state.yields(to: nodes, of: 1, at: limit - 1) == "n2")
    #expect(state.yields(to: nodes, of: 1, at: limit) == nil)
    // Once it has gone the next one gets all the time again.
    #expect(state.yields(to: Self.view([Self.node(1)]), of: 1, at: limit + 1) == nil)
    #expect(state.yields(to: nodes, of: 1, at: limit + 2) == "n2")
  }

  @Test(
    arguments: [
      (1, [1: [2, 3], 2: [1, 3], 3: [1, 2]], nil),
      (
        3, [1: [2], 2: [1], 3: [1, 2]],
        "too few nodes and this one reach each other: not reached by n1, n2"
      ),
      (
        3, [1: [2, 3], 2: [1, 3], 3: []], "too few nodes and this one reach each other: does not reach n1, n2"
      ),
      (
        3, [1: [2], 2: [1, 3], 3: [1]],
        "too few nodes and this one reach each other: not reached by n1; does not reach n2"
      ),
      (
        3, [1: [2, 3], 2: [1, 3], 3: nil],
        "it is not known yet whether the other nodes and this one reach each other"
      ),
    ] as [(Int64, [Int64: Set<Int64>?], String?)])
  func `A node that may not be a home says why`(own: Int64, reaches: [Int64: Set<Int64>?], text: String?) {
    let nodes = reaches.keys.sorted().map { number in
      Self.node(number) {
        $0.capabilities = .own
        $0.reaches = reaches[number] ?? nil
      }
    }
    #expect(ReachGaps(of: own, in: Self.view(nodes))?.text == text)
  }

  @Test func `A node that ends says nothing about whom it reaches`() {
    let nodes = [
      Self.node(1) {
        $0.capabilities = .own
        $0.reaches = []
        $0.isDraining = true
      }, Self.node(2) { ($0.capabilities, $0.reaches) = (.own, []) },
    ]
    #expect(ReachGaps(of: 1, in: Self.view(nodes)) == nil)
  }

  // MARK: Giving apps back

  @Test func `A node out of reach gives back first and is replaced if it does not`() {
    var nodes = UnreachableHomes()
    nodes.note([3: 2], at: 0)
    #expect(nodes.contains(3) && !nodes.contains(1))
    let moments: [(at: UInt64, gives: Bool, isStuck: Bool)] = [
      (0, false, false), (UnreachableHomes.givingBack - 1, false, false),
      (UnreachableHomes.givingBack, true, false), (UnreachableHomes.expelling - 1, true, false),
      (UnreachableHomes.expelling, true, true),
    ]
    for moment in moments {
      nodes.note([3: 2], at: moment.at)
      #expect(nodes.givesBack(3, at: moment.at) == moment.gives, "\(moment)")
      #expect(nodes.stuck(at: moment.at).contains(3) == moment.isStuck, "\(moment)")
    }
    // One app less: it is slow, and not stuck.
    nodes.note([3: 1], at: UnreachableHomes.expelling)
    #expect(nodes.stuck(at: UnreachableHomes.expelling).isEmpty)
    // Nothing left, so there is nothing to take from it.
    nodes.note([3: 0], at: UnreachableHomes.expelling + 1)
    #expect(nodes.stuck(at: 10 * UnreachableHomes.expelling).isEmpty)
    // Reached again: all begins anew.
    nodes.note([:], at: UnreachableHomes.expelling + 2)
    nodes.note([3: 2], at: UnreachableHomes.expelling + 3)
    #expect(!nodes.givesBack(3, at: UnreachableHomes.expelling + 3))
  }

  // MARK: Who gets apps

  @Test func `Apps go to homes that do not end and that the others reach`() {
    let nodes = [
      Self.node(1) { ($0.capabilities, $0.reaches, $0.isDraining) = (.own, [2, 3, 4], true) },
      Self.node(2) { ($0.capabilities, $0.reaches) = (.own, [1, 3]) },
      Self.node(3) { ($0.capabilities, $0.reaches) = (.own, [1, 2]) },
      Self.node(4) { ($0.capabilities, $0.reaches) = (.own, []) },
    ]
    let loads: [Int64: [AppID: Int]] = [1: [AppID(1): 5, AppID(2): 1], 2: [AppID(3): 3], 3: [:], 4: [:]]
    let candidates = HomeCandidate.all(with: loads, in: Self.view(nodes)).sorted { $0.node < $1.node }
    #expect(candidates.map(\.node) == [2, 3])
    // The heaviest first, to the one that has least.
    let placed = HomePlan.place(loads[1] ?? [:], among: candidates).map { ($0.app, $0.home.node) }
    #expect(placed.map(\.0) == [AppID(1), AppID(2)] && placed.map(\.1) == [3, 2])
  }

  // MARK: Where requests go

  @Test func `Requests go to the nodes that are homes, and wait for a home that is gone`() {
    var state = NodeHomesState()
    let keys = (1...4).map { _ in AppKey.random() }
    func row(_ app: Int64, at node: Int64) -> AppHomeRow {
      AppHomeRow(
        app: AppID(UInt32(app)), key: app == 0 ? nil : keys[Int(app) - 1],
        home: HomeRow(incarnation: node, epoch: 1, fence: node * 10))
    }
    state.node = 1
    state.rows = [row(0, at: 2), row(1, at: 2), row(2, at: 3), row(3, at: 9), row(4, at: 1)]
    let view = Self.view([
      Self.node(1), Self.node(2), Self.node(3) { $0.address = "nonsense" },
    ])
    let homes = state.requestHomes(in: view)
    let second = RequestHomes.Home.node(NodeAddress(name: "n2", host: "127.0.0.1", port: 9002))
    let expected: [(AppKey?, RequestHomes.Home)] = [
      (nil, second), (keys[0], second), (keys[1], .nobody), (keys[2], .nobody),
      // This node was its home, and is not any more: nobody is.
      (keys[3], .nobody), (.random(), second),
    ]
    for (key, home) in expected { #expect(homes[key] == home) }
  }

  // MARK: Heirs, and a database that does not answer

  @Test(
    arguments: [
      ("alone", [node(1)], false, true),
      ("another node", [node(1), node(2)], true, true),
      ("another node that ends", [node(1), node(2) { $0.isDraining = true }], false, true),
      ("another home", [node(1), node(2) { $0.isHome = true }], true, false),
      ("this home only", [node(1) { $0.isHome = true }, node(2)], true, true),
    ] as [(String, [NodeRow], Bool, Bool)])
  func `An heir is another node that does not end`(
    name: String, nodes: [NodeRow], hasHeir: Bool, isOnlyHome: Bool
  ) {
    #expect(Self.view(nodes).hasHeir(of: 1) == hasHeir, "\(name)")
    #expect(Self.view(nodes).isOnlyHome(1) == isOnlyHome, "\(name)")
  }

  @Test func `What was known before counts if the database cannot be read`() {
    let (old, new) = (Self.view([Self.node(1)]), Self.view([Self.node(1), Self.node(2)]))
    func read(_ known: ClusterView?, _ found: Result<ClusterView?, StorageError>) -> ClusterView? {
      ClusterView.read(orKnown: known) { () throws(StorageError) in try found.get() }
    }
    let failure = Result<ClusterView?, StorageError>.failure(StorageError(.io, "no answer"))
    #expect(read(old, .success(new)) == new)
    #expect(read(old, failure) == old)
    #expect(read(nil, failure) == nil)
    // The others have taken this node for dead.
    #expect(read(old, .success(nil)) == old)
  }
}
