import PushBase

/// What the state machine wants done. Actions are carried out in order; when one that stores fails, the caller drops
/// the rest of the list and says so with `DeviceCore.storageFailed`.
public enum DeviceAction: Hashable, Sendable {
  /// Open a connection, after the one before it was closed.
  case connect(ServerAddress)
  /// Write bytes to the connection.
  case send([UInt8])
  /// Send what was written, then close the connection. No call about this connection may follow.
  case close
  /// Store the new registration durably before anything else is done with it.
  case storeIdentity(DeviceIdentity)
  /// Forget the stored registration: the server does not know it any more.
  case forgetIdentity
  /// Note that a push counts as handled without having been handed over.
  case noteHandled(MessageID)
  /// Make everything that was noted as handled durable: acknowledgements follow.
  case syncHandled
  /// Tell the app.
  case event(DeviceEvent)
}
