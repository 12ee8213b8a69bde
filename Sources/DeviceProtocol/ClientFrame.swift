import BorealisBase

/// Whether the app is in the foreground. The raw values are used on the wire.
public enum AppState: UInt8, Sendable, CaseIterable {
  /// The app is not on the screen.
  case background = 0
  /// The app is on the screen.
  case foreground = 1
}

/// The first frame of a client.
public struct Hello: Hashable, Sendable {
  /// The oldest protocol version it speaks, from 1.
  public var minVersion: UInt8
  /// The newest protocol version it speaks, not below `minVersion`.
  public var maxVersion: UInt8
  /// Its name and version for logs, at most 255 bytes of UTF-8.
  public var clientName: String

  /// Says hello, by default for the versions of this module.
  public init(
    minVersion: UInt8 = WireLimits.versions.lowerBound, maxVersion: UInt8 = WireLimits.versions.upperBound,
    clientName: String
  ) {
    self.minVersion = minVersion
    self.maxVersion = maxVersion
    self.clientName = clientName
  }
}

/// An APNs token with the service it belongs to.
public struct DeviceToken: Hashable, Sendable {
  /// The APNs environment that issued it; `none` removes the token.
  public var environment: APNsEnvironment
  /// 0 to 100 bytes; empty removes the token.
  public var bytes: [UInt8]

  /// Makes the value from its parts.
  public init(_ environment: APNsEnvironment, _ bytes: [UInt8]) {
    self.environment = environment
    self.bytes = bytes
  }
}

/// An APNs token that is not the ordinary one.
public struct OtherToken: Hashable, Sendable {
  /// What it is for: VoIP pushes, or Live Activities.
  public var slot: APNsTokenSlot
  /// The token, of up to 255 bytes; empty, or without an environment, removes the stored one.
  public var token: DeviceToken

  /// Makes the value from its parts.
  public init(_ slot: APNsTokenSlot, _ token: DeviceToken) {
    self.slot = slot
    self.token = token
  }
}

/// The public key of a device.
public struct DeviceKey: Hashable, Sendable {
  /// Its kind.
  public var kind: DeviceKeyKind
  /// Its point, then 16 bytes that go into the key of every content; empty removes the stored key.
  public var bytes: [UInt8]

  /// Makes the value from its parts.
  public init(_ kind: DeviceKeyKind, _ bytes: [UInt8]) {
    self.kind = kind
    self.bytes = bytes
  }
}

/// Requests a registration.
public struct RegisterRequest: Hashable, Sendable {
  /// The app.
  public var appKey: AppKey
  /// What the device runs.
  public var platform: Platform
  /// Names this install of the app: 1 to 64 bytes.
  public var fingerprint: [UInt8]
  /// The APNs token, if there is one already.
  public var token: DeviceToken
  /// The app's version, at most 255 bytes of UTF-8.
  public var appVersion: String

  /// Makes the value from its fields.
  public init(
    appKey: AppKey, platform: Platform, fingerprint: [UInt8], token: DeviceToken = DeviceToken(.none, []),
    appVersion: String
  ) {
    self.appKey = appKey
    self.platform = platform
    self.fingerprint = fingerprint
    self.token = token
    self.appVersion = appVersion
  }
}

/// Starts a session.
public struct LoginRequest: Hashable, Sendable {
  /// The app.
  public var appKey: AppKey
  /// The registration.
  public var registrationID: RegistrationID
  /// Its secret.
  public var secret: DeviceSecret
  /// The heartbeat interval that the client would like, in seconds; 0 leaves it to the server.
  public var heartbeat: UInt16
  /// Whether the app is in the foreground.
  public var appState: AppState

  /// Makes the value from its fields.
  public init(
    appKey: AppKey, registrationID: RegistrationID, secret: DeviceSecret, heartbeat: UInt16,
    appState: AppState
  ) {
    self.appKey = appKey
    self.registrationID = registrationID
    self.secret = secret
    self.heartbeat = heartbeat
    self.appState = appState
  }
}

/// The operations of a client within a session; each gets one RESULT.
public enum Operation: Hashable, Sendable {
  /// Sets the alias, replacing a previous one.
  case setAlias(String)
  /// Releases the alias.
  case deleteAlias
  /// Gets the alias.
  case getAlias
  /// Replaces all tags.
  case setTags([String])
  /// Adds tags.
  case addTags([String])
  /// Removes tags.
  case deleteTags([String])
  /// Removes all tags.
  case cleanTags
  /// Gets all tags.
  case getTags
  /// Checks whether the device has a tag.
  case checkTag(String)
  /// Reports the badge number that the app shows.
  case setBadge(UInt32)
  /// Reports the APNs token.
  case setToken(DeviceToken)
  /// Reports a token for VoIP pushes or Live Activities; since version 2 of the protocol.
  case setOtherToken(OtherToken)
  /// Sets the device's public key, replacing the previous one; since version 4 of the protocol.
  case setKey(DeviceKey)
  /// Gets a key for content that many devices decrypt; since version 4 of the protocol.
  case getKey(ContentKeyID)
  /// Reports a token of any channel; since version 5 of the protocol.
  case setChannelToken(ReportedToken)
  /// Reports facts about the device, one at least, in texts of at most 255 bytes; an empty one says that the
  /// device does not know. Since version 6 of the protocol.
  case setFacts([DeviceFact: String])
  /// Reports whether the app is in the foreground.
  case appState(AppState)
  /// Ends the session.
  case logout

  /// The type of the frame that carries it.
  public var type: FrameType {
    switch self {
    case .setAlias: .setAlias
    case .deleteAlias: .deleteAlias
    case .getAlias: .getAlias
    case .setTags: .setTags
    case .addTags: .addTags
    case .deleteTags: .deleteTags
    case .cleanTags: .cleanTags
    case .getTags: .getTags
    case .checkTag: .checkTag
    case .setBadge: .setBadge
    case .setToken: .setToken
    case .setOtherToken: .setOtherToken
    case .setKey: .setKey
    case .getKey: .getKey
    case .setChannelToken: .setChannelToken
    case .setFacts: .setFacts
    case .appState: .appState
    case .logout: .logout
    }
  }

  /// The first protocol version that has it.
  public var version: UInt8 {
    switch self {
    case .setOtherToken: 2
    case .setKey, .getKey: 4
    case .setChannelToken: 5
    case .setFacts: 6
    default: 1
    }
  }
}

/// A frame that a client sends.
public enum ClientFrame: Hashable, Sendable {
  /// Requests a PONG and keeps the connection open.
  case ping
  /// Opens the conversation.
  case hello(Hello)
  /// Requests a registration.
  case register(RegisterRequest)
  /// Starts a session.
  case login(LoginRequest)
  /// Pushes that were processed; a view of the bytes it was decoded from.
  case acknowledge(AckList)
  /// Pushes that were processed, and how long ago each arrived; since version 3. A view of the bytes it was
  /// decoded from.
  case acknowledgeWithAges(AgedAckList)
  /// Pushes that were shown or tapped; a view of the bytes it was decoded from.
  case receipt(ReceiptList)
  /// An operation and the number that its RESULT repeats.
  case operation(sequence: UInt32, Operation)
}
