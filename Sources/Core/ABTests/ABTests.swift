import BorealisBase
import Model
import Storage

/// An A/B test: contents that are compared, under a name.
package struct ABTest: NamedThing, Equatable {
  package typealias Failure = ABTestFailure

  /// Its number, by which pushes name it.
  package let id: Int64
  /// What people call it.
  package let name: String
  /// What is compared among whom, and when the winner is chosen.
  package let design: ABTestDesign
  /// When it was made.
  package let createdAt: Timestamp
  /// When it was changed last.
  package let changedAt: Timestamp

  package init?(_ row: ABTestRow) {
    guard let design = ABTestDesign(recorded: row.body) else { return nil }
    (id, name, self.design) = (row.id, row.name, design)
    (createdAt, changedAt) = (row.createdAt, row.changedAt)
  }
}

/// Why an A/B test was not kept.
package enum ABTestFailure: NamedThingFailure {
  /// The app has no test of the number.
  case unknown(Int64)
  /// Another test of the app has the name.
  case nameTaken
  /// The app has as many as it may.
  case full
  /// It is in use: some of what uses it, and how many there are.
  case inUse([NamedUse], count: Int)
  /// The app has no segment of the number.
  case noSegment(Int64)
  /// It does not run.
  case notRunning
  /// The database failed.
  case storage(StorageError)

  /// The error for callers of the push API.
  package var apiError: APIError {
    switch self {
    case .unknown(let id): .invalidValue("The app has no A/B test \(id)")
    case .nameTaken: .invalidValue("name is used by another A/B test")
    case .full: .overLimit("The app has \(ABTests.most) A/B tests, and may not have more")
    case .inUse(let uses, let count):
      .invalidValue("The A/B test is in use by \(uses.text(count: count))")
    case .noSegment(let id): .invalidValue("audience.segment: the app has no segment \(id)")
    case .notRunning: .invalidValue("The A/B test does not run")
    case .storage(let error): error.apiError
    }
  }
}

/// The A/B tests of apps. They are in the memory of the app's home, and change there when the change is
/// stored. What runs goes on with the test as it was when it began.
package struct ABTests: NamedThings {
  /// How an answer comes.
  package typealias Reply<Value> = @Sendable (Result<Value, ABTestFailure>) -> Void

  /// The most tests of an app.
  package static let most = 100

  let store: Store
  let time: any TimeSource

  /// An app's tests, by name.
  package func list(of app: App) -> [ABTest] {
    app.abTests.all
  }

  /// A test of an app.
  package func find(_ id: Int64, of app: App) -> ABTest? { app.abTests.find(id) }

  /// Adds a test. `entry` makes the audit log entry of the person who does so.
  package func add(
    _ name: String, _ design: ABTestDesign, to app: App,
    noting entry: @escaping @Sendable (ABTest) -> AuditRow? = { _ in nil }, reply: @escaping Reply<ABTest>
  ) {
    let now = time.now()
    write(0, design, of: app, entry, reply) { transaction throws(StorageError) in
      try transaction.abTests.add(design.draft(name), app: app.id, limit: Self.most, at: now)
    }
  }

  /// Changes a test; pushes of schedules that are still to come use the new one, and need to be approved
  /// anew.
  package func change(
    _ id: Int64, to name: String, _ design: ABTestDesign, of app: App,
    noting entry: @escaping @Sendable (ABTest) -> AuditRow? = { _ in nil }, reply: @escaping Reply<ABTest>
  ) {
    let now = time.now()
    write(id, design, of: app, entry, reply) { transaction throws(StorageError) in
      let stored = try transaction.abTests.change(id, app: app.id, to: design.draft(name), at: now)
      if case .stored = stored { try transaction.schedules.forgetApprovals(ofABTest: id) }
      return stored
    }
  }

  /// Deletes a test that does not run and that no schedule will push to any more, and what is known of its
  /// runs.
  package func delete(
    _ id: Int64, of app: App, noting entry: @escaping @Sendable (ABTest) -> AuditRow? = { _ in nil },
    reply: @escaping Reply<Void>
  ) {
    let now = time.now()
    store.remove(id, of: app.id, in: app.abTests, noting: entry, reply: reply) {
      transaction throws(StorageError) in
      try transaction.abTests.delete(id, app: app.id, at: now)
    }
  }

  private func write(
    _ id: Int64, _ design: ABTestDesign, of app: App, _ entry: @escaping @Sendable (ABTest) -> AuditRow?,
    _ reply: @escaping Reply<ABTest>,
    _ body: @escaping @Sendable (WriteTransaction) throws(StorageError) -> NamedStorage<ABTestRow>
  ) {
    expectSegment(of: design, app) { fault in
      if let fault { return reply(.failure(fault)) }
      store.keep(id, of: app.id, in: app.abTests, noting: entry, reply: reply, body)
    }
  }

  /// Checks that the app has the segment that the audience names. One that is deleted right then the database
  /// refuses.
  private func expectSegment(
    of design: ABTestDesign, _ app: App, _ done: @escaping @Sendable (ABTestFailure?) -> Void
  ) {
    guard let segment = design.segment else { return done(nil) }
    store.read { transaction throws(StorageError) in
      try transaction.segments.find(segment, app: app.id) != nil
    } completion: { result in
      switch result {
      case .failure(let error): done(.storage(error))
      case .success(let isThere): done(isThere ? nil : .noSegment(segment))
      }
    }
  }
}

extension ABTestDesign {
  fileprivate func draft(_ name: String) -> ABTestRepository<Writing>.Draft {
    .init(name: name, body: stored, segment: segment)
  }
}
