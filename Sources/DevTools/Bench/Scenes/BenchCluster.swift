import BorealisBase
import CLinux
import Glibc

/// A cluster on this machine: PostgreSQL, a server of NATS, and nodes, of which the first is the home.
final class BenchCluster {
  /// A node.
  struct Node {
    let name: String
    let process: ServerProcess
    let http: Endpoint
    let device: Endpoint
  }

  let apps: [BorealisApp]
  private(set) var nodes: [Node] = []
  let postgres: PostgresServer
  let bus: ServerProcess
  private let busEndpoint: Endpoint
  private let environment: BenchEnvironment
  private let name: String
  private let arguments: [String]

  /// The only app, or the first.
  var appKey: AppKey { apps[0].key }
  var secret: String { apps[0].secret }

  /// Starts the database with the apps that have these registrations, and the bus. Several apps have homes of
  /// their own. The names of nodes begin with `name`; nodes get more arguments.
  init(
    _ environment: BenchEnvironment, _ population: Population, name: String = "n", arguments: [String] = []
  ) throws(BenchError) {
    self.environment = environment
    self.name = name
    self.arguments = arguments + (population.apps > 1 ? [] : ["--spread-apps=false"])
    busEndpoint = try Endpoint.free()
    bus = try environment.start("nats-server", ["-a", "127.0.0.1", "-p", "\(busEndpoint.port)"])
    guard busEndpoint.waitUntilOpen(seconds: 10) else {
      throw bus.waitForEnd(seconds: 0) ? .notInstalled("nats-server") : .timedOut("NATS starts")
    }
    postgres = try PostgresServer(environment, folder: "postgres-\(name)")
    let folder = environment.workspace.path + "/data-\(name)"
    apps = try population.makeApps(environment, folder: folder)
    let copying = try environment.start(
      environment.server, ["copy", "--from", "sqlite:\(folder)", "--to", postgres.url])
    guard copying.waitForEnd(seconds: 600) else { throw .timedOut("the copy to PostgreSQL ends") }
  }

  /// Starts nodes until there are so many, one after the other, and waits until the last can serve, and until
  /// several apps are divided evenly.
  func grow(to count: Int) throws(BenchError) {
    while nodes.count < count { try start("\(name)\(nodes.count + 1)") }
    for node in nodes { try waitUntilReady(node) }
    if apps.count > 1 { try waitUntilDivided() }
  }

  private func start(_ name: String) throws(BenchError) {
    let folder = environment.workspace.path
    let process = try environment.start(
      environment.server,
      [
        "serve", "--data", "\(folder)/data-\(name)", "--store", postgres.url, "--bus",
        "nats://127.0.0.1:\(busEndpoint.port)", "--node", "127.0.0.1:0", "--node-name", name,
        "--secret-key-file", "\(folder)/data-\(self.name)/secret-key", "--http", "127.0.0.1:0",
        "--device-plain", "127.0.0.1:0", "--network-registrations", "100000000", "--network-strangers",
        "1000000", "--ack-delay", "1s", "--log-level", "warning",
      ] + arguments)
    let line = try process.readLine(seconds: 60)
    guard let ready = try? parseJSON(Array(line.utf8)), let http = BorealisServer.endpoint(ready["http"]),
      let device = BorealisServer.endpoint(ready["device_plain"])
    else { throw .unexpected("the ready line of a node: \(line)") }
    let node = Node(name: name, process: process, http: http, device: device)
    // The first one has become the home before there is another.
    if nodes.isEmpty { try waitUntilReady(node) }
    nodes.append(node)
  }

  private func waitUntilReady(_ node: Node) throws(BenchError) {
    let end = cl_monotonic_ns() + 60_000_000_000
    while cl_monotonic_ns() < end {
      if try ConsoleClient(node.http, cookie: "").get("/readyz").status == 200 { return }
      usleep(20_000)
    }
    throw .timedOut("\(node.name) is ready")
  }

  private func waitUntilDivided() throws(BenchError) {
    // Apps move ten seconds after a node was seen first, one after the other.
    let end = cl_monotonic_ns() + 120_000_000_000
    while cl_monotonic_ns() < end {
      var homes: [Int] = []
      for node in nodes {
        let ready = try ConsoleClient(node.http, cookie: "").get("/readyz").text
        if let count = Self.homeCount(in: ready) { homes.append(count) }
      }
      // Nodes learn of homes within a second.
      if Self.isDivided(apps.count, among: homes, nodes.count) { return _ = sleep(1) }
      usleep(100_000)
    }
    throw .timedOut("apps are divided evenly")
  }

  /// Of how many apps a node is the home, by its page `/readyz`; nil if that does not say.
  static func homeCount(in text: String) -> Int? {
    for line in text.split(separator: "\n") where line.hasPrefix("home of ") {
      return line.split(separator: " ").dropFirst(2).first.flatMap { Int($0) }
    }
    return nil
  }

  /// Whether so many apps have homes at all nodes, none of which has two more than another.
  static func isDivided(_ apps: Int, among homes: [Int], _ nodes: Int) -> Bool {
    guard homes.count == nodes, let least = homes.min(), let most = homes.max() else { return false }
    return homes.reduce(0, +) == apps && most - least <= 1
  }

  /// Kills a node without a warning, and forgets it.
  func kill(_ index: Int) {
    nodes.remove(at: index).process.stop(SIGKILL)
  }

  /// Processor time of all nodes, in nanoseconds. Fails if one has ended.
  func processorTime() throws(BenchError) -> UInt64 {
    var sum: UInt64 = 0
    for node in nodes {
      guard !node.process.waitForEnd(seconds: 0) else { throw .unexpected("the node \(node.name) has ended") }
      sum += try ProcessUsage.processorTime(node.process.identifier)
    }
    return sum
  }

  /// User memory of all nodes, in bytes.
  func memory() throws(BenchError) -> Int {
    var sum = 0
    for node in nodes { sum += try ProcessUsage.memory(node.process.identifier) }
    return sum
  }

  /// Ends all of it; gateways first, so that nobody takes over.
  func stop() {
    for node in nodes.reversed() { node.process.stop(nodes.count > 8 ? SIGKILL : SIGTERM) }
    nodes = []
    bus.stop(SIGTERM)
    postgres.stop()
  }
}
