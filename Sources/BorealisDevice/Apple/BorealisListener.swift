#if canImport(UIKit)
  import BorealisBase
  import Foundation
  import UserNotifications

  /// What an app learns of its pushes. All calls come on the main thread; all members have a default that
  /// does nothing.
  @MainActor
  public protocol BorealisListener: AnyObject {
    /// The server has issued a registration, which is stored already.
    func didRegister(_ registrationID: RegistrationID)

    /// A session has started; about this many pushes follow.
    func didConnect(pending: UInt32)

    /// The session, or an attempt, has ended. The next attempt follows after so many milliseconds; none if
    /// nil.
    func didDisconnect(_ reason: DisconnectReason, retryIn: UInt64?)

    /// A push over the connection, while the app is in the foreground. Return true when it is shown or
    /// stored: it is acknowledged then. Return false if that takes longer, and call `device.handled`
    /// afterwards.
    func didReceive(_ push: DevicePush) -> Bool

    /// The sender recalled a push. Its notification is removed already.
    func didRecall(_ messageID: MessageID)

    /// The user tapped a notification, or one of its actions, also if that started the app.
    func didOpen(_ notification: OpenedNotification)
  }

  extension BorealisListener {
    /// Does nothing.
    public func didRegister(_ registrationID: RegistrationID) {}

    /// Does nothing.
    public func didConnect(pending: UInt32) {}

    /// Does nothing.
    public func didDisconnect(_ reason: DisconnectReason, retryIn: UInt64?) {}

    /// Does nothing.
    public func didRecall(_ messageID: MessageID) {}

    /// Does nothing.
    public func didOpen(_ notification: OpenedNotification) {}
  }

  /// A notification of this server that the user has tapped.
  public struct OpenedNotification {
    /// The ID of its push.
    public let messageID: MessageID
    /// What the app server put beside the text: the push's `extras`.
    public let userInfo: [AnyHashable: Any]
    /// The action that the user chose; nil for a tap on the notification itself.
    public let action: String?
  }

  /// What connects an app to its server.
  public struct BorealisConfiguration: Sendable {
    /// The app's key, 24 hexadecimal digits.
    public var appKey: AppKey
    /// The device port of the server.
    public var server: ServerAddress
    /// How the connection is protected.
    public var security = TransportSecurity.tls(caFile: nil)
    /// The server's HTTP address, such as `https://push.example.com`, for the notification service
    /// extension.
    public var api: String?
    /// The App Group that the app shares with its notification service extension; nil without one.
    public var appGroup: String?
    /// The registration ID of JPush's library or the CID of Getui's, if the app had one; see
    /// `DeviceProfile`.
    public var formerRegistrationID: String?
    /// The kind of key for contents that only this device reads: x25519 or p256; nil for none.
    public var keyKind: DeviceKeyKind?
    /// Where the state file is; nil for the app's support folder.
    public var statePath: String?

    /// A configuration with the usual values; nil if the address or the key is not of its form.
    public init?(server: String, appKey: String) {
      guard let server = ServerAddress(server), let appKey = AppKey(appKey) else { return nil }
      (self.server, self.appKey) = (server, appKey)
    }
  }
#endif
