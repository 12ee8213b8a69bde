import BorealisBase
import BorealisProtocol
import HTTP
import Model

/// What follows from bytes that a session has received.
enum SessionStep {
  case send(ServerFrame)
  /// A control frame of the WebSocket.
  case sendControl([UInt8])
  /// A text message of the autopush protocol.
  case sendText([UInt8])
  case register(RegisterRequest)
  case logIn(LoginRequest)
  case acknowledge(AckList)
  case acknowledgeWithAges(AgedAckList)
  case acknowledgePushes([MessageID])
  case note(ReceiptList)
  case perform(UInt32, Operation)
  case end(SessionFarewell)
}

/// How a session ends: its last frame if any, the recorded reason, and the code for a WebSocket.
struct SessionFarewell {
  let word: ServerFrame?
  let end: ConnectionEnd
  var code = WebSocketCloseCode.normal
  /// The device violated the protocol.
  var isFault = false
}

/// A session's decision about a push.
enum PushOffer: Equatable {
  /// It is sent now.
  case sent
  /// It is not sent now: it was sent before, or waits for its turn.
  case left
  /// There is no room: this session falls behind.
  case behind
}
