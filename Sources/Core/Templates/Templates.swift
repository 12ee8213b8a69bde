import BorealisBase
import Model
import Storage

/// A template: what pushes say that name it, under a name.
package struct Template: NamedThing, Equatable {
  package typealias Failure = TemplateFailure

  /// Its number, by which pushes name it.
  package let id: Int64
  /// What people call it.
  package let name: String
  /// What it says.
  package let content: PushTemplate
  /// When it was made.
  package let createdAt: Timestamp
  /// When name or texts were changed last.
  package let changedAt: Timestamp

  package init?(_ row: TemplateRow) {
    guard let json = (try? parseJSON(row.body))?.object, let content = try? PushTemplate.parse(json) else {
      return nil
    }
    (id, name, self.content) = (row.id, row.name, content)
    (createdAt, changedAt) = (row.createdAt, row.changedAt)
  }
}

/// Why a template was not kept.
package enum TemplateFailure: NamedThingFailure {
  /// The app has no template of the number.
  case unknown(Int64)
  /// Another template of the app has the name.
  case nameTaken
  /// The app has as many as it may.
  case full
  /// It is in use: some of what uses it, and how many there are.
  case inUse([NamedUse], count: Int)
  /// The database failed.
  case storage(StorageError)

  /// The error for callers of the push API.
  package var apiError: APIError {
    switch self {
    case .unknown(let id): .invalidValue("The app has no template \(id)")
    case .nameTaken: .invalidValue("name is used by another template")
    case .full: .overLimit("The app has \(Templates.most) templates, and may not have more")
    case .inUse(let uses, let count):
      .invalidValue("The template is in use by \(uses.text(count: count))")
    case .storage(let error): error.apiError
    }
  }
}

extension App {
  /// What a template of it says; nil if it has none of the number.
  package func template(_ id: Int64) -> PushTemplate? { templates.find(id)?.content }

  /// Rules of push objects as they are for the app: what its plan allows, its templates and its A/B tests.
  package func pushRules(_ common: PushRules) -> PushRules {
    var rules = common.limited(to: plan.maxTimeToLive)
    rules.template = { [self] in template($0) }
    rules.abTest = { [self] in abTests.find($0)?.design }
    return rules
  }
}

/// The templates of apps. They are in the memory of the app's home, and change there when the change is
/// stored.
package struct Templates: NamedThings {
  /// How an answer comes.
  package typealias Reply<Value> = @Sendable (Result<Value, TemplateFailure>) -> Void

  /// The most templates of an app.
  package static let most = 100

  let store: Store
  let time: any TimeSource

  /// An app's templates, by name.
  package func list(of app: App) -> [Template] {
    app.templates.all
  }

  /// A template of an app.
  package func find(_ id: Int64, of app: App) -> Template? { app.templates.find(id) }

  /// Adds a template. `entry` makes the audit log entry of the person who does so.
  package func add(
    _ name: String, _ content: PushTemplate, to app: App,
    noting entry: @escaping @Sendable (Template) -> AuditRow? = { _ in nil },
    reply: @escaping Reply<Template>
  ) {
    let now = time.now()
    store.keep(0, of: app.id, in: app.templates, noting: entry, reply: reply) {
      transaction throws(StorageError) in
      try transaction.templates.add(
        app: app.id, name: name, body: JSONWriter.serialize(.object(content.json)), limit: Self.most, at: now)
    }
  }

  /// Changes name and texts of a template; pushes of schedules that are still to come say the new ones, and
  /// need to be approved anew.
  package func change(
    _ id: Int64, to name: String, _ content: PushTemplate, of app: App,
    noting entry: @escaping @Sendable (Template) -> AuditRow? = { _ in nil },
    reply: @escaping Reply<Template>
  ) {
    let now = time.now()
    store.keep(id, of: app.id, in: app.templates, noting: entry, reply: reply) {
      transaction throws(StorageError) in
      let stored = try transaction.templates.change(
        id, app: app.id, name: name, body: JSONWriter.serialize(.object(content.json)), at: now)
      if case .stored = stored { try transaction.schedules.forgetApprovals(ofTemplate: id) }
      return stored
    }
  }

  /// Deletes a template that no schedule will push with any more.
  package func delete(
    _ id: Int64, of app: App, noting entry: @escaping @Sendable (Template) -> AuditRow? = { _ in nil },
    reply: @escaping Reply<Void>
  ) {
    let now = time.now()
    store.remove(id, of: app.id, in: app.templates, noting: entry, reply: reply) {
      transaction throws(StorageError) in
      try transaction.templates.delete(id, app: app.id, at: now)
    }
  }
}
