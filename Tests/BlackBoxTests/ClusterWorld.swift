import BorealisBase
import Glibc
import PushTesting
import Testing

/// Nodes of a cluster on this machine, with a database and a bus of their own.
final class ClusterWorld {
  let cluster: PostgresCluster
  let database: String
  let bus: NATSServer
  let folder = TemporaryFolder()
  /// Follows the database, which waits for it, if one was asked for.
  let standby: PostgresCluster?
  /// Where some nodes find the database or the bus, by name: behind a proxy.
  var stores: [String: String] = [:]
  var buses: [String: String] = [:]
  /// Those that run, by name.
  private(set) var nodes: [String: TestServer] = [:]

  /// Starts database and bus, and nodes one after the other: the first one is the home, of all apps unless
  /// there is `--spread-apps` among the arguments.
  init(_ names: [String] = [], arguments: [String] = [], hasStandby: Bool = false) throws {
    cluster = try PostgresCluster()
    database = try cluster.makeEmpty()
    standby = hasStandby ? try PostgresCluster(standbyOf: cluster) : nil
    bus = try NATSServer()
    for name in names { try start(name, arguments) }
  }

  var environment: [String: String] {
    let hosts = [cluster.socketFolder] + (standby.map { [$0.socketFolder] } ?? [])
    return ["BOREALIS_STORE": "postgres://borealis@/\(database)?host=\(hosts.joined(separator: ","))"]
  }

  private func environment(_ name: String) -> [String: String] {
    stores[name].map { ["BOREALIS_STORE": $0] } ?? environment
  }

  private func data(_ name: String) -> String { folder.path + "/" + name }

  /// The settings that make a server a node.
  func arguments(_ name: String) -> [String] {
    [
      "--bus", "nats://\(buses[name] ?? bus.address)", "--node", "127.0.0.1:0", "--node-name", name,
      "--secret-key-file", folder.path + "/secret-key",
    ]
  }

  /// Starts a node and waits until it can serve.
  @discardableResult
  func start(_ name: String, _ arguments: [String] = []) throws -> TestServer {
    let server = try makeServer(name, arguments)
    nodes[name] = server
    try waitUntilReady(name)
    return server
  }

  /// Starts a node and does not wait until it can serve.
  func startUnready(_ name: String, _ arguments: [String] = []) throws {
    nodes[name] = try makeServer(name, arguments)
  }

  private func makeServer(_ name: String, _ arguments: [String]) throws -> TestServer {
    // A home for each app is the default.
    let homes = arguments.contains("--spread-apps") ? [] : ["--spread-apps=false"]
    return try TestServer(
      data: data(name), self.arguments(name) + homes + arguments.filter { $0 != "--spread-apps" },
      environment: environment(name))
  }

  /// Waits until a node has ended by itself.
  func waitForEnd(_ name: String) throws -> Ending {
    let server = try node(name)
    nodes[name] = nil
    return try server.program.end()
  }

  /// Makes certificates of nodes as Docs/cluster.md says, of an authority that is made unless it is there.
  func makeCertificates(_ names: [String], authority: String = "nodes") throws {
    let new = "openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes"
    var script = """
      cd \(folder.path) && [ -e \(authority).pem ] ||
        \(new) -x509 -days 2 -subj "/CN=\(authority)" -keyout \(authority).key -out \(authority).pem

      """
    for name in names {
      script += """
        \(new) -subj "/CN=\(name)" -addext "subjectAltName=DNS:\(name)" -keyout \(name).key -out \(name).csr &&
          openssl x509 -req -in \(name).csr -CA \(authority).pem -CAkey \(authority).key -CAcreateserial -days 2 \
          -copy_extensions copy -out \(name).pem || exit 1

        """
    }
    guard system("{ \(script)} >/dev/null 2>&1") == 0 else {
      throw RunningProgram.Failure(description: "openssl makes no certificates")
    }
  }

  /// Has a node that was started with an authority of its own files believe in another one.
  func replaceAuthority(of name: String, by authority: String) throws {
    let (from, to) = ("\(folder.path)/\(authority).pem", "\(folder.path)/own-\(name).pem")
    guard system("cp \(from) \(to)") == 0 else {
      throw RunningProgram.Failure(description: "the authority is not replaced")
    }
  }

