import PushBase
import PushStorage

/// Push plans and devices for tests: lists of an app that its server keeps.
extension Router {
  /// The most push plans of an app.
  public static let maximumPlans = 1000

  /// Adds a push plan to an app.
  public func addPushPlan(
    _ name: String, description: String, to app: App,
    reply: @escaping @Sendable (Result<WriteTransaction.Addition, DeviceFailure>) -> Void
  ) {
    let now = time.now()
    store.write { transaction throws(StorageError) in
      try transaction.addPushPlan(
        app: app.id, name: name, description: description, limit: Self.maximumPlans, at: now)
    } completion: {
      reply($0.mapError { _ in .unavailable })
    }
  }

  /// Describes a push plan anew; false if the app has none of the name.
  public func describePushPlan(
    _ name: String, as description: String, of app: App,
    reply: @escaping @Sendable (Result<Bool, DeviceFailure>) -> Void
  ) {
    store.write { transaction throws(StorageError) in
      try transaction.describePushPlan(app: app.id, name: name, description: description)
    } completion: {
      reply($0.mapError { _ in .unavailable })
    }
  }

  /// A part of an app's push plans whose names contain a text, and how many there are in all.
  public func pushPlans(
    of app: App, containing text: String, limit: Int, offset: Int,
    reply: @escaping @Sendable (Result<(total: Int, rows: [PushPlanRow]), DeviceFailure>) -> Void
  ) {
    store.read { transaction throws(StorageError) in
      try transaction.pushPlans(app: app.id, containing: text, limit: limit, offset: offset)
    } completion: {
      reply($0.mapError { _ in .unavailable })
    }
  }

  /// Makes a registration of an app a device for tests.
  public func addTestDevice(
    _ registrationID: String, name: String, of app: App,
    reply: @escaping @Sendable (Result<WriteTransaction.Addition, DeviceFailure>) -> Void
  ) {
    let now = time.now()
    store.write { transaction throws(StorageError) in
      try transaction.addTestDevice(
        app: app.id, registrationID, name: name, limit: Self.maximumTestDevices, at: now)
    } completion: {
      reply($0.mapError { _ in .unavailable })
    }
  }

  /// Gives a device for tests another name; false if it is none.
  public func renameTestDevice(
    _ registrationID: String, to name: String, of app: App,
    reply: @escaping @Sendable (Result<Bool, DeviceFailure>) -> Void
  ) {
    store.write { transaction throws(StorageError) in
      try transaction.renameTestDevice(app: app.id, registrationID, name: name)
    } completion: {
      reply($0.mapError { _ in .unavailable })
    }
  }

  /// Makes a device for tests one like all others.
  public func removeTestDevice(
    _ registrationID: String, of app: App, reply: @escaping @Sendable (Result<Void, DeviceFailure>) -> Void
  ) {
    store.write { transaction throws(StorageError) in
      try transaction.removeTestDevice(app: app.id, registrationID)
    } completion: {
      reply($0.mapError { _ in .unavailable })
    }
  }

  /// A part of an app's devices for tests, by texts that name and registration ID contain, and how many there are in all.
  public func testDevices(
    of app: App, name: String, registrationID: String, limit: Int, offset: Int,
    reply: @escaping @Sendable (Result<(total: Int, rows: [TestDeviceRow]), DeviceFailure>) -> Void
  ) {
    store.read { transaction throws(StorageError) in
      try transaction.testDevices(
        app: app.id, name: name, registrationID: registrationID, limit: limit, offset: offset)
    } completion: {
      reply($0.mapError { _ in .unavailable })
    }
  }
}
