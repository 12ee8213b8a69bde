import BorealisBase
import Storage
import Synchronization

/// The answered calls of an app that are not stored yet. Calls that are alike are counted together, so that
/// their number does not matter; how many different ones there may be is limited for each kind.
final class PendingRequests: Sendable {
  fileprivate struct Times: Sendable {
    var first, last: Timestamp
    var count: Int
  }

  fileprivate struct Calls: Sendable {
    var times: [APICall: Times] = [:]
    var kinds: [Int] = APIRequestKind.allCases.map { _ in 0 }
    var oldest: Timestamp?
  }

  private let calls = Mutex(Calls())

  /// Different calls of a kind that may wait with all that is known of them.
  private static func most(_ kind: APIRequestKind) -> Int {
    switch kind {
    case .successful: 64
    case .refused: 128
    case .unauthenticated: 32
    }
  }
  /// More of them are counted together whatever their addresses and messages; of these too there is a limit.
  private static let mostTogether = 64

  /// Counts a call; false if there are too many others.
  func add(_ call: APICall, at now: Timestamp) -> Bool {
    calls.withLock { calls in
      if calls.count(call, at: now) { return true }
      let kind = Int(call.kind.rawValue)
      var call = call
      if calls.kinds[kind] >= Self.most(call.kind) {
        (call.address, call.message) = (nil, "")
        if calls.count(call, at: now) { return true }
        guard calls.kinds[kind] < Self.most(call.kind) + Self.mostTogether else { return false }
      }
      calls.kinds[kind] += 1
      calls.times[call] = Times(first: now, last: now, count: 1)
      if calls.oldest == nil { calls.oldest = now }
      return true
    }
  }

  /// Whether calls have waited since a moment.
  func haveWaited(since moment: Timestamp) -> Bool {
    calls.withLock { $0.oldest.map { $0 <= moment } ?? false }
  }

  /// Removes and returns all that wait, as rows in the order of time.
  func drain() -> [APIRequestRow] {
    let taken = calls.withLock { calls in
      defer { calls = Calls() }
      return calls.times
    }
    return taken.map {
      APIRequestRow($0.key, firstAt: $0.value.first, lastAt: $0.value.last, count: $0.value.count)
    }.sorted { $0.firstAt < $1.firstAt }
  }
}

extension PendingRequests.Calls {
  /// Counts a call that is like one before; false if there is none.
  fileprivate mutating func count(_ call: APICall, at now: Timestamp) -> Bool {
    guard let place = times.index(forKey: call) else { return false }
    times.values[place].last = now
    times.values[place].count += 1
    return true
  }
}
