import BorealisBase
import BorealisCrypto
import Cluster
import Console
import Core
import HTTP
import Storage
import Synchronization

/// What a node of a cluster needs of this program: how it becomes a home, and serves what it has as one.
final class NodeHost: HomeHost {
  private let settings: ServeSettings
  private let metrics: Metrics
  private let serverMetrics: ServerMetrics
  private let time: SystemTime
  private let tracer: Tracer?
  private let ready: ReadyFlag
  private let server = Mutex<Server?>(nil)
  private let service = Mutex<HomeService?>(nil)

  init(
    _ settings: ServeSettings, _ metrics: Metrics, _ serverMetrics: ServerMetrics, _ time: SystemTime,
    _ tracer: Tracer?, ready: ReadyFlag
  ) {
    (self.settings, self.metrics, self.serverMetrics) = (settings, metrics, serverMetrics)
    (self.time, self.tracer, self.ready) = (time, tracer, ready)
  }

  /// Makes a server serve what this process has as a home. Before the node takes part.
  func attach(_ server: Server) { self.server.withLock { $0 = server } }

  var isReady: Bool { ready.value }

  var database: DatabaseLocation { settings.folder.location }

  var secretKeys: SecretKeySource { settings.secretKeyFile.source }

  func failure(toOpen error: StorageError) -> NodeFailure {
    NodeFailure(settings.folder.openFailure(error))
  }

  func expectKeys(inUse ids: Set<String>) throws(NodeFailure) {
    try attempt { () throws(Failure) in _ = try settings.secretKeyFile.read(inUse: ids) }
  }

  func expectKeys(of store: Store) throws(NodeFailure) {
    try attempt { () throws(Failure) in try settings.secretKeyFile.expectKeys(of: store) }
  }

  func frameSealing() throws(NodeFailure) -> FrameSealing {
    let file = settings.secretKeyFile
    let keys = try attempt { () throws(Failure) in FrameKeys(try file.read()) }
    return FrameSealing(keys, time: time) { (try? file.read()).map { FrameKeys($0) } }
  }

  func open(replacing fence: Int64?, as home: AssignedApps?) throws(NodeFailure) -> (Store, fence: Int64) {
    try attempt { () throws(Failure) in
      try HomeService.openStore(settings, serverMetrics, replacing: fence, patience: 0, home: home)
    }
  }

  func load(_ store: Store, scope: HomeScope) throws(NodeFailure) -> Router {
    try attempt { () throws(Failure) in
      try HomeService.load(settings, store, time, scope: scope, tracer: tracer)
    }
  }

  func start(_ store: Store, _ router: Router) throws(NodeFailure) {
    let new = try attempt { () throws(Failure) in
      let service = try HomeService(
        settings, store, router, loop: settings.loops, metrics: metrics, time: time,
        obstacle: { [self] in current?.cluster?.obstacle },
        server: serverMetrics.console { [self] in consoleNodes })
      try service.start()
      return service
    }
    service.withLock { $0 = new }
  }

  func serve() { if let (server, service) = both { server.open(service) } }

  func takeOverInstallation() {
    guard let (server, service) = both else { return }
    service.console.takeOverInstallation()
    server.logConsole(service)
  }

  func awaitLoops() { current?.performOnLoops { .reach(done: $0) } }

  private var current: Server? { server.withLock { $0 } }

  private var both: (Server, HomeService)? {
    guard let server = current, let service = service.withLock({ $0 }) else { return nil }
    return (server, service)
  }

  private var consoleNodes: [ConsoleNode] {
    current?.cluster.map { ConsoleNode.list(of: $0, connections: serverMetrics.deviceConnections.value) }
      ?? []
  }

  private func attempt<Value>(_ body: () throws(Failure) -> Value) throws(NodeFailure) -> Value {
    do throws(Failure) { return try body() } catch { throw NodeFailure(error) }
  }
}

extension NodeFailure {
  init(_ failure: Failure) { self.init(failure.message, isOfSetting: failure.status == 2) }
}

extension Failure {
  init(_ failure: NodeFailure) {
    self = failure.isOfSetting ? .usage(failure.message) : .failed(failure.message)
  }
}
