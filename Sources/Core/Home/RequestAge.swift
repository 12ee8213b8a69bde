import BorealisBase
import Model
import Synchronization

/// How long ago a device may have asked for something that its home carries out: whoever has waited longer
/// has been told to try again, and may have done so elsewhere since. Nanoseconds.
package enum RequestAge {
  package static let login: UInt64 = 5_000_000_000
  /// Of a registration or an operation.
  package static let request: UInt64 = 10_000_000_000
}

/// When devices asked for the sessions that they got lately: a LOGIN that was asked for earlier and comes
/// later, by another way, must not replace the newer session. Moments are those of the clock since boot.
struct RecentLogins: Sendable {
  /// Registrations that are remembered at most.
  private static let most = 262_144

  private struct Key: Hashable, Sendable {
    let app: AppID
    let number: RegistrationNumber
  }

  private var logins: [Key: (location: Location, askedAt: UInt64)] = [:]
  private var order = FIFO<(key: Key, askedAt: UInt64)>()

  /// A registration has a session, for which its device asked at a moment. Of two logins at once the one that
  /// was asked for later counts, whichever is noted first.
  mutating func note(
    _ app: AppID, _ number: RegistrationNumber, at location: Location, askedAt: UInt64, now: UInt64
  ) {
    let key = Key(app: app, number: number)
    if let known = logins[key], known.askedAt > askedAt { return }
    logins[key] = (location, askedAt)
    order.append((key, askedAt))
    // Older ones are void anyway.
    while let first = order.first,
      first.askedAt + 2 * RequestAge.login < now || logins.count > Self.most
    {
      _ = order.popFirst()
      if logins[first.key]?.askedAt == first.askedAt { logins[first.key] = nil }
    }
  }

  /// Whether the device of a session asked for it after a moment.
  func isNewer(
    _ location: Location, of app: AppID, _ number: RegistrationNumber, than askedAt: UInt64
  ) -> Bool {
    guard let known = logins[Key(app: app, number: number)] else { return false }
    return known.location == location && known.askedAt > askedAt
  }
}

/// Registrations that are being stored, by the connections that wait for them.
final class PendingRegistrations: Sendable {
  private let waiting = Mutex<Set<Location>>([])

  /// A connection waits for one.
  func begin(_ location: Location) { waiting.withLock { _ = $0.insert(location) } }

  /// A connection waits no longer, or has its answer.
  func end(_ location: Location) { waiting.withLock { _ = $0.remove(location) } }

  /// Whether a connection still waits.
  func contains(_ location: Location) -> Bool { waiting.withLock { $0.contains(location) } }
}
