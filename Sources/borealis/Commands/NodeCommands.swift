import BorealisBase
import Cluster
import Glibc
import Storage

struct NodeListCommand: Command {
  static let name = "node list"
  static let summary = "Lists the nodes of a cluster."
  static let details = """
    Prints a line of JSON for each node that is not known to be dead: name, address for other nodes, version, role, whether it
    is draining, and whether its sign of life has moved in the last two seconds. may_be_home is false for a node that too few
    others reach for requests, or that reaches too few; unreached has the nodes that it does not reach. Where each app has a
    home of its own, apps is of how many a node is the home, and installation whether of what belongs to no app as well. Nodes
    that were considered dead in the last week and have not started again follow, with last_seen_at. Changes nothing.
    """
  static let operands: [String] = []
  static let settings = DataFolder.settings

  static func run(_ input: Input) throws(Failure) {
    let cluster = try OperatedCluster(input)
    let view = try cluster.view()
    let beats = view.nodes.isEmpty ? [:] : try cluster.beatsLater()
    let apps = try cluster.shares()?.apps
    let reachability = Reachability(view.nodes)
    for node in view.nodes {
      let hasInstallation = node.incarnation == view.home?.incarnation
      var line = JSONObject()
      line.set("name", .string(node.name))
      line.set("address", .string(node.address))
      line.set("version", .string(node.version))
      line.set("role", hasInstallation || apps?[node.incarnation] != nil ? "home" : "gateway")
      line.set("draining", .bool(node.isDraining))
      line.set("alive", .bool(beats[node.incarnation].map { $0 != node.beat } ?? false))
      line.set("started_at", .string(Log.iso8601(node.startedAt.milliseconds)))
      line.set("may_be_home", .bool(reachability.homes.contains(node.incarnation)))
      let gaps = reachability.gaps(of: node.incarnation)
      let unreached = view.nodes.filter { gaps.doesNotReach.contains($0.incarnation) }
      line.set("unreached", .array(unreached.map { .string($0.name) }))
      if let apps {
        line.set("apps", .number(JSONNumber(Int64(apps[node.incarnation] ?? 0))))
        line.set("installation", .bool(hasInstallation))
      }
      Terminal.print(.object(line))
    }
    let names = Set(view.nodes.map(\.name))
    for node in try cluster.deadNodes() where !names.contains(node.name) {
      Terminal.print([
        "name": .string(node.name), "address": .string(node.address), "version": .string(node.version),
        "alive": false, "last_seen_at": .string(Log.iso8601(node.seenAt.milliseconds)),
      ])
    }
  }
}

struct NodeStatusCommand: Command {
  static let name = "node status"
  static let summary = "Says which node of a cluster is the home."
  static let details = """
    Prints a line of JSON: the name of the home, null if the node that was the home is gone; the epoch, which grows with each
    new home; the number of nodes; and whether a server holds the database. Exits with 1 if there is no home. Where each app has a
    home of its own, the home is that of what belongs to no app, and apps_without_home says how many apps have none: 1 if any.
    """
  static let operands: [String] = []
  static let settings = DataFolder.settings

  static func run(_ input: Input) throws(Failure) {
    let cluster = try OperatedCluster(input)
    let (view, shares) = (try cluster.view(), try cluster.shares())
    let home = view.nodes.first { $0.incarnation == view.home?.incarnation }
    var line = JSONObject()
    line.set("home", home.map { .string($0.name) } ?? .null)
    line.set("epoch", .number(JSONNumber(view.home?.epoch ?? 0)))
    line.set("nodes", .number(JSONNumber(Int64(view.nodes.count))))
    line.set("database_in_use", .bool(!view.isFree))
    if let shares { line.set("apps_without_home", .number(JSONNumber(Int64(shares.homeless)))) }
    Terminal.print(.object(line))
    guard home != nil, !view.isFree else { throw .failed("no node is the home") }
    guard shares?.homeless ?? 0 == 0 else { throw .failed("some apps have no home") }
  }
}

struct NodeDrainCommand: Command {
  static let name = "node drain"
  static let summary = "Lets a node of a cluster end, as SIGTERM does."
  static let details = """
    The node NAME notices that within two seconds. A home hands over to another node first; then the node tells its devices to
    reconnect and ends with status 0. A supervisor that restarts every server that ends, such as systemd with Restart=always,
    starts it again.
    """
  static let operands = ["NAME"]
  static let settings = DataFolder.settings

  static func run(_ input: Input) throws(Failure) {
    let name = input.operands[0]
    try OperatedCluster(input).drain(name)
    Terminal.print(["name": .string(name), "draining": .bool(true)])
  }
}

/// The cluster whose database a command is given.
private struct OperatedCluster {
  private let folder: DataFolder
  private let registry: NodeRegistry

  init(_ input: Input) throws(Failure) {
    folder = try DataFolder(input)
    guard !folder.holdsDatabase else {
      throw .usage("nodes share a database of PostgreSQL: give --store")
    }
    do throws(StorageError) { registry = try NodeRegistry(folder.location) } catch {
      throw DataFolder.failure("cannot reach \(folder.database)", error)
    }
  }

  func view() throws(Failure) -> ClusterView {
    let view: ClusterView?
    do throws(StorageError) { view = try registry.look() } catch {
      throw DataFolder.failure("cannot read \(folder.database)", error)
    }
    guard let view else { throw .failed("\(folder.database) has no nodes yet") }
    return view
  }

  func deadNodes() throws(Failure) -> [DeadNode] {
    do throws(StorageError) { return try registry.deadNodes() } catch {
      throw DataFolder.failure("cannot read \(folder.database)", error)
    }
  }

  /// How many apps each node has, and how many apps have no home; nil if one home has all.
  func shares() throws(Failure) -> (apps: [Int64: Int], homeless: Int)? {
    do throws(StorageError) { return try registry.shares() } catch {
      throw DataFolder.failure("cannot read \(folder.database)", error)
    }
  }

  /// The signs of life after a time in which each node that is alive gives at least one.
  func beatsLater() throws(Failure) -> [Int64: Int64] {
    usleep(2_000_000)
    return Dictionary(try view().nodes.map { ($0.incarnation, $0.beat) }, uniquingKeysWith: { $1 })
  }

  func drain(_ name: String) throws(Failure) {
    let isAsked: Bool
    do throws(StorageError) { isAsked = try registry.askToDrain(name) } catch {
      throw DataFolder.failure("cannot change \(folder.database)", error)
    }
    guard isAsked else { throw .failed("there is no node \"\(name)\"") }
  }
}
