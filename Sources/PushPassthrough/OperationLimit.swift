import PushBase
import Synchronization

/// Counts the requests of each device that cost a database write, over all of its connections. Shared by all loops. A
/// device is remembered for at most 20 seconds.
final class OperationLimit: Sendable {
  /// The key of a counter.
  enum Asker: Hashable, Sendable {
    /// Operations of a registration.
    case registration(AppID, RegistrationNumber)
    /// Registrations of one install of an app.
    case install(AppKey, fingerprint: [UInt8])
  }

  private struct Count {
    let since: UInt32
    var asked: UInt32
  }

  private struct State {
    /// The keys that started in these ten seconds, and in the ten before.
    var counts: [Asker: Count] = [:]
    var earlier: [Asker: Count] = [:]
    var since: UInt32 = 0
  }

  private static let period: Int32 = 10
  private let state = Mutex(State())

  init() {}

  /// Whether another request is allowed: `most` in ten seconds from the first. The second is that of a clock that all
  /// loops share.
  func take(_ asker: Asker, most: UInt32, at second: UInt32) -> Bool {
    state.withLock { state in
      let age = Self.seconds(from: state.since, to: second)
      if age >= Self.period {
        state.earlier = age < 2 * Self.period ? state.counts : [:]
        state.counts = [:]
        state.since = second
      }
      let known = state.counts[asker] ?? state.earlier.removeValue(forKey: asker)
      var count = known ?? Count(since: second, asked: 0)
      if Self.seconds(from: count.since, to: second) >= Self.period { count = Count(since: second, asked: 0) }
      defer { state.counts[asker] = count }
      guard count.asked < most else { return false }
      count.asked += 1
      return true
    }
  }

  /// Negative if another loop, which read the clock a little later, was here first.
  private static func seconds(from since: UInt32, to second: UInt32) -> Int32 {
    Int32(bitPattern: second &- since)
  }

  /// How many are remembered.
  var count: Int { state.withLock { $0.counts.count + $0.earlier.count } }
}
