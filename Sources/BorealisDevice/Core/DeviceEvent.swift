import BorealisBase
import BorealisProtocol

/// A push for the app.
public struct DevicePush: Hashable, Sendable {
  /// The ID of the push on every channel; needed to report that it was shown or tapped.
  public let messageID: MessageID
  /// Whether it was accepted while the device was offline. A hint for the display only.
  public let isOffline: Bool
  /// Whether an earlier run of the program had this push in hand when it ended: the app may have handled it
  /// already. False means that it certainly has not.
  public let isRedelivered: Bool
  /// On iOS, whether the app already had the notification of this push through APNs:
  /// `handleRemoteNotification` was called for it. The push's message is new; do not show its notification,
  /// if the content has one, again.
  public let notificationWasShown: Bool
  /// A JSON object in UTF-8, as in Docs/protocol.md section 3; encrypted parts are decrypted.
  public let content: [UInt8]
  /// The key that decrypted the content; nil if nothing was encrypted.
  public let keyID: ContentKeyID?

  /// Makes the value from its fields.
  public init(
    messageID: MessageID, isOffline: Bool, isRedelivered: Bool = false, notificationWasShown: Bool = false,
    content: [UInt8], keyID: ContentKeyID? = nil
  ) {
    self.messageID = messageID
    self.isOffline = isOffline
    self.isRedelivered = isRedelivered
    self.notificationWasShown = notificationWasShown
    self.content = content
    self.keyID = keyID
  }

  /// The same push for an app that had its notification through APNs.
  func afterNotification() -> DevicePush {
    DevicePush(
      messageID: messageID, isOffline: isOffline, isRedelivered: isRedelivered, notificationWasShown: true,
      content: content, keyID: keyID)
  }

  /// The same push, decrypted.
  func opened(_ content: [UInt8], by keyID: ContentKeyID) -> DevicePush {
    DevicePush(
      messageID: messageID, isOffline: isOffline, isRedelivered: isRedelivered,
      notificationWasShown: notificationWasShown, content: content, keyID: keyID)
  }
}

/// Why the connection ended, or an attempt failed.
public enum DisconnectReason: Hashable, Sendable {
  /// No connection could be made; the text, for people, says why.
  case connectFailed(String)
  /// The connection ended without a frame of the server; the text, for people, has details.
  case connectionLost(String)
  /// LOGIN was not answered in time.
  case loginTimeout
  /// A PING was not answered in time.
  case heartbeatTimeout
  /// The server violated the protocol.
  case protocolError
  /// The server ended the session.
  case goAway(CloseReason)
  /// The server refused the connection; the message is for people.
  case refused(ResultCode, message: String)
  /// The state file could not be written: a registration or a push was not accepted.
  case storageFailed
  /// The app asked for it.
  case stopped
}

/// How an operation ended: what JPush's callbacks give as result code, value and sequence number.
public struct OperationResult: Hashable, Sendable {
  /// The number that the operation got when it was submitted.
  public let sequence: UInt32
  /// The operation.
  public let operation: Operation
  /// `ok`, the server's code, or one that the library makes: 6002 without a response in time, 6012 when the
  /// device is stopped or logged out, 6011 when too many operations wait.
  public let code: ResultCode
  /// The result of a successful query, otherwise `none`.
  public let value: ResultPayload

  /// Makes the value from its fields.
  public init(sequence: UInt32, operation: Operation, code: ResultCode, value: ResultPayload = .none) {
    self.sequence = sequence
    self.operation = operation
    self.code = code
    self.value = value
  }
}

/// An event of the library for the app.
public enum DeviceEvent: Hashable, Sendable {
  /// The server has issued a new registration, which is stored already.
  case registered(RegistrationID)
  /// A session has started; about this many stored pushes follow.
  case loggedIn(pending: UInt32)
  /// The server asks for these facts, and for no others, in this session. Give those that are known to
  /// `setFacts`, and again when one changes; the library sends what the server does not know.
  case factsWanted(DeviceFactSet)
  /// The session, or an attempt, has ended. The next attempt follows after this many milliseconds; none when
  /// nil.
  case disconnected(DisconnectReason, retryIn: UInt64?)
  /// A push to show or process; the app calls `handled` afterwards.
  case push(DevicePush)
  /// A push, or the key for its content, came so late that another channel brings its notification, as its
  /// sender asked for: there is nothing to show or to handle.
  case leftToChannel(MessageID)
  /// The content of a push cannot be deciphered and never will be: 6040 the device's key is gone, or a
  /// shared one did not come while the push was kept, 6041 it is not of the
  /// coding's form, 6042 it was changed or made for another key. There is nothing to show or to handle.
  case unreadable(MessageID, key: ContentKeyID, code: ResultCode)
  /// Pushes wait for a key that is shared with other devices: 6040 the server does not have it yet, 6042 its
  /// copy is not for this device. The library keeps requesting it.
  case keyMissing(ContentKeyID, code: ResultCode)
  /// The sender recalled a push: remove its notification if it is shown.
  case recalled(MessageID)
  /// An operation has ended: one of the app's, or one with which the library set alias or tags again after a
  /// new registration.
  case operationResult(OperationResult)
}
