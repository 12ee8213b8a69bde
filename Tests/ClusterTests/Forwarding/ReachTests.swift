import BorealisBase
import BorealisNet
import HTTP
import PushTesting
import Testing

@testable import Cluster

@Suite struct ReachTableTests {
  private static let second: UInt64 = 1_000_000_000
  private static let fast: UInt64 = 5_000_000
  private static let slow: UInt64 = 900_000_000

  /// Lets nodes answer each second for a while.
  private func run(
    _ table: inout ReachTable, _ seconds: ClosedRange<UInt64>, _ answers: [Int64: UInt64]
  ) -> Set<Int64>? {
    for second in seconds {
      table.keep([1, 2, 3], at: second * Self.second)
      for node in table.popDue(at: second * Self.second) {
        if let delay = answers[node] {
          table.answer(of: node, after: delay, at: second * Self.second + delay)
        } else {
          table.fail(node, "refused")
        }
      }
    }
    return table.reached(at: seconds.upperBound * Self.second + Self.second / 2)
  }

  @Test(
    arguments: [
      ([1: fast, 2: fast, 3: fast], [1, 2, 3]),
      ([1: fast, 2: fast], [1, 2]),
      ([:], []),
      // One is late.
      ([1: fast, 2: fast, 3: slow], [1, 2]),
      // Most are late: this node is.
      ([1: fast, 2: slow, 3: slow], [1, 2, 3]),
      ([1: slow, 2: slow, 3: slow], [1, 2, 3]),
      ([1: slow], [1]),
    ] as [([Int64: UInt64], Set<Int64>)])
  func `Nodes are reached that answer in time`(answers: [Int64: UInt64], reached: Set<Int64>) {
    var table = ReachTable()
    #expect(run(&table, 1...20, answers) == reached)
  }

  @Test func `A node is out of reach a few seconds after its last answer, and says why`() {
    var table = ReachTable()
    let all = [1: Self.fast, 2: Self.fast, 3: Self.fast] as [Int64: UInt64]
    let most = [1: Self.fast, 2: Self.fast] as [Int64: UInt64]
    #expect(run(&table, 1...10, all) == [1, 2, 3])
    #expect(run(&table, 11...12, most) == [1, 2, 3])
    #expect(run(&table, 13...14, most) == [1, 2])
    #expect(table.problems(at: 14 * Self.second) == [3: "refused"])
    #expect(run(&table, 15...15, all) == [1, 2, 3])
  }

  @Test func `Nothing is said before each node was asked`() {
    var table = ReachTable()
    table.keep([1, 2], at: Self.second)
    _ = table.popDue(at: Self.second)
    #expect(table.reached(at: Self.second) == nil)
    table.answer(of: 1, after: Self.fast, at: Self.second)
    #expect(table.reached(at: Self.second) == nil)
    table.fail(2, "refused")
    #expect(table.reached(at: Self.second) == [1])
  }

  @Test func `However many nodes there are, few are asked each second`() {
    var table = ReachTable()
    var asked = 0
    for second in 1...100 as ClosedRange<UInt64> {
      table.keep(1...80, at: second * Self.second)
      asked += table.popDue(at: second * Self.second).count
    }
    #expect((80...900).contains(asked))
  }
}

@Suite struct NodeReachTests {
  /// Asks one node until it is known whether it is reached.
  private func reach(_ tls: NodeTLS?, _ node: NodeAddress) throws -> (reached: Bool?, reason: String) {
    let reach = NodeReach(tls: tls, log: .silent)
    reach.follow([7: node])
    let handle = try LoopHandle(index: 0)
    try handle.start({ _ = reach.add(to: $0) }, failed: { _ in })
    defer { handle.post { $0.stop() } }
    _ = eventually { reach.reached != nil }
    return (reach.reached.map { $0 == [7] }, reach.problems.first?.reason ?? "")
  }

  @Test func `A node is asked as it is asked for requests`() throws {
    let (files, others) = (try NodeFiles(), try NodeFiles())
    let home = try TestHome(tls: try files.node("node-a"))
    let other = NodeAddress(name: "node-b", host: "127.0.0.1", port: home.address.port)
    let nobody = NodeAddress(name: "node-a", host: "127.0.0.1", port: 1)
    for (tls, node, reached, reason) in [
      (try files.node("front"), home.address, true, ""),
      (try files.node("outsider"), home.address, false, "may not accept this node's certificate"),
      (try others.node("front"), home.address, false, "certificate refused"),
      (try others.node("front", of: files), home.address, false, "unknown ca"),
      (try files.node("front"), other, false, "certificate refused: hostname mismatch"),
      (try files.node("front"), nobody, false, "Connection refused"),
      (nil, NodeAddress(name: "node-a", host: "192.0.2.1", port: 7), false, "only nodes on this machine"),
    ] as [(NodeTLS?, NodeAddress, Bool, String)] {
      let found = try reach(tls, node)
      #expect(found.reached == reached && found.reason.contains(reason), "\(node) \(reason): \(found)")
    }
    // Nothing of this is a request.
    #expect(home.seen.isEmpty)
  }

  @Test func `A node knows at its start whether others would refuse its certificate`() throws {
    let (files, others) = (try NodeFiles(), try NodeFiles())
    try files.node("node-a").check(as: "node-a")
    func reason(_ tls: NodeTLS, _ name: String) -> String {
      do throws(NodeTLS.Refusal) { try tls.check(as: name) } catch { return error.reason }
      return ""
    }
    #expect(reason(try files.node("node-a"), "node-b").contains("not a certificate for the name node-b"))
    #expect(reason(try others.node("node-a", of: files), "node-a").contains("certificate refused"))
    #expect(reason(try files.node("node-a", days: -1), "node-a").contains("certificate has expired"))
    for usage in ["serverAuth", "clientAuth"] {
      let tls = try files.node("node-a", extension: "extendedKeyUsage=\(usage)")
      #expect(reason(tls, "node-a").contains("certificate refused"), "\(usage)")
    }
    try files.node("node-a", extension: "extendedKeyUsage=serverAuth,clientAuth").check(as: "node-a")
  }
}
