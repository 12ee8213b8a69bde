import BorealisBase
import Storage

/// The devices for tests of apps: lists that their servers keep.
package struct TestDevices: Sendable {
  /// The most devices for tests of an app, as at JPush.
  package static let most = 1000

  let store: Store
  let time: any TimeSource

  /// Makes a registration of an app a device for tests.
  package func add(
    _ registrationID: String, name: String, of app: App,
    reply: @escaping @Sendable (Result<Addition, DeviceFailure>) -> Void
  ) {
    let now = time.now()
    store.write(of: app.id) { transaction throws(StorageError) in
      try transaction.testDevices.add(
        app: app.id, registrationID, name: name, limit: Self.most, at: now)
    } completion: {
      reply($0.mapError { _ in .unavailable })
    }
  }

  /// Gives a device for tests another name; false if it is none.
  package func rename(
    _ registrationID: String, to name: String, of app: App,
    reply: @escaping @Sendable (Result<Bool, DeviceFailure>) -> Void
  ) {
    store.write(of: app.id) { transaction throws(StorageError) in
      try transaction.testDevices.rename(app: app.id, registrationID, name: name)
    } completion: {
      reply($0.mapError { _ in .unavailable })
    }
  }

  /// Makes a device for tests one like all others.
  package func remove(
    _ registrationID: String, of app: App, reply: @escaping @Sendable (Result<Void, DeviceFailure>) -> Void
  ) {
    store.write(of: app.id) { transaction throws(StorageError) in
      try transaction.testDevices.remove(app: app.id, registrationID)
    } completion: {
      reply($0.mapError { _ in .unavailable })
    }
  }

  /// A part of an app's devices for tests, by texts that name and registration ID contain, and how many there
  /// are in all.
  package func list(
    of app: App, name: String, registrationID: String, limit: Int, offset: Int,
    reply: @escaping @Sendable (Result<(total: Int, rows: [TestDeviceRow]), DeviceFailure>) -> Void
  ) {
    store.read { transaction throws(StorageError) in
      try transaction.testDevices.list(
        app: app.id, name: name, registrationID: registrationID, limit: limit, offset: offset)
    } completion: {
      reply($0.mapError { _ in .unavailable })
    }
  }
}
