import Synchronization

/// Knows a service that is not there yet when pages need it.
final class ClusterStatus: Sendable {
  let service = Mutex<ClusterService?>(nil)

  var obstacle: String? {
    guard let service = service.withLock({ $0 }) else { return "starting" }
    return service.obstacle
  }

  var text: String { service.withLock { $0 }?.description ?? "" }
}
