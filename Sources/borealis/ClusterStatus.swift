import PushMembership
import PushStorage
import Synchronization

/// Knows a service that is not there yet when pages need it.
final class ClusterStatus: Sendable {
  let service = Mutex<ClusterService?>(nil)

  var obstacle: String? {
    guard let service = service.withLock({ $0 }) else { return "starting" }
    return service.obstacle
  }

  /// What the database said last of the cluster, and which node this is.
  var view: (ClusterView, own: Int64)? {
    guard let runner = service.withLock({ $0 })?.currentState.runner else { return nil }
    return runner.view.map { ($0, own: runner.incarnation) }
  }

  var text: String { service.withLock { $0 }?.description ?? "" }
}
