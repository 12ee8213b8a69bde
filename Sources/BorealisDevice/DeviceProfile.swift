import BorealisBase
import BorealisProtocol

/// The profile of a device; see Docs/protocol.md section 2 for the fields.
public struct DeviceProfile: Sendable {
  /// The app.
  public var appKey: AppKey
  /// What the device runs.
  public var platform: Platform
  /// The app's version, at most 255 bytes of UTF-8.
  public var appVersion: String
  /// The library's or the app's name for the server's logs, at most 255 bytes of UTF-8.
  public var clientName: String
  /// The heartbeat interval to request, in seconds; 0 lets the server choose.
  public var heartbeat: UInt16
  /// Whether the app starts in the foreground.
  public var appState: AppState
  /// The APNs token if it is known at the start.
  public var token: DeviceToken
  /// The registration ID that JPush issued to the install, or its CID at Getui, at most 58 bytes; nil if
  /// there was none. If it was imported, the first registration takes it over with its alias and tags.
  public var formerRegistrationID: String?
  /// The kind of key for end-to-end encryption; nil for no key: encrypted pushes then reach the app as they
  /// are, with their neutral text.
  public var keyKind: DeviceKeyKind?
  /// Facts about the device that the app may have asked for in the console; only those that the server asks
  /// for are sent. The version of the app is known already. Values of more than 64 bytes are not sent.
  public var facts: [DeviceFact: String]

  /// Makes a profile; only app key and platform have no default.
  public init(
    appKey: AppKey, platform: Platform, appVersion: String = "", clientName: String = "borealis-device/1",
    heartbeat: UInt16 = 0, appState: AppState = .background, token: DeviceToken = DeviceToken(.none, []),
    formerRegistrationID: String? = nil, keyKind: DeviceKeyKind? = nil, facts: [DeviceFact: String] = [:]
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
    self.facts = facts
  }
}

/// The registration that the server issued at REGISTER.
public struct DeviceIdentity: Hashable, Sendable {
  /// The registration ID.
  public let registrationID: RegistrationID
  /// Its password.
  public let secret: DeviceSecret

  /// Makes the value from its parts.
  public init(registrationID: RegistrationID, secret: DeviceSecret) {
    self.registrationID = registrationID
    self.secret = secret
  }
}
