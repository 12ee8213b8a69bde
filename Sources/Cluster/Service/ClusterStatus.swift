import Storage
import Synchronization

/// Knows a service that is not there yet when pages need it.
final class ClusterStatus: Sendable {
  let service = Mutex<ClusterService?>(nil)

  var obstacle: String? {
    guard let service = service.withLock({ $0 }) else { return "starting" }
    return service.obstacle
  }

  /// What the database said last of the cluster, and which node this is; nil while it is none.
  var view: (ClusterView, own: Int64)? {
    guard let state = service.withLock({ $0 })?.currentState, state.rejoinsAt == nil else { return nil }
    let runner = state.runner
    return runner.view.map { ($0, own: runner.incarnation) }
  }

  var text: String { service.withLock { $0 }?.description ?? "" }
}
