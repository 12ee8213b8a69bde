import PushBase
import PushRouter
import Synchronization

/// How often tags may be changed (getui.md 3.2): all tags of a CID once a day; a tag of many CIDs, and the query of a CID's tags,
/// 100 times a minute and 10,000 times a day each. Days are those of the server's zone. Counts begin anew when the server starts.
final class TagRates: Sendable {
  /// What is counted by itself.
  enum Call: UInt8, Sendable {
    case add, remove, query
  }

  /// Calls of each kind in a minute.
  static let callsPerMinute = 100
  /// Calls of each kind in a day.
  static let callsPerDay = 10_000

  private struct Day: Sendable {
    var number: Int64
    var calls: [Call: Int] = [:]
    /// CIDs whose tags were set.
    var set = NumberSet()
  }

  private struct Minute: Sendable {
    var start: UInt64
    var calls: [Call: Int] = [:]
  }

  private struct Counts: Sendable {
    var day: Day
    var minute: Minute
  }

  private let apps = Mutex<[AppID: Counts]>([:])

  /// Counts a call; says why it may not be made.
  func take(_ call: Call, of app: AppID, day: Int64, at nanoseconds: UInt64) -> GetuiError? {
    change(app, day, nanoseconds) { counts in
      guard counts.minute.calls[call, default: 0] < Self.callsPerMinute else {
        return call == .query ? .queriesLimited : .tagsLimited
      }
      guard counts.day.calls[call, default: 0] < Self.callsPerDay else { return .tagsUsedUp }
      counts.minute.calls[call, default: 0] += 1
      counts.day.calls[call, default: 0] += 1
      return nil
    }
  }

  /// Counts that all tags of a CID are set; false if that was done today.
  func takeSet(_ number: RegistrationNumber, of app: AppID, day: Int64) -> Bool {
    change(app, day, nil) { counts in
      guard !counts.day.set.contains(number) else { return false }
      counts.day.set.insert(number)
      return true
    }
  }

  /// The tags of a CID were not set after all.
  func giveBackSet(_ number: RegistrationNumber, of app: AppID, day: Int64) {
    change(app, day, nil) { counts in _ = counts.day.set.remove(number) }
  }

  private func change<Answer>(
    _ app: AppID, _ day: Int64, _ nanoseconds: UInt64?, _ body: (inout Counts) -> Answer
  ) -> Answer {
    apps.withLock { apps in
      var counts = apps[app] ?? Counts(day: Day(number: day), minute: Minute(start: nanoseconds ?? 0))
      if counts.day.number != day { counts.day = Day(number: day) }
      if let nanoseconds, nanoseconds &- counts.minute.start >= 60_000_000_000 {
        counts.minute = Minute(start: nanoseconds)
      }
      let answer = body(&counts)
      apps[app] = counts
      return answer
    }
  }
}

extension GetuiError {
  /// 30011: the changes of tags of the day are used up.
  static let tagsUsedUp = Self(code: 30011, httpStatus: 403, message: "The tag calls of the day are used up")
  /// 30012: too many changes of tags in this minute.
  static let tagsLimited = Self(code: 30012, httpStatus: 403, message: "Too many tag calls in this minute")
  /// 30018: too many queries in this minute.
  static let queriesLimited = Self(code: 30018, httpStatus: 403, message: "Too many queries in this minute")
  /// 30005: the tag is too long.
  static let tagTooLong = Self(
    code: 30005, httpStatus: 403, message: "custom_tag is longer than 32 characters")
}
