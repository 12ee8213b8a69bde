import PushBase
import PushDomain

/// A committed push on its way to channels.
public struct LivePush: Sendable {
  /// The app it belongs to.
  public let app: App
  /// Its ID, the same on every channel.
  public let id: MessageID
  /// What devices see of it.
  public let content: PushContent

  /// Makes a live push.
  public init(app: App, id: MessageID, content: PushContent) {
    self.app = app
    self.id = id
    self.content = content
  }
}

/// Why the router ends a device's connection.
public enum DisconnectReason: Sendable {
  /// The same registration logged in elsewhere.
  case replacedByLogin
  /// Another registration took this one's place.
  case registrationReplaced
  /// The operator turned the app off.
  case appDisabled
}

/// Acknowledgements of one connection that the database has now: a crash no longer makes the server send these pushes
/// again.
public struct StoredAcknowledgements: Sendable {
  /// The connection that they came on.
  public let location: Location
  /// How many they are.
  public let count: Int
}

/// A way to reach devices. The router calls it from the storage writer's thread, in commit order; it must only pass
/// the work on.
public protocol DeliveryChannel: AnyObject, Sendable {
  /// Delivers a push to one connected device.
  func deliver(_ push: LivePush, to number: RegistrationNumber, at location: Location)
  /// Delivers a push to all connected devices of a group push.
  func deliver(_ push: LivePush, group: GroupPush)
  /// Tells those of a push's audience who got it, and did not show it yet, to forget it.
  func recall(_ id: MessageID, app: App, audience: NumberSet)
  /// Tells connections that their acknowledgements are stored.
  func acknowledgementsStored(_ stored: [StoredAcknowledgements])
  /// Ends a connection.
  func disconnect(_ location: Location, _ reason: DisconnectReason)
}
