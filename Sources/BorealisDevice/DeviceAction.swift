import PushBase

/// What the state machine wants done. Actions are carried out in order.
public enum DeviceAction: Hashable, Sendable {
  /// Open a connection, after the one before it was closed.
  case connect(ServerAddress)
  /// Write bytes to the connection.
  case send([UInt8])
  /// Send what was written, then close the connection. No call about this connection may follow.
  case close
  /// Store the new registration durably before anything else is done with it. If that fails, the rest of the list is
  /// dropped and `DeviceCore.storageFailed` is called.
  case storeIdentity(DeviceIdentity)
  /// Forget the stored registration: the server does not know it any more. May fail: it is then refused once more.
  case forgetIdentity
  /// Store alias and tags. May fail: they are then missing after a new registration.
  case storeWishes(DeviceWishes)
  /// Note the push as in hand, then give it to the app. If the note fails, the app does not get it and
  /// `DeviceCore.storageFailed` is called with its message ID after the rest of the list.
  case deliver(DevicePush)
  /// Note that a push counts as handled without having been handed over. May fail.
  case noteHandled(MessageID)
  /// Tell the app.
  case event(DeviceEvent)
}
