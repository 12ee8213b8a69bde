import CLinux
import HTTP
import Synchronization

/// Gives the system back what many connections or large requests have left, which the allocator keeps
/// otherwise. To look for it takes time, so it has to be a good part of the whole. Safe to use from any
/// thread.
final class FreedMemory: Sendable {
  private struct Seen: Sendable {
    var seconds = 0
    var mostConnections = 0
  }

  /// What a connection over TLS leaves.
  private static let connectionBytes = 32 << 10
  private static let worthReturning = 16 << 20
  private static let interval = 10

  private let seen = Mutex(Seen())

  /// Looks once a second at how much there is.
  func look(connections: Int, http: HTTPMemory) {
    seen.withLock { seen in
      seen.seconds += 1
      seen.mostConnections = max(seen.mostConnections, connections)
      guard seen.seconds >= Self.interval else { return }
      let bytes = http.fallen() + (seen.mostConnections - connections) * Self.connectionBytes
      seen = Seen(mostConnections: connections)
      if bytes >= max(Self.worthReturning, Int(cl_resident_bytes()) / 8) { cl_return_memory() }
    }
  }
}
