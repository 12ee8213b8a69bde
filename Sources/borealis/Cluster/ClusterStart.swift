import BorealisBase
import BorealisCrypto
import Cluster
import DeviceGateway
import Glibc
import Storage
import Synchronization

/// How a node gets its place in a cluster. What is missing is waited for, in bounded time.
enum ClusterStart {
  /// Milliseconds for the database, and nanoseconds for the bus and for a database that another node
  /// prepares.
  private static let databasePatience = 10_000
  private static let busPatience: UInt64 = 10_000_000_000
  private static let schemaPatience: UInt64 = 30_000_000_000

  /// Connects to the database, which gets this program's schema and names a secret key if it is new; checks
  /// this node's key.
  static func registry(_ settings: ServeSettings) throws(Failure) -> NodeRegistry {
    BlockingCall.assertAllowed()
    let registry: NodeRegistry
    do throws(StorageError) {
      registry = try NodeRegistry(settings.folder.location, patience: databasePatience)
    } catch {
      throw settings.folder.openFailure(error)
    }
    let deadline = SystemTime().monotonic() &+ schemaPatience
    while try !isPrepared(registry, settings) {
      if try prepare(settings) { continue }
      guard SystemTime().monotonic() < deadline else {
        throw settings.folder.openFailure(StorageError(.inUse, "another server uses the database"))
      }
      usleep(200_000)
    }
    let sealed: [[UInt8]]
    do throws(StorageError) { sealed = try registry.sealed() } catch {
      throw settings.folder.openFailure(error)
    }
    _ = try settings.secretKeyFile.read(inUse: SealingKeys.ids(of: sealed))
    return registry
  }

  private static func isPrepared(
    _ registry: NodeRegistry, _ settings: ServeSettings
  ) throws(Failure) -> Bool {
    do throws(StorageError) { return try registry.isPrepared() } catch {
      throw settings.folder.openFailure(error)
    }
  }

  /// Gives the database this program's schema, as its server; false if another one uses it. `fence` is that
  /// of a dead one, which ends.
  private static func prepare(
    _ settings: ServeSettings, replacing fence: Int64? = nil
  ) throws(Failure) -> Bool {
    var options = Store.Options()
    options.secretKeys = settings.secretKeyFile.source
    options.patience = 0
    options.replaces = fence
    let store: Store
    do throws(StorageError) {
      store = try Store.open(settings.folder.location, readers: 1, log: settings.log, options: options)
    } catch {
      guard error.kind == .inUse else { throw settings.folder.openFailure(error) }
      return false
    }
    defer { store.close() }
    try settings.secretKeyFile.expectKeys(of: store)
    return true
  }

  /// How long things take: nobody else sees by the server's lock that a node is gone if many hold it.
  static func timing(_ options: ClusterSettings) -> Membership.Timing {
    var timing = Membership.Timing()
    if options.spreadsApps { timing.lostAfter = NodeRegistry.lostAfter }
    return timing
  }

  /// What looks after homes of apps, on a connection of its own.
  static func homes(
    _ settings: ServeSettings, _ link: NodeLink, _ forwarder: RequestForwarder,
    view: @escaping @Sendable () -> (ClusterView, own: Int64)?, time: SystemTime
  ) throws(Failure) -> NodeHomes {
    let registry: NodeRegistry
    do throws(StorageError) {
      registry = try NodeRegistry(settings.folder.location, patience: databasePatience)
    } catch {
      throw settings.folder.openFailure(error)
    }
    return NodeHomes(
      registry: registry, link: link, forwarder: forwarder, view: view, time: time, log: settings.log)
  }

  /// Opens the database as one of several homes, which has no app yet. `fence` is that of a server of all
  /// apps that is dead, which ends.
  static func home(
    _ settings: ServeSettings, _ metrics: ServerMetrics, incarnation: Int64, at registry: NodeRegistry,
    replacing fence: Int64?, mayMigrate: Bool, time: SystemTime
  ) throws(Failure) -> NodeHome {
    let isCurrent: Bool
    do throws(StorageError) {
      try registry.endDeadHomes(settings.log)
      isCurrent = try registry.isCurrent()
    } catch {
      throw settings.folder.openFailure(error)
    }
    var isPrepared = isCurrent
    if !isCurrent, mayMigrate { isPrepared = try prepare(settings, replacing: fence) }
    guard isPrepared else {
      throw .failed("the database has an older schema, which other nodes use until they stop")
    }
    let slot: MessageSlot?
    do throws(StorageError) { slot = try registry.freeSlot() } catch {
      throw settings.folder.openFailure(error)
    }
    guard let slot else { throw .failed("128 nodes are homes already") }
    let own = AssignedApps(home: incarnation, node: incarnation, slot: slot)
    let (store, _) = try HomeService.openStore(
      settings, metrics, replacing: fence, patience: 0, home: own)
    do throws(Failure) {
      let router = try HomeService.load(settings, store, time, scope: .assigned(own))
      return NodeHome(own: own, store: store, router: router)
    } catch {
      store.close()
      throw error
    }
  }

