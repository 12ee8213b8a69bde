import BorealisBase

/// An action of the state machine. Actions are carried out in order.
public enum DeviceAction: Hashable, Sendable {
  /// Open a connection, after the previous one was closed.
  case connect(ServerAddress)
  /// Write bytes to the connection.
  case send([UInt8])
  /// Send written bytes, then close the connection. No call about this connection may follow.
  case close
  /// Store the new registration durably before it is used. If that fails, the rest of the list is dropped and
  /// `DeviceCore.storageFailed` is called.
  case storeIdentity(DeviceIdentity)
  /// Delete the stored registration, which the server no longer has. May fail: it is then refused once more.
  case forgetIdentity
  /// Store alias and tags. May fail: they are then missing after a new registration.
  case storeWishes(DeviceWishes)
  /// Record the push as in hand, then pass it to the app. If recording fails, the app does not get it and
  /// `DeviceCore.storageFailed` is called with its message ID after the rest of the list.
  case deliver(DevicePush)
  /// Record that a push counts as handled although the app did not get it. May fail.
  case noteHandled(MessageID)
  /// Send an event to the app.
  case event(DeviceEvent)
}
