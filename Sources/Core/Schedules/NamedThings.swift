import BorealisBase
import Model
import Storage

/// Something that an app keeps under a name, for its pushes and schedules to use: a segment, a template.
protocol NamedThing: Sendable {
  /// How it is stored.
  associatedtype Row: Sendable, Equatable
  /// Why it was not kept.
  associatedtype Failure: NamedThingFailure

  /// Nil if what is stored cannot be read.
  init?(_ row: Row)
}

/// Why something was not kept under a name.
protocol NamedThingFailure: Error {
  /// The app has none of the number.
  static func unknown(_ id: Int64) -> Self
  /// Another one of the app has the name.
  static var nameTaken: Self { get }
  /// The app has as many as it may.
  static var full: Self { get }
  /// These schedules will still use it: names of some, and how many there are.
  static func inUse(names: [String], count: Int) -> Self
  /// The database failed.
  static func storage(_ error: StorageError) -> Self
}

/// The names of such things.
package enum ThingName {
  /// The longest, in bytes.
  package static let longest = 100

  /// Whether something may have a name.
  package static func isValid(_ text: String) -> Bool {
    (1...longest).contains(text.utf8.count) && text.isPlainLine
  }
}

extension Store {
  /// Stores something under a name, with the entry in the audit log that `entry` makes of it, and gives it as
  /// it is stored.
  func keep<Thing: NamedThing>(
    _ id: Int64, of app: AppID, noting entry: @escaping @Sendable (Thing) -> AuditRow?,
    reply: @escaping @Sendable (Result<Thing, Thing.Failure>) -> Void,
    _ body: @escaping @Sendable (WriteTransaction) throws(StorageError) -> NamedStorage<Thing.Row>
  ) {
    write(of: app) { transaction throws(StorageError) in
      let storage = try body(transaction)
      if case .stored(let row) = storage, let entry = Thing(row).flatMap(entry) {
        try transaction.audit.add(entry)
      }
      return storage
    } completion: { result in
      switch result {
      case .failure(let error): reply(.failure(.storage(error)))
      case .success(.stored(let row)):
        let unreadable = Thing.Failure.storage(StorageError(.corrupt, "what was stored cannot be read"))
        reply(Thing(row).map { .success($0) } ?? .failure(unreadable))
      case .success(.nameTaken): reply(.failure(.nameTaken))
      case .success(.full): reply(.failure(.full))
      case .success(.unknown): reply(.failure(.unknown(id)))
      }
    }
  }

  /// Deletes something that was kept under a name, with an entry in the audit log.
  func remove<Thing: NamedThing>(
    _ id: Int64, of app: AppID, noting entry: @escaping @Sendable (Thing) -> AuditRow?,
    reply: @escaping @Sendable (Result<Void, Thing.Failure>) -> Void,
    _ body: @escaping @Sendable (WriteTransaction) throws(StorageError) -> NamedDeletion<Thing.Row>
  ) {
    write(of: app) { transaction throws(StorageError) in
      let deletion = try body(transaction)
      if case .deleted(let row) = deletion, let entry = Thing(row).flatMap(entry) {
        try transaction.audit.add(entry)
      }
      return deletion
    } completion: { result in
      switch result {
      case .failure(let error): reply(.failure(.storage(error)))
      case .success(.deleted): reply(.success(()))
      case .success(.unknown): reply(.failure(.unknown(id)))
      case .success(.inUse(let names, let count)): reply(.failure(.inUse(names: names, count: count)))
      }
    }
  }
}

extension ScheduledPush {
  /// Says which segment or template it names that the app does not have; nil if the app has them. Those that
  /// it has cannot be deleted before the schedule is over.
  func missingThing(in app: AppID, _ transaction: WriteTransaction) throws(StorageError) -> String? {
    if let segment, try transaction.segments.find(segment, app: app) == nil {
      return "audience.segment: the app has no segment \(segment)"
    }
    if let template, try transaction.templates.find(template, app: app) == nil {
      return "template.id: the app has no template \(template)"
    }
    return nil
  }
}
