import BorealisBase
import Storage
import Synchronization

/// Deletes registrations that nobody uses any more: anybody who has the app's key can make them, and apps are
/// removed from phones without a word. Memory says who was not there for long, and only of those the database
/// is asked, a bounded number a second for each app.
final class UnusedRegistrations: Sendable {
  private struct Walk: Sendable {
    var next = RegistrationNumber(0)
    /// When the next walk begins.
    var restsUntil = Timestamp(milliseconds: 0)
  }

  /// Numbers of an app that one step looks at.
  private static let step = 256
  /// Seconds between two walks over an app's registrations.
  private static let rest: Int64 = 3600

  private let registrations: Registrations
  private let newcomers: Int64?
  private let others: Int64?
  private let walks = Mutex<[AppID: Walk]>([:])

  /// With the options `newcomerSeconds` and `inactiveSeconds`.
  init(_ registrations: Registrations, _ options: RouterOptions) {
    self.registrations = registrations
    (newcomers, others) = (options.newcomerSeconds, options.inactiveSeconds)
  }

  /// Does a step for an app.
  func step(_ app: App, at now: Timestamp) {
    guard
      let times = UnusedTimes(
        newcomers: newcomers.map { now.adding(seconds: -$0) }, others: others.map { now.adding(seconds: -$0) }
      )
    else { return }
    let first = walks.withLock { walks -> RegistrationNumber? in
      let walk = walks[app.id] ?? Walk()
      return walk.restsUntil <= now ? walk.next : nil
    }
    guard let first else { return }
    let (numbers, next) = app.directory.unseen(from: first, looks: Self.step, since: times.latest)
    walks.withLock { walks in
      walks[app.id] =
        next.map { Walk(next: $0) } ?? Walk(restsUntil: now.adding(seconds: Self.rest))
    }
    if !numbers.isEmpty { registrations.deleteUnused(numbers, in: app, seenBefore: times, at: now) }
  }

  /// Forgets apps that this process has no more.
  func keep(_ apps: [App]) {
    walks.withLock { walks in
      guard walks.count > apps.count else { return }
      let known = Set(apps.map(\.id))
      walks = walks.filter { known.contains($0.key) }
    }
  }
}

extension AppDirectory {
  /// The registrations among the next `looks` numbers whose devices are not connected and were not since a
  /// time, and the number to go on with; nil behind the last.
  func unseen(
    from first: RegistrationNumber, looks: Int, since time: Timestamp
  ) -> (numbers: [RegistrationNumber], next: RegistrationNumber?) {
    state.withLock { state in
      let end = min(state.table.records.count, Int(first.rawValue) + looks)
      guard Int(first.rawValue) < end else { return ([], nil) }
      let numbers = (Int(first.rawValue)..<end).map { RegistrationNumber(UInt32($0)) }
      let isLast = end == state.table.records.count
      return (state.unseen(numbers, since: time), isLast ? nil : RegistrationNumber(UInt32(end)))
    }
  }

  /// Those of some registrations of which the same is true. Their devices cannot log in until `endDeletion`:
  /// a session that begins before the commit would lose its registration.
  func beginDeletion(
    of numbers: [RegistrationNumber], unseenSince time: Timestamp
  ) -> [RegistrationNumber] {
    state.withLock { state in
      let unseen = state.unseen(numbers, since: time)
      state.departing.formUnion(unseen)
      return unseen
    }
  }

  /// The registrations are deleted, or stay.
  func endDeletion(of numbers: [RegistrationNumber]) { state.withLock { $0.departing.subtract(numbers) } }
}

extension AppDirectory.State {
  fileprivate func unseen(_ numbers: [RegistrationNumber], since time: Timestamp) -> [RegistrationNumber] {
    numbers.filter { number in
      table.isActive(number) && !table.records[number.rawValue].isOnline
        && Int64(table.records[number.rawValue].lastSeen) < time.seconds
    }
  }
}
