import BorealisBase
import BorealisCrypto
import Core
import Glibc
import Storage
import Synchronization

/// How a node gets its place in a cluster. What is missing is waited for, in bounded time.
struct ClusterStart {
  private let configuration: ClusterConfiguration
  private let host: any HomeHost

  init(_ configuration: ClusterConfiguration, _ host: any HomeHost) {
    (self.configuration, self.host) = (configuration, host)
  }

  /// Milliseconds for the database, and nanoseconds for the bus and for a database that another node
  /// prepares.
  private static let databasePatience = 10_000
  private static let busPatience: UInt64 = 10_000_000_000
  private static let schemaPatience: UInt64 = 30_000_000_000

  /// Connects to the database, which gets this program's schema and names a secret key if it is new; checks
  /// this node's key.
  func registry() throws(NodeFailure) -> NodeRegistry {
    BlockingCall.assertAllowed()
    let registry: NodeRegistry
    do throws(StorageError) {
      registry = try NodeRegistry(host.database, patience: Self.databasePatience)
    } catch {
      throw host.failure(toOpen: error)
    }
    let deadline = SystemTime().monotonic() &+ Self.schemaPatience
    while try !isPrepared(registry) {
      if try prepare() { continue }
      guard SystemTime().monotonic() < deadline else {
        throw host.failure(toOpen: StorageError(.inUse, "another server uses the database"))
      }
      usleep(200_000)
    }
    let sealed: [[UInt8]]
    do throws(StorageError) { sealed = try registry.sealed() } catch {
      throw host.failure(toOpen: error)
    }
    try host.expectKeys(inUse: SealingKeys.ids(of: sealed))
    return registry
  }

  private func isPrepared(_ registry: NodeRegistry) throws(NodeFailure) -> Bool {
    do throws(StorageError) { return try registry.isPrepared() } catch {
      throw host.failure(toOpen: error)
    }
  }

  /// Gives the database this program's schema, as its server; false if another one uses it. `fence` is that
  /// of a dead one, which ends.
  private func prepare(replacing fence: Int64? = nil) throws(NodeFailure) -> Bool {
    var options = Store.Options()
    options.secretKeys = host.secretKeys
    options.patience = 0
    options.replaces = fence
    let store: Store
    do throws(StorageError) {
      store = try Store.open(host.database, readers: 1, log: configuration.log, options: options)
    } catch {
      guard error.kind == .inUse else { throw host.failure(toOpen: error) }
      return false
    }
    defer { store.close() }
    try host.expectKeys(of: store)
    return true
  }

  /// What looks after homes of apps, on a connection of its own; nil if one home has all apps.
  func homes(
    _ link: NodeLink, _ forwarder: RequestForwarder,
    view: @escaping @Sendable () -> (ClusterView, own: Int64)?, time: SystemTime
  ) throws(NodeFailure) -> NodeHomes? {
    guard configuration.node.spreadsApps else { return nil }
    let registry: NodeRegistry
    do throws(StorageError) {
      registry = try NodeRegistry(host.database, patience: Self.databasePatience)
    } catch {
      throw host.failure(toOpen: error)
    }
    return NodeHomes(
      registry: registry, link: link, forwarder: forwarder, view: view, time: time, log: configuration.log)
  }

  /// Opens the database as one of several homes, which has no app yet. `fence` is that of a server of all
  /// apps that is dead, which ends.
  func home(
    _ incarnation: Int64, at registry: NodeRegistry, replacing fence: Int64?, mayMigrate: Bool
  ) throws(NodeFailure) -> NodeHome {
    let isCurrent: Bool
    do throws(StorageError) {
      try registry.endDeadHomes(configuration.log)
      isCurrent = try registry.isCurrent()
    } catch {
      throw host.failure(toOpen: error)
    }
    var isPrepared = isCurrent
    if !isCurrent, mayMigrate { isPrepared = try prepare(replacing: fence) }
    guard isPrepared else {
      throw .failed("the database has an older schema, which other nodes use until they stop")
    }
    let slot: MessageSlot?
    do throws(StorageError) { slot = try registry.freeSlot() } catch {
      throw host.failure(toOpen: error)
    }
    guard let slot else { throw .failed("128 nodes are homes already") }
    let own = AssignedApps(home: incarnation, node: incarnation, slot: slot)
    let (store, _) = try host.open(replacing: fence, as: own)
    do throws(NodeFailure) {
      let router = try host.load(store, scope: .assigned(own))
      return NodeHome(own: own, store: store, router: router)
    } catch {
      store.close()
      throw error
    }
  }

  /// What keeps a node's place, and gives orders to its thread.
  func runner(
    _ registry: NodeRegistry, _ incarnation: Int64, _ reach: NodeReach, _ orders: ClusterOrders<ClusterOrder>
  ) -> MembershipRunner {
    MembershipRunner(
      registry, incarnation: incarnation, timing: configuration.timing, log: configuration.log,
      reaches: { reach.reached }
    ) { orders.add(.act($0)) }
  }