  /// What keeps a node's place, and gives orders to its thread.
  static func runner(
    _ registry: NodeRegistry, _ incarnation: Int64, _ timing: Membership.Timing, _ reach: NodeReach,
    _ orders: ClusterOrders<ClusterOrder>, _ log: Log
  ) -> MembershipRunner {
    MembershipRunner(
      registry, incarnation: incarnation, timing: timing, log: log, reaches: { reach.reached }
    ) { orders.add(.act($0)) }
  }

  /// Gets a place among the nodes.
  static func register(
    _ node: NodeRegistry.Node, named name: String, at registry: NodeRegistry, _ time: SystemTime
  ) throws(Failure) -> Int64 {
    do throws(NodeRegistry.Problem) {
      return try registry.register(node, at: time.now(), clock: MembershipRunner.clock)
    } catch {
      switch error {
      case .storage(let error): throw .failed("cannot join the cluster: \(error.message)")
      case .nameInUse(let address):
        throw .usage(
          "--node-name: the node at \(address) is called \(name), too; each needs a name of its own")
      case .otherCluster(let other):
        throw .usage("--cluster: the database belongs to the cluster \(other)")
      }
    }
  }

  /// Why a node of one home cannot be beside homes of some apps.
  static let dividedElsewhere =
    "--spread-apps: the other nodes give each app a home of its own; leave --spread-apps=false out"

  /// Refuses to follow one home where each app has one of its own.
  static func expectOneHome(at registry: NodeRegistry) throws(Failure) {
    let view: ClusterView?
    do throws(StorageError) { view = try registry.look() } catch {
      throw .failed("cannot join the cluster: \(error.message)")
    }
    guard view?.isDivided == true else { return }
    throw .usage(dividedElsewhere)
  }

  /// The cluster's name for the nodes of this database alone.
  static func name(_ options: ClusterSettings, at registry: NodeRegistry) throws(Failure) -> ClusterName {
    do throws(StorageError) {
      guard let name = options.cluster.inDatabase(try registry.databaseID()) else {
        throw StorageError(.other, "the account of the database has no key")
      }
      return name
    } catch {
      throw .failed("cannot join the cluster: \(error.message)")
    }
  }

  /// Connects to the bus. `beat` is called each second until that has succeeded.
  static func link(
    _ options: ClusterSettings, _ cluster: ClusterName, _ incarnation: Int64, address: String,
    channel: PassthroughChannel, loops: Int, sealing: FrameSealing, time: SystemTime, log: Log,
    told: @escaping @Sendable () -> Void, beat: () -> Void
  ) throws(Failure) -> NodeLink {
    if options.bus.isOpenToOthers {
      log.warning(
        "the bus has no TLS, or neither a password nor a certificate: whoever reaches NATS can disturb nodes")
    }
    let connected = Semaphore()
    let problem = Mutex("")
    let link: NodeLink
    do throws(SystemThread.Failure) {
      link = try NodeLink(
        NodeIdentity(
          cluster: cluster, incarnation: Incarnation(UInt64(incarnation)), name: options.name,
          address: address, program: Program.version, deviceAddress: options.deviceAddress), gateway: channel,
        loops: loops, time: time,
        events: { event in
          switch event {
          case .bus(.connected): connected.signal()
          case .bus(.failed(let text)): problem.withLock { $0 = text }
          default: break
          }
          if case .app = event { told() }
          note(event, log)
        },
        connect: { incarnation, wake throws(SystemThread.Failure) in
          SealedBus(
            try NATSBus(options.bus, cluster: cluster, incarnation: incarnation, wake: wake), sealing)
        })
    } catch {
      throw .failed("cannot start a thread: \(error.number)")
    }
    let deadline = time.monotonic() &+ busPatience
    while !connected.wait(until: min(deadline, time.monotonic() &+ 1_000_000_000)) {
      guard time.monotonic() >= deadline else {
        beat()
        continue
      }
      link.close()
      let reason = problem.withLock { $0 }
      throw .failed(
        "cannot reach the bus at \(options.bus.servers.joined(separator: ", "))\(reason.isEmpty ? "" : ": \(reason)")"
      )
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
