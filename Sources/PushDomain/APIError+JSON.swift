import PushBase
import PushJSON

extension APIError {
  /// The body of the answer: `{"error":{"code":1003,"message":"…"}}`. `msgID` stands beside it as a number,
  /// when the error came up after a push had got its number.
  public func json(msgID: MessageID? = nil) -> [UInt8] {
    var writer = JSONWriter(capacity: message.utf8.count + 64)
    writer.beginObject()
    if let msgID { writer.member("msg_id", msgID.rawValue) }
    writeMember(to: &writer)
    writer.endObject()
    return writer.bytes
  }

  /// Writes the member `error` of an object that is open.
  public func writeMember(to writer: inout JSONWriter) {
    writer.key("error")
    writer.beginObject()
    writer.member("code", code)
    writer.member("message", message)
    writer.endObject()
  }
}
