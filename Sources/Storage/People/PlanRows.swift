import BorealisBase

/// A push plan: a name that pushes are counted under.
package struct PushPlanRow: Sendable, Equatable {
  /// Its name, unique within the app.
  package var name: String
  /// For people.
  package var description: String
  /// How many pushes have named it.
  package var pushCount: Int64
  /// When it was made.
  package var createdAt: Timestamp
  /// When a push last named it; nil if none has.
  package var lastUsedAt: Timestamp?
}

/// A device that pushes for tests may go to.
package struct TestDeviceRow: Sendable, Equatable {
  /// Which device.
  package var registrationID: String
  /// For people.
  package var name: String
  /// When it was added.
  package var createdAt: Timestamp
}
