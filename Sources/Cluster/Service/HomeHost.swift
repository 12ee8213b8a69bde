import Core
import Storage

/// The program that a node is part of: how it opens the database and serves what a home has.
package protocol HomeHost: Sendable {
  /// Whether it takes requests: it has started and is not about to end.
  var isReady: Bool { get }

  var database: DatabaseLocation { get }
  var secretKeys: SecretKeySource { get }

  /// What a failure to open the database, or to read it as a node, is called.
  func failure(toOpen error: StorageError) -> NodeFailure
  /// Fails if a key in use is missing in the file of secret keys. Without any, the file may be made.
  func expectKeys(inUse ids: Set<String>) throws(NodeFailure)
  /// The same with those that a database needs, which then names one.
  func expectKeys(of store: Store) throws(NodeFailure)
  /// What frames between nodes are sealed with.
  func frameSealing() throws(NodeFailure) -> FrameSealing

  /// Opens the database as its server, or as one of several homes; `fence` is that of a server that is dead,
  /// which ends.
  func open(replacing fence: Int64?, as home: AssignedApps?) throws(NodeFailure) -> (Store, fence: Int64)
  /// Reads the database into memory.
  func load(_ store: Store, scope: HomeScope) throws(NodeFailure) -> Router
  /// Starts what a process has as a home. Half of that cannot be taken back: after a failure the process can
  /// do its work no more.
  func start(_ store: Store, _ router: Router) throws(NodeFailure)
  /// Serves requests with what was started, and returns when they are served.
  func serve()
  /// Called when this process has taken over what belongs to no app.
  func takeOverInstallation()
  /// Waits until all event loops have seen what they were told.
  func awaitLoops()
}
