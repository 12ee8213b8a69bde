import Glibc
import PushBase
import PushJSON
import PushOps
import PushStorage

struct NodeListCommand: Command {
  static let name = "node list"
  static let summary = "Lists the nodes of a cluster."
  static let details = """
    Prints a line of JSON for each node that is not known to be dead: name, address for other nodes, version, role, whether it
    is draining, and whether its sign of life has moved in the last two seconds. Changes nothing.
    """
  static let operands: [String] = []
  static let settings = DataFolder.settings

  static func run(_ input: Input) throws(Failure) {
    let cluster = try OperatedCluster(input)
    let view = try cluster.view()
    let beats = view.nodes.isEmpty ? [:] : try cluster.beatsLater()
    for node in view.nodes {
      Console.print([
        "name": .string(node.name), "address": .string(node.address), "version": .string(node.version),
        "role": .string(node.incarnation == view.home?.incarnation ? "home" : "gateway"),
        "draining": .bool(node.isDraining),
        "alive": .bool(beats[node.incarnation].map { $0 != node.beat } ?? false),
        "started_at": .string(Log.iso8601(node.startedAt.milliseconds)),
      ])
    }
  }
}

struct NodeStatusCommand: Command {
  static let name = "node status"
  static let summary = "Says which node of a cluster is the home."
  static let details = """
    Prints a line of JSON: the name of the home, null if the node that was the home is gone; the epoch, which grows with each
    new home; the number of nodes; and whether a server holds the database. Exits with 1 if there is no home.
    """
  static let operands: [String] = []
  static let settings = DataFolder.settings

  static func run(_ input: Input) throws(Failure) {
    let view = try OperatedCluster(input).view()
    let home = view.nodes.first { $0.incarnation == view.home?.incarnation }
    Console.print([
      "home": home.map { .string($0.name) } ?? .null,
      "epoch": .number(JSONNumber(view.home?.epoch ?? 0)),
      "nodes": .number(JSONNumber(Int64(view.nodes.count))), "database_in_use": .bool(!view.isFree),
    ])
    guard home != nil, !view.isFree else { throw .failed("no node is the home") }
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
    Console.print(["name": .string(name), "draining": .bool(true)])
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
