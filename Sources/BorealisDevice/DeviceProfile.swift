import PushBase
import PushWire

/// What a device says about itself; see Docs/protocol.md section 2 for the fields.
public struct DeviceProfile: Sendable {
  /// The app.
  public var appKey: AppKey
  /// What the device runs.
  public var platform: Platform
  /// The app's version, at most 255 bytes of UTF-8.
  public var appVersion: String
  /// The library's or the app's name for the server's logs, at most 255 bytes of UTF-8.
  public var clientName: String
  /// The heartbeat interval that the app would like, in seconds; 0 leaves it to the server.
  public var heartbeat: UInt16
  /// Whether the user looks at the app when it starts.
  public var appState: AppState
  /// The APNs token if it is known at the start.
  public var token: DeviceToken
  /// The registration ID that JPush gave the install, at most 58 bytes; nil if there was none. If it was imported and the
  /// operator lets devices name such IDs, the first registration takes it over with its alias and tags.
  public var formerRegistrationID: String?
  /// The kind of key for contents that only this device reads; nil for no key: enciphered pushes are then handed out as they
  /// come, with their neutral text.
  public var keyKind: DeviceKeyKind?

  /// A profile; only app key and platform have no default.
  public init(
    appKey: AppKey, platform: Platform, appVersion: String = "", clientName: String = "borealis-device/1",
    heartbeat: UInt16 = 0, appState: AppState = .background, token: DeviceToken = DeviceToken(.none, []),
    formerRegistrationID: String? = nil, keyKind: DeviceKeyKind? = nil
  ) {
    self.appKey = appKey
    self.platform = platform
    self.appVersion = appVersion
    self.clientName = clientName
    self.heartbeat = heartbeat
    self.appState = appState
    self.token = token
    self.formerRegistrationID = formerRegistrationID
    self.keyKind = keyKind
  }
}

/// What the server gave at REGISTER.
public struct DeviceIdentity: Hashable, Sendable {
  /// Names the install.
  public let registrationID: RegistrationID
  /// Its password.
  public let secret: DeviceSecret

  /// Puts the two together.
  public init(registrationID: RegistrationID, secret: DeviceSecret) {
    self.registrationID = registrationID
    self.secret = secret
  }
}
