import BorealisBase
import Synchronization

/// Counts the requests of each device that cost a database write, over all of its connections. Shared by all
/// loops. It remembers a device for at most 20 seconds, in some 30 bytes.
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
    /// The hashes of the keys that started in these ten seconds, and in the ten before. A hash has 64 bits
    /// and a seed that nobody outside knows: two devices share a counter by accident only, once in billions
    /// of pairs.
    var counts: [Int: Count] = [:]
    var earlier: [Int: Count] = [:]
    var since: UInt32 = 0

    mutating func expire(at second: UInt32) {
      let age = OperationLimit.seconds(from: since, to: second)
      guard age >= OperationLimit.period else { return }
      earlier = age < 2 * OperationLimit.period ? counts : [:]
      counts = [:]
      since = second
    }
  }

  private static let period: Int32 = 10
  private let state = Mutex(State())

  init() {}

  /// Whether another request is allowed: `most` in ten seconds from the first. The second is that of a clock
  /// that all loops share.
  func consume(_ asker: Asker, most: UInt32, at second: UInt32) -> Bool {
    let key = asker.hashValue
    return state.withLock { state in
      state.expire(at: second)
      let known = state.counts[key] ?? state.earlier.removeValue(forKey: key)
      var count = known ?? Count(since: second, asked: 0)
      if Self.seconds(from: count.since, to: second) >= Self.period { count = Count(since: second, asked: 0) }
      defer { state.counts[key] = count }
      guard count.asked < most else { return false }
      count.asked += 1
      return true
    }
  }

  /// Forgets who asked long ago. Called about once a second.
  func expire(at second: UInt32) { state.withLock { $0.expire(at: second) } }

  /// Negative if another loop, which read the clock a little later, was here first.
  private static func seconds(from since: UInt32, to second: UInt32) -> Int32 {
    Int32(bitPattern: second &- since)
  }

  /// How many are remembered.
  var count: Int { state.withLock { $0.counts.count + $0.earlier.count } }
}