  /// Gets a place among the nodes.
  func register(at registry: NodeRegistry, _ time: SystemTime) throws(NodeFailure) -> Int64 {
    do throws(NodeRegistry.Problem) {
      return try registry.register(configuration.row, at: time.now(), clock: MembershipRunner.clock)
    } catch {
      switch error {
      case .storage(let error): throw .failed("cannot join the cluster: \(error.message)")
      case .nameInUse(let address):
        throw .setting(
          "--node-name: the node at \(address) is called \(configuration.node.name), too; each needs a name of its own"
        )
      case .otherCluster(let other):
        throw .setting("--cluster: the database belongs to the cluster \(other)")
      }
    }
  }

  /// Why a node of one home cannot be beside homes of some apps.
  static let dividedElsewhere =
    "--spread-apps: the other nodes give each app a home of its own; leave --spread-apps=false out"

  /// Refuses to follow one home where each app has one of its own.
  func expectOneHome(at registry: NodeRegistry) throws(NodeFailure) {
    let view: ClusterView?
    do throws(StorageError) { view = try registry.look() } catch {
      throw .failed("cannot join the cluster: \(error.message)")
    }
    guard view?.isDivided == true else { return }
    throw .setting(Self.dividedElsewhere)
  }

  /// Who a node is for the others; the cluster's name is one for the nodes of this database alone.
  func identity(_ incarnation: Int64, at registry: NodeRegistry) throws(NodeFailure) -> NodeIdentity {
    let database: String
    do throws(StorageError) { database = try registry.databaseID() } catch {
      throw .failed("cannot join the cluster: \(error.message)")
    }
    guard let cluster = configuration.node.cluster.inDatabase(database) else {
      throw .failed("cannot join the cluster: the account of the database has no key")
    }
    return NodeIdentity(
      cluster: cluster, incarnation: Incarnation(UInt64(incarnation)), name: configuration.node.name,
      address: configuration.node.address, program: configuration.node.program,
      deviceAddress: configuration.node.deviceAddress)
  }

  /// Connects to the bus. `beat` is called each second until that has succeeded.
  func link(
    _ identity: NodeIdentity, _ gateway: any DeviceGateway, _ sealing: FrameSealing, _ time: SystemTime,
    homeChanged: @escaping @Sendable () -> Void, beat: () -> Void
  ) throws(NodeFailure) -> NodeLink {
    let (bus, log) = (configuration.bus, configuration.log)
    if bus.isOpenToOthers {
      log.warning(
        "the bus has no TLS, or neither a password nor a certificate: whoever reaches NATS can disturb nodes")
    }
    let connected = Semaphore()
    let problem = Mutex("")
    let link: NodeLink
    do throws(SystemThread.Failure) {
      link = try NodeLink(
        identity, gateway: gateway, loops: configuration.loops, time: time,
        events: { event in
          switch event {
          case .bus(.connected): connected.signal()
          case .bus(.failed(let text)): problem.withLock { $0 = text }
          default: break
          }
          if case .app = event { homeChanged() }
          Self.note(event, log)
        },
        connect: { incarnation, wake throws(SystemThread.Failure) in
          SealedBus(
            try NATSBus(bus, cluster: identity.cluster, incarnation: incarnation, wake: wake), sealing)
        })
    } catch {
      throw .failed("cannot start a thread: \(error.number)")
    }
    let deadline = time.monotonic() &+ Self.busPatience
    while !connected.wait(until: min(deadline, time.monotonic() &+ 1_000_000_000)) {
      guard time.monotonic() >= deadline else {
        beat()
        continue
      }
      link.close()
      let reason = problem.withLock { $0 }
      let servers = bus.servers.joined(separator: ", ")
      throw .failed("cannot reach the bus at \(servers)\(reason.isEmpty ? "" : ": \(reason)")")
    }
    return link
  }

  private static func note(_ event: NodeEvent, _ log: Log) {
    switch event {
    case .home, .app: break
    case .joined(_, let hello): log.info("discovered node", ["node": .text(hello.name)])
    case .silent(_, let hello):
      log.warning("no messages from node on the bus", ["node": .text(hello?.name ?? "")])
    case .heard(_, let hello): log.info("node reachable again on the bus", ["node": .text(hello?.name ?? "")])
    case .incompatible(_, let hello):
      log.error(
        "node has no common cluster protocol version",
        ["node": .text(hello.name), "program": .text(hello.program)])
    case .newerTimeline(let timeline):
      log.info("PostgreSQL has a new timeline", ["timeline": .number(Int64(timeline))])
    case .foreign:
      log.error(
        "nodes of another database use the bus under the name of this cluster: change --cluster of one")
    case .recallsUnread:
      log.error("cannot read recalls of the previous home; some nodes may not apply them")
    case .bus(.connected): log.info("connected to the bus")
    case .bus(.disconnected): log.warning("disconnected from the bus")
    case .bus(.failed(let text)): log.warning("the bus reports an error", ["error": .text(text)])
    case .bus(.unsealed):
      log.error(
        "dropped a message on the bus that is not sealed with this installation's secret key",
        [
          "reason": .text(
            "another installation uses the same --cluster, a node has another secret key, or messages are forged"
          )
        ])
    case .bus(.overflowed(let count)):
      log.warning("messages of other nodes were dropped", ["count": .number(Int64(clamping: count))])
    }
  }
}
