import BorealisBase
import Storage

/// The push plans of apps: lists that their servers keep.
package struct PushPlans: Sendable {
  /// The most push plans of an app.
  package static let most = 1000

  let store: Store
  let time: any TimeSource

  /// Adds a push plan to an app.
  package func add(
    _ name: String, description: String, to app: App,
    reply: @escaping @Sendable (Result<Addition, DeviceFailure>) -> Void
  ) {
    let now = time.now()
    store.write(of: app.id) { transaction throws(StorageError) in
      try transaction.pushPlans.add(
        app: app.id, name: name, description: description, limit: Self.most, at: now)
    } completion: {
      reply($0.mapError { _ in .unavailable })
    }
  }

  /// Changes the description of a push plan; false if the app has no such plan.
  package func describe(
    _ name: String, as description: String, of app: App,
    reply: @escaping @Sendable (Result<Bool, DeviceFailure>) -> Void
  ) {
    store.write(of: app.id) { transaction throws(StorageError) in
      try transaction.pushPlans.describe(app: app.id, name: name, description: description)
    } completion: {
      reply($0.mapError { _ in .unavailable })
    }
  }

  /// A part of an app's push plans whose names contain a text, and how many there are in all.
  package func list(
    of app: App, containing text: String, limit: Int, offset: Int,
    reply: @escaping @Sendable (Result<(total: Int, rows: [PushPlanRow]), DeviceFailure>) -> Void
  ) {
    store.read { transaction throws(StorageError) in
      try transaction.pushPlans.list(app: app.id, containing: text, limit: limit, offset: offset)
    } completion: {
      reply($0.mapError { _ in .unavailable })
    }
  }
}