  /// The settings of a node with a certificate.
  func certificates(_ name: String, authority: String = "nodes") -> [String] {
    [
      "--node-ca", folder.path + "/\(authority).pem", "--node-certificate", folder.path + "/\(name).pem",
      "--node-key", folder.path + "/\(name).key",
    ]
  }

  /// A node that runs.
  func node(_ name: String) throws -> TestServer { try #require(nodes[name]) }

  /// Waits until a node can serve.
  func waitUntilReady(_ name: String) throws {
    let server = try node(name)
    let isReady = try RunningProgram.eventually { try server.call("GET", "/readyz").status == 200 }
    guard isReady else {
      throw RunningProgram.Failure(description: "\(name) is not ready: \(server.program.errors)")
    }
  }

  /// Kills a node, or ends it in another way; how it ended.
  @discardableResult
  func end(_ name: String, _ signal: Int32 = SIGKILL) throws -> Ending {
    let server = try node(name)
    nodes[name] = nil
    server.program.signal(signal)
    return try server.program.end()
  }

  /// Whether a node says that it is the home.
  func isHome(_ name: String) throws -> Bool {
    try node(name).call("GET", "/metrics").body.contains("\nborealis_node_is_home 1")
  }

  /// Of how many apps a node says that it is the home, where each app has one of its own; -1 if it says
  /// nothing of it.
  func apps(at name: String) throws -> Int {
    let lines = try node(name).call("GET", "/readyz").body.split(separator: "\n")
    return lines.first { $0.hasPrefix("home of ") }.flatMap { Int($0.split(separator: " ")[2]) } ?? -1
  }

  /// Waits until nodes are the homes of as many apps, and may be given more: as long as no node has told whom
  /// it reaches all may, and one that has not told while others have may not.
  func waitForApps(at counts: [String: Int]) throws {
    let isSo = try RunningProgram.eventually {
      let untold = try cluster.sql("SELECT name FROM node WHERE reaches IS NULL", in: database)
      return try untold.isEmpty
        && counts.allSatisfy { name, count in
          let page = try node(name).call("GET", "/metrics").body
          return try page.contains("\nborealis_node_may_be_home 1") && apps(at: name) == count
        }
    }
    guard !isSo else { return }
    let states = try counts.keys.sorted().map { name in
      try "\(name): \(node(name).call("GET", "/readyz").body) \(node(name).program.errors.suffix(2000))"
    }
    throw RunningProgram.Failure(description: "not the homes of \(counts): \(states)")
  }

  /// Waits until one of the nodes is the home; its name.
  func home() throws -> String {
    var found: String?
    _ = try RunningProgram.eventually {
      found = try nodes.keys.sorted().first { try isHome($0) }
      return found != nil
    }
    return try #require(found)
  }

  /// Makes an app beside the nodes.
  func makeApp(_ name: String = "test") throws -> TestServer.App {
    try TestServer.makeApp(name, data: data("commands"), environment: environment)
  }

  /// Pushes by way of a node; the ID of the push.
  func push(
    _ text: String, to audience: JSONValue = "all", as app: TestServer.App, at name: String
  ) throws -> String {
    let answer = try tryPush(text, to: audience, as: app, at: name)
    guard answer.status == 200, let id = answer.document?["msg_id"]?.string else {
      throw RunningProgram.Failure(description: "\(answer.status): \(answer.body)")
    }
    return id
  }

  /// The same, whatever the answer is.
  func tryPush(
    _ text: String, to audience: JSONValue = "all", as app: TestServer.App, at name: String
  ) throws -> HTTPCall {
    try node(name).call(
      "POST", "/v3/push", as: app,
      body: ["platform": "all", "audience": audience, "message": ["msg_content": .string(text)]])
  }

  /// How many devices have a push, as a node reports it.
  func delivered(_ id: String, as app: TestServer.App, at name: String) throws -> Int64? {
    try node(name).call("GET", "/v1/pushes/\(id)", as: app).document?["delivered"]?.int64
  }
}

extension TestDevice {
  /// Takes pushes and acknowledges them until one has come; the IDs in their order.
  func arrivals(until last: String) throws -> [String] {
    var ids: [String] = []
    while ids.last != last {
      let arrival = try arrival()
      try acknowledge(arrival)
      ids.append(arrival.id)
    }
    return ids
  }
}
