import PushBase

/// Whether the user looks at the app. Raw values stand on the wire.
public enum AppState: UInt8, Sendable, CaseIterable {
  /// The app is not on the screen.
  case background = 0
  /// The app is on the screen.
  case foreground = 1
}

/// What a client says first.
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
  /// Which of Apple's services issued it; `none` takes the token away.
  public var environment: APNsEnvironment
  /// 0 to 100 bytes; empty takes the token away.
  public var bytes: [UInt8]

  /// Puts the two together.
  public init(_ environment: APNsEnvironment, _ bytes: [UInt8]) {
    self.environment = environment
    self.bytes = bytes
  }
}

/// An APNs token that is not the ordinary one.
public struct OtherToken: Hashable, Sendable {
  /// What it is for: calls, or Live Activities.
  public var slot: APNsTokenSlot
  /// The token, of up to 255 bytes; empty, or for no service, takes the stored one away.
  public var token: DeviceToken

  /// Puts the two together.
  public init(_ slot: APNsTokenSlot, _ token: DeviceToken) {
    self.slot = slot
    self.token = token
  }
}

/// The public key of a device.
public struct DeviceKey: Hashable, Sendable {
  /// Its kind.
  public var kind: DeviceKeyKind
  /// Its point, then 16 bytes that go into every content's key; no bytes take the stored one away.
  public var bytes: [UInt8]

  /// Puts the two together.
  public init(_ kind: DeviceKeyKind, _ bytes: [UInt8]) {
    self.kind = kind
    self.bytes = bytes
  }
}

/// Asks for a registration.
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

  /// Puts the fields together.
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
  /// Whether the user looks at the app.
  public var appState: AppState

  /// Puts the fields together.
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

/// What a client asks for within a session; each is answered by one RESULT.
public enum Operation: Hashable, Sendable {
  /// Binds an alias instead of the one there was.
  case setAlias(String)
  /// Releases the alias.
  case deleteAlias
  /// Asks for the alias.
  case getAlias
  /// Replaces all tags.
  case setTags([String])
  /// Adds tags.
  case addTags([String])
  /// Removes tags.
  case deleteTags([String])
  /// Removes all tags.
  case cleanTags
  /// Asks for all tags.
  case getTags
  /// Asks whether the device has a tag.
  case checkTag(String)
  /// Tells the badge number that the app shows.
  case setBadge(UInt32)
  /// Tells the APNs token.
  case setToken(DeviceToken)
  /// Tells a token for calls or Live Activities; from version 2 of the protocol on.
  case setOtherToken(OtherToken)
  /// Tells the device's public key, in place of the one before; from version 4 of the protocol on.
  case setKey(DeviceKey)
  /// Asks for a key that opens contents for many devices; from version 4 of the protocol on.
  case getKey(ContentKeyID)
  /// Tells whether the user looks at the app.
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
    case .appState: .appState
    case .logout: .logout
    }
  }

  /// The first protocol version that has it.
  public var version: UInt8 {
    switch self {
    case .setOtherToken: 2
    case .setKey, .getKey: 4
    default: 1
    }
  }
}

/// A frame that a client sends.
public enum ClientFrame: Hashable, Sendable {
  /// Asks for a PONG and keeps the connection open.
  case ping
  /// Opens the conversation.
  case hello(Hello)
  /// Asks for a registration.
  case register(RegisterRequest)
  /// Starts a session.
  case login(LoginRequest)
  /// Pushes that were processed; a view of the bytes it was decoded from.
  case acknowledge(AckList)
  /// Pushes that were processed, with how long ago each came: from version 3 on. A view of the bytes it was decoded from.
  case acknowledgeWithAges(AgedAckList)
  /// Pushes that were shown or tapped; a view of the bytes it was decoded from.
  case receipt(ReceiptList)
  /// An operation under a number that its RESULT repeats.
  case operation(sequence: UInt32, Operation)
}
