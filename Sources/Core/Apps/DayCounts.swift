import BorealisBase
import Model
import Storage
import Synchronization

extension CapsRow {
  /// The highest number that may be set.
  package static let highest = 100

  /// For the audit log.
  package var text: String { "normal \(normal), marketing \(marketing)" }

  /// How many of a class a device gets in a day; nil for any number.
  package subscript(pushClass: PushClass) -> Int? {
    let limit =
      switch pushClass {
      case .normal: normal
      case .marketing: marketing
      }
    return limit > 0 ? limit : nil
  }
}

/// How many notifications of each limited class each device of an app was to get on this day, by the clocks
/// of the server: a byte for each registration and class, up to two bytes a registration, and none for an app
/// without limits. After a restart they are read from the pushes of the day.
final class DayCounts: Sendable {
  private struct State: Sendable {
    /// Days since 1970-01-01.
    var day: Int64 = .min
    var columns: [PushClass: ChunkedArray<UInt8>] = [:]

    mutating func begin(_ day: Int64) {
      // A clock that is set back goes on with what was counted.
      guard day > self.day else { return }
      (self.day, columns) = (day, [:])
    }

    func count(of number: RegistrationNumber, _ pushClass: PushClass) -> Int {
      guard let column = columns[pushClass], Int(number.rawValue) < column.count else { return 0 }
      return Int(column[number.rawValue])
    }

    /// Whether a registration has had as many as it may.
    func isFull(_ number: RegistrationNumber, _ pushClass: PushClass, limit: Int) -> Bool {
      count(of: number, pushClass) >= limit
    }

    mutating func increase(_ number: RegistrationNumber, _ pushClass: PushClass, below limit: Int) -> Bool {
      columns[pushClass, default: ChunkedArray(blank: 0)].reach(number.rawValue)
      guard !isFull(number, pushClass, limit: limit) else { return false }
      columns[pushClass]?[number.rawValue] += 1
      return true
    }
  }

  private let state = Mutex(State())

  /// Registrations that are counted before others have their turn.
  private static let slice = 4096

  /// The day that is counted now, which begins if it has not: after a clock was set back it is a later one.
  func begin(_ day: Int64) -> Int64 {
    state.withLock { state in
      state.begin(day)
      return state.day
    }
  }

  /// Counts a push for those of some registrations that may still get one on a day; those that may not are
  /// the answer.
  func add(_ numbers: NumberSet, _ pushClass: PushClass, limit: Int, on day: Int64) -> NumberSet {
    var capped: [RegistrationNumber] = []
    walk(numbers) { state, number in
      state.begin(day)
      if !state.increase(number, pushClass, below: limit) { capped.append(number) }
    }
    return NumberSet(capped)
  }

  /// Those of some registrations that may not get a push on a day. Nothing is counted.
  func full(_ numbers: NumberSet, _ pushClass: PushClass, limit: Int, on day: Int64) -> NumberSet {
    var capped: [RegistrationNumber] = []
    walk(numbers) { state, number in
      state.begin(day)
      if state.isFull(number, pushClass, limit: limit) { capped.append(number) }
    }
    return NumberSet(capped)
  }

  /// Removes a push that was counted and not stored.
  func remove(_ numbers: NumberSet, _ pushClass: PushClass, on day: Int64) {
    walk(numbers) { state, number in
      guard state.day == day, state.count(of: number, pushClass) > 0 else { return }
      state.columns[pushClass]?[number.rawValue] -= 1
    }
  }

  /// Counts a push of a day again, after a restart.
  func load(_ numbers: NumberSet, _ pushClass: PushClass, on day: Int64) {
    walk(numbers) { state, number in
      state.begin(day)
      _ = state.increase(number, pushClass, below: Int(UInt8.max))
    }
  }

  private func walk(_ numbers: NumberSet, _ body: (inout State, RegistrationNumber) -> Void) {
    numbers.forEachSlice(of: Self.slice) { members in
      state.withLock { state in for number in members { body(&state, number) } }
    }
  }
}

/// For whom a push was counted, and for whom not.
struct CountedAudience: Sendable {
  let pushClass: PushClass
  let numbers: NumberSet
  /// Those that had as many as they may.
  let capped: NumberSet
  let limit: Int
  let day: Int64

  /// It without some who do not get the push after all, with those of them for whom it was counted.
  func giveBack(_ others: NumberSet) -> (kept: CountedAudience, taken: NumberSet) {
    let kept = CountedAudience(
      pushClass: pushClass, numbers: numbers.subtracting(others), capped: capped, limit: limit, day: day)
    return (kept, numbers.intersection(others))
  }

  /// Why the push is not sent if nobody is left.
  var refusal: APIError? {
    guard !capped.isEmpty else { return nil }
    let (devices, notifications) = (
      capped.count == 1 ? "1 device" : "\(capped.count) devices",
      limit == 1 ? "1 notification" : "\(limit) notifications"
    )
    return .noTarget.with(
      detail:
        "\(devices) would match, but \(notifications) of the class \(pushClass.rawValue) have been sent to "
        + "each today, as many as the app allows")
  }
}

extension Apps {
  /// Sets how many notifications of each class an app sends to a device in a day.
  package func setCaps(
    _ caps: CapsRow, of app: App, noting entry: AuditRow,
    done: @escaping @Sendable (Result<Void, AppFailure>) -> Void
  ) {
    set(
      \.caps, to: caps, of: app, noting: entry,
      { transaction throws(StorageError) in try transaction.apps.setCaps(app: app.id, caps) }, done: done)
  }
}
