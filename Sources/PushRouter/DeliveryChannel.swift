import PushBase
import PushDomain
import PushStorage

/// A committed push on its way to channels.
public struct LivePush: Sendable {
  /// The app it belongs to.
  public let app: App
  /// Its ID, the same on every channel.
  public let id: MessageID
  /// What it is.
  public let push: StoredPush
  /// Whether newer ones may be on their way before it: Apple had it until now, or it is spread over some time.
  public let isLate: Bool

  /// Makes a live push.
  public init(app: App, id: MessageID, push: StoredPush, isLate: Bool = false) {
    self.app = app
    self.id = id
    self.push = push
    self.isLate = isLate
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

/// A push that Apple is to bring to some devices.
public struct APNsPush: Sendable {
  /// The app it belongs to.
  public let app: App
  /// Its ID.
  public let id: MessageID
  /// Who gets it, apart from the call.
  public let targets: Recipients
  /// Who gets its call.
  public let calls: Recipients
  /// What it is.
  public let push: StoredPush
  /// When it ends.
  public let expires: Timestamp
  /// When each device gets it, nil for at once.
  public let release: SteadyRelease?

  /// Makes a push.
  public init(
    app: App, id: MessageID, targets: Recipients, calls: Recipients = .few([]), push: StoredPush,
    expires: Timestamp, release: SteadyRelease? = nil
  ) {
    self.app = app
    self.id = id
    self.targets = targets
    self.calls = calls
    self.push = push
    self.expires = expires
    self.release = release
  }

  /// What Apple gets, and for whom: a notification for each kind of token.
  public var parts: [(notification: APNsNotification, targets: Recipients)] {
    push.content.apple.compactMap { notification in
      let targets = notification.slot.kind == .voip ? calls : targets
      return targets.isEmpty ? nil : (notification, targets)
    }
  }

  /// What the database holds, nil if it is unreadable or not for Apple. `spreadMinutes` is over how many minutes it is
  /// spread, nil for a push that is not, or not any more.
  public init?(_ row: PushRow, app: App, spreadMinutes: Int64? = nil) {
    guard let push = StoredPush(row) else { return nil }
    let calls = row.callTargets.flatMap { NumberSet(serialized: $0) } ?? NumberSet()
    self.init(
      app: app, id: row.id, targets: Recipients(push.apns ?? NumberSet()), calls: Recipients(calls),
      push: push, expires: row.expiresAt, release: SteadyRelease(row, minutes: spreadMinutes))
    guard !parts.isEmpty else { return nil }
  }
}

/// The way to Apple. Called from the storage writer's thread, in commit order; must only pass the work on.
public protocol APNsDelivery: AnyObject, Sendable {
  /// Takes a push that was committed. The database has it too: one for which there is no room may be read again later.
  func deliver(_ push: APNsPush)
  /// A push was taken back, or replaced: Apple gets no more of it. Returns for how many devices it still waited.
  func withdraw(_ id: MessageID, of app: App) -> Int
  /// Checks certificates that a developer uploaded and stores them, all or none. Called on a thread that may wait.
  func install(
    _ files: [CertificateFile], for app: App,
    reply: @escaping @Sendable (Result<Void, CertificateRefusal>) -> Void)
  /// An app was deleted: Apple gets nothing more for it.
  func forget(_ app: App)
  /// How the way to each of Apple's services stands for an app.
  func status(of app: App) -> [APNsServiceStatus]
}

/// How the way to one of Apple's services stands for an app.
public struct APNsServiceStatus: Sendable, Equatable {
  /// Which service.
  public var environment: APNsEnvironment
  /// What is wrong, for people; nil if pushes leave.
  public var problem: String?
  /// Whether the app has a credential for it at all.
  public var hasCredential: Bool
  /// Connections that take requests; other apps of the same team may use them as well.
  public var connections: Int
  /// Requests that have no answer yet, of all who use these connections.
  public var inFlight: Int
  /// Why the latest connection failed; nil if none has.
  public var lastFailure: String?

  /// All fields.
  public init(
    environment: APNsEnvironment, problem: String?, hasCredential: Bool, connections: Int = 0,
    inFlight: Int = 0, lastFailure: String? = nil
  ) {
    self.environment = environment
    self.problem = problem
    self.hasCredential = hasCredential
    self.connections = connections
    self.inFlight = inFlight
    self.lastFailure = lastFailure
  }
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
  /// An app was deleted: ends what connections it has left, and forgets it.
  func forget(_ app: AppID)
}
