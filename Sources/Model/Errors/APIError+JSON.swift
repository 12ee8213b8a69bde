import BorealisBase

extension APIError {
  /// The body of the answer: `{"error":{"code":1003,"message":"…"}}`. `msgID` is added as a number if the
  /// error occurred after a push had got its ID. `illegal` are the registration IDs that caused the error, if
  /// any, as `illegal_rids`.
  package func json(msgID: MessageID? = nil, illegal: [String] = []) -> [UInt8] {
    var writer = JSONWriter(capacity: message.utf8.count + 64)
    writer.beginObject()
    if let msgID { writer.member("msg_id", msgID.rawValue) }
    writeMember(to: &writer, illegal: illegal)
    writer.endObject()
    return writer.bytes
  }

  /// Writes the member `error` of an object that is open.
  package func writeMember(to writer: inout JSONWriter, illegal: [String] = []) {
    writer.key("error")
    writer.beginObject()
    writer.member("code", code)
    writer.member("message", message)
    if !illegal.isEmpty {
      writer.key("illegal_rids")
      writer.beginArray()
      for id in illegal { writer.value(id) }
      writer.endArray()
    }
    writer.endObject()
  }
}
