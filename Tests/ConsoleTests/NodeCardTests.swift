import BorealisBase
import Synchronization
import Testing

@testable import Console

@Suite struct NodeCardTests {
  @Test func `A server that is alone shows no nodes`() async throws {
    let world = try ConsoleWorld()
    let page = await (try await world.owner()).open("/console/operator").text
    #expect(!page.contains("<h2>Nodes</h2>"))
  }

  @Test func `Operators see the server and its database`() async throws {
    let world = try ConsoleWorld()
    let boss = try await world.owner()
    func card() async throws -> String {
      let page = await boss.open("/console/operator").text
      return String(
        try #require(page.split(separator: "<h2>Server</h2>").last?.split(separator: "</dl>").first))
    }
    let good = try await card()
    for part in ["1.2.3", "2023-11-1", "54,321", "SQLite", "812 MB", "51.2 GB"] {
      #expect(good.contains(part), "\(part)")
    }
    #expect(!good.contains("class=\"state"))
    world.cluster.database.withLock {
      $0 = ConsoleDatabase(
        name: "SQLite", file: .init(bytes: 10_000_000_000, freeBytes: 1_500_000_000), isWritten: false)
    }
    let bad = try await card()
    #expect(bad.contains("writing fails") && bad.contains("running low"))
    world.cluster.database.withLock { $0 = ConsoleDatabase(name: "PostgreSQL", file: nil, isWritten: true) }
    let remote = try await card()
    #expect(remote.contains("PostgreSQL") && !remote.contains("disk space"))
  }

  @Test(
    arguments: [
      (0, "0 B"), (999, "999 B"), (1000, "1.00 kB"), (1049, "1.05 kB"), (9_994_999, "9.99 MB"),
      (9_995_000, "10.0 MB"), (99_949_999, "99.9 MB"), (99_950_000, "100 MB"), (999_499_999, "999 MB"),
      (999_500_000, "1.00 GB"), (5_000_000_000_000_000, "5,000 TB"), (-1, "0 B"),
    ] as [(Int64, String)])
  func `A size has three digits`(bytes: Int64, text: String) { #expect(Counted.bytes(bytes) == text) }

  @Test func `Operators see the nodes of a cluster`() async throws {
    let world = try ConsoleWorld()
    let boss = try await world.owner()
    world.cluster.nodes.withLock {
      $0 = [
        ConsoleNode(
          name: "n2<b>", address: "10.0.0.2:9000", version: "0.1.0", isHome: false, isDraining: true,
          connections: 12_345, startedAt: nil),
        ConsoleNode(
          name: "n1", address: "10.0.0.1:9000", version: "0.2.0", isHome: true, isDraining: false,
          connections: nil, startedAt: Timestamp(milliseconds: 1_700_000_000_000)),
      ]
    }
    let page = await boss.open("/console/operator").text
    let card = try #require(page.split(separator: "<h2>Nodes</h2>").last?.split(separator: "</table>").first)
    let rows = card.split(separator: "<tr>").dropFirst(2).map(String.init)
    let (first, second) = (try #require(rows.first), try #require(rows.last))
    #expect(first.contains("n1") && first.contains("Home") && first.contains("0.2.0"))
    #expect(first.contains("–") && first.contains("2023-11-1") && !first.contains("draining"))
    #expect(second.contains("n2&lt;b&gt;") && second.contains("Gateway") && second.contains("draining"))
    #expect(second.contains("12,345") && second.contains("10.0.0.2:9000"))
  }

  @Test func `Operators see nodes that are down, and those that others do not reach`() async throws {
    let world = try ConsoleWorld()
    let boss = try await world.owner()
    world.cluster.nodes.withLock { nodes in
      nodes = ["n1", "n2"].map { name in
        ConsoleNode(
          name: name, address: "10.0.0.1:9000", version: "0.1.0", isHome: false, isDraining: false,
          connections: nil, startedAt: nil)
      }
      nodes[0].isOutOfReach = true
      nodes[1].lastSeenAt = Timestamp(milliseconds: 1_700_000_000_000)
    }
    let page = await boss.open("/console/operator").text
    let card = try #require(page.split(separator: "<h2>Nodes</h2>").last?.split(separator: "</table>").first)
    let rows = card.split(separator: "<tr>").dropFirst(2).map(String.init)
    let (first, second) = (try #require(rows.first), try #require(rows.last))
    #expect(first.contains("Gateway") && first.contains("not reached by other nodes"))
    #expect(second.contains("<span class=\"state failed\">Down</span>") && !second.contains("Gateway"))
    // When it was seen last is not when it started.
    let cells = second.split(separator: "<td").map(String.init)
    let role = try #require(cells.first { $0.contains("data-label=\"Role\"") })
    #expect(role.contains("last seen") && role.contains("2023-11-1"))
    #expect(cells.last?.contains("data-label=\"Started\">–</td>") == true)
  }

  @Test func `Operators see of how many apps each node is the home`() async throws {
    let world = try ConsoleWorld()
    let boss = try await world.owner()
    world.cluster.nodes.withLock {
      $0 = [("n1", true, 12), ("n2", false, 0)].map { name, isHome, apps in
        ConsoleNode(
          name: name, address: "10.0.0.1:9000", version: "0.1.0", isHome: isHome, apps: apps,
          isDraining: false,
          connections: nil, startedAt: nil)
      }
    }
    let page = await boss.open("/console/operator").text
    #expect(page.contains(">Home of apps: 12, and of the installation</td>"))
    #expect(page.contains(">Home of apps: 0</td>") && !page.contains("Gateway"))
  }
}
