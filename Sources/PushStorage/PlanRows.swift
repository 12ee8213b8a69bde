import PushBase

/// A push plan: a name that pushes are counted under.
public struct PushPlanRow: Sendable, Equatable {
  /// Its name, unique within the app.
  public var name: String
  /// For people.
  public var description: String
  /// How many pushes have named it.
  public var pushCount: Int64
  /// When it was made.
  public var createdAt: Timestamp
  /// When a push last named it; nil if none has.
  public var lastUsedAt: Timestamp?
}

/// A device that pushes for tests may go to.
public struct TestDeviceRow: Sendable, Equatable {
  /// Which device.
  public var registrationID: String
  /// For people.
  public var name: String
  /// When it was added.
  public var createdAt: Timestamp
}
