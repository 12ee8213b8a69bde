import BorealisBase
import Core
import Model
import Synchronization

/// Limits the calls about tags as Getui does: an app may set all tags of a CID once a day, and add a tag,
/// remove a tag and query the tags of a CID 100 times a minute and 10,000 times a day each. Days are those of
/// the server's time zone. The counts start at zero when the server starts.
final class TagRates: Sendable {
  /// The kinds of calls that are counted separately.
  enum Call: UInt8, Sendable {
    case add, remove, query
  }

  /// The most calls of each kind per minute.
  static let callsPerMinute = 100
  /// The most calls of each kind per day.
  static let callsPerDay = 10_000

  private struct Day: Sendable {
    var number: Int64
    var calls: [Call: Int] = [:]
    /// The CIDs whose tags were set.
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

  /// Counts a call; returns the error if the limit is reached.
  func consume(_ call: Call, of app: AppID, day: Int64, at nanoseconds: UInt64) -> GetuiError? {
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

  /// Counts a call that sets all tags of a CID; false if there was one today.
  func consumeSet(_ number: RegistrationNumber, of app: AppID, day: Int64) -> Bool {
    change(app, day, nil) { counts in
      guard !counts.day.set.contains(number) else { return false }
      counts.day.set.insert(number)
      return true
    }
  }

  /// Undoes `consumeSet` for a call that failed.
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
  /// 30011: the limit of calls per day is reached.
  static let tagsUsedUp = Self(code: 30011, httpStatus: 403, message: "The tag calls of the day are used up")
  /// 30012: the limit of changes per minute is reached.
  static let tagsLimited = Self(code: 30012, httpStatus: 403, message: "Too many tag calls in this minute")
  /// 30018: the limit of queries per minute is reached.
  static let queriesLimited = Self(code: 30018, httpStatus: 403, message: "Too many queries in this minute")
  /// 30005: the tag is too long.
  static func tagTooLong(_ name: String) -> Self {
    Self(
      code: 30005, httpStatus: 403,
      message: "\(name) is longer than \(NameRules.maximumGetuiTag) characters")
  }
}
