import BorealisBase
import Model
import Storage
import Synchronization

/// Something that an app keeps under a name, for its pushes and schedules to use: a segment, a template, an
/// A/B test.
package protocol NamedThing: Sendable {
  /// How it is stored.
  associatedtype Row: Sendable, Equatable
  /// Why it was not kept.
  associatedtype Failure: NamedThingFailure

  /// Its number, by which pushes name it.
  var id: Int64 { get }
  /// What people call it.
  var name: String { get }
  /// Nil if what is stored cannot be read.
  init?(_ row: Row)
}

/// Why something was not kept under a name.
package protocol NamedThingFailure: Error {
  /// The app has none of the number.
  static func unknown(_ id: Int64) -> Self
  /// Another one of the app has the name.
  static var nameTaken: Self { get }
  /// The app has as many as it may.
  static var full: Self { get }
  /// It is in use: some of what uses it, and how many there are.
  static func inUse(_ uses: [NamedUse], count: Int) -> Self
  /// The database failed.
  static func storage(_ error: StorageError) -> Self
}

/// The segments, templates or A/B tests of apps.
package protocol NamedThings: Sendable {
  associatedtype Thing: NamedThing
  /// What has the name.
  associatedtype Content: Sendable

  /// Adds one. `entry` makes the audit log entry of the person who does so.
  func add(
    _ name: String, _ content: Content, to app: App,
    noting entry: @escaping @Sendable (Thing) -> AuditRow?,
    reply: @escaping @Sendable (Result<Thing, Thing.Failure>) -> Void)

  /// Changes name and content of one.
  func change(
    _ id: Int64, to name: String, _ content: Content, of app: App,
    noting entry: @escaping @Sendable (Thing) -> AuditRow?,
    reply: @escaping @Sendable (Result<Thing, Thing.Failure>) -> Void)

  /// Deletes one that is not in use.
  func delete(
    _ id: Int64, of app: App, noting entry: @escaping @Sendable (Thing) -> AuditRow?,
    reply: @escaping @Sendable (Result<Void, Thing.Failure>) -> Void)
}

/// Such things of an app in memory, where push objects that name one are read.
final class NamedTable<Thing: NamedThing>: Sendable {
  private let things = Mutex<[Int64: Thing]>([:])

  func find(_ id: Int64) -> Thing? { things.withLock { $0[id] } }

  /// All, by name.
  var all: [Thing] {
    things.withLock { Array($0.values) }.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
  }

  func set(_ thing: Thing) { things.withLock { $0[thing.id] = thing } }

  func remove(_ id: Int64) { things.withLock { $0[id] = nil } }

  /// Takes over what is stored.
  func load(_ rows: [Thing.Row]) {
    let all = Dictionary(rows.compactMap { Thing($0) }.map { ($0.id, $0) }) { $1 }
    things.withLock { $0 = all }
  }
}

/// The names of such things.
package enum ThingName {
  /// The longest, in bytes.
  package static let longest = 100

  /// Whether something may have a name.
  package static func isValid(_ text: String) -> Bool {
    (1...longest).contains(text.utf8.count) && text.isPlainLine
  }

  /// Removes and returns the member `name` of an object that an API got. 1003 if it is not a valid name.
  package static func remove(from object: inout JSONObject) throws(APIError) -> String {
    guard let name = object.remove("name")?.string, isValid(name) else {
      throw .invalidValue("name must be a string of 1 to \(longest) bytes without control characters")
    }
    return name
  }
}

extension Store {
  /// Stores something under a name, with the entry in the audit log that `entry` makes of it, and gives it as
  /// it is stored. `table` has those in memory, if they are there.
  func keep<Thing: NamedThing>(
    _ id: Int64, of app: AppID, in table: NamedTable<Thing>? = nil,
    noting entry: @escaping @Sendable (Thing) -> AuditRow?,
    reply: @escaping @Sendable (Result<Thing, Thing.Failure>) -> Void,
    _ body: @escaping @Sendable (WriteTransaction) throws(StorageError) -> NamedStorage<Thing.Row>
  ) {
    write(of: app) { transaction throws(StorageError) in
      let storage = try body(transaction)
      if case .stored(let row) = storage { try transaction.note(row, entry) }
      return storage
    } completion: { result in
      switch result {
      case .failure(let error): reply(.failure(.storage(error)))
      case .success(.stored(let row)):
        guard let thing = Thing(row) else {
          return reply(.failure(.storage(StorageError(.corrupt, "what was stored cannot be read"))))
        }
        table?.set(thing)
        reply(.success(thing))
      case .success(.nameTaken): reply(.failure(.nameTaken))
      case .success(.full): reply(.failure(.full))
      case .success(.unknown): reply(.failure(.unknown(id)))
      }
    }
  }

  /// Deletes something that was kept under a name, with an entry in the audit log.
  func remove<Thing: NamedThing>(
    _ id: Int64, of app: AppID, in table: NamedTable<Thing>? = nil,
    noting entry: @escaping @Sendable (Thing) -> AuditRow?,
    reply: @escaping @Sendable (Result<Void, Thing.Failure>) -> Void,
    _ body: @escaping @Sendable (WriteTransaction) throws(StorageError) -> NamedDeletion<Thing.Row>
  ) {
    write(of: app) { transaction throws(StorageError) in
      let deletion = try body(transaction)
      if case .deleted(let row) = deletion { try transaction.note(row, entry) }
      return deletion
    } completion: { result in
      switch result {
      case .failure(let error): reply(.failure(.storage(error)))
      case .success(.deleted):
        table?.remove(id)
        reply(.success(()))
      case .success(.unknown): reply(.failure(.unknown(id)))
      case .success(.inUse(let uses, let count)): reply(.failure(.inUse(uses, count: count)))
      }
    }
  }
}

extension WriteTransaction {
  /// Adds the entry in the audit log, if there is to be one.
  fileprivate func note<Thing: NamedThing>(
    _ row: Thing.Row, _ entry: (Thing) -> AuditRow?
  ) throws(StorageError) {
    if let entry = Thing(row).flatMap(entry) { try audit.add(entry) }
  }
}

extension [NamedUse] {
  /// Some of `count` uses, for a sentence.
  func text(count: Int) -> String {
    let named = map { use in
      switch use {
      case .schedule(let name): "the schedule '\(name)'"
      case .abTest(let name): "the A/B test '\(name)'"
      case .run: "its run"
      }
    }
    return named.joined(separator: ", ") + (count > self.count ? " and \(count - self.count) more" : "")
  }
}

extension ScheduleRow {
  /// Notes what its push names, so that it cannot be deleted meanwhile.
  mutating func name(_ push: ScheduledPush) {
    (segment, template, abTest) = (push.segment, push.template, push.abTest)
  }
}

extension ScheduledPush {
  /// Says which segment, template or A/B test it names that the app does not have; nil if the app has them.
  /// Those that it has cannot be deleted before the schedule is over.
  func missingThing(in app: AppID, _ transaction: WriteTransaction) throws(StorageError) -> String? {
    if let segment, try transaction.segments.find(segment, app: app) == nil {
      return "audience.segment: the app has no segment \(segment)"
    }
    if let template, try transaction.templates.find(template, app: app) == nil {
      return "template.id: the app has no template \(template)"
    }
    if let abTest, try transaction.abTests.find(abTest, app: app) == nil {
      return "audience.abtest: the app has no A/B test \(abTest)"
    }
    return nil
  }
}
