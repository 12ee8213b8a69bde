import BorealisBase

extension LogEntry {
  /// The entry as one line of JSON, without its end.
  func json() -> [UInt8] {
    var writer = JSONWriter(capacity: 768)
    writer.beginObject()
    writer.member("number", number)
    writer.member("time", Log.iso8601(time.milliseconds))
    writer.member("connection", connection)
    writer.member("stream", stream)
    writer.member("apns_id", Self.text(id))
    if let token { writer.member("token", Hex.encode(token.bytes)) }
    writer.key("headers")
    writeHeaders(&writer)
    writer.key("payload")
    writePayload(&writer)
    writer.member("accepted", isAccepted)
    if isAnswered {
      writer.member("status", verdict.status)
      if let reason = verdict.reason { writer.member("reason", reason) }
      if let timestamp = verdict.timestamp { writer.member("timestamp", timestamp) }
    }
    if let action { writer.member("script", action) }
    if !findings.isEmpty {
      writer.key("findings")
      writer.beginArray()
      for finding in findings { writer.value(finding.rawValue) }
      writer.endArray()
    }
    writer.endObject()
    return writer.bytes
  }

  private func writeHeaders(_ writer: inout JSONWriter) {
    writer.beginObject()
    // A duplicate field would make a duplicate key: the first one counts.
    for (index, field) in request.fields.enumerated() where field.name != .authorization {
      guard !request.fields[..<index].contains(where: { $0.name == field.name }) else { continue }
      writer.member(field.name.rawValue, Self.text(field.value))
    }
    for (index, field) in request.others.enumerated() {
      guard !request.others[..<index].contains(where: { $0.name == field.name }) else { continue }
      writer.member(field.name, Self.text(field.value))
    }
    writer.endObject()
  }

  /// JSON as JSON, but on one line; anything else as text.
  private func writePayload(_ writer: inout JSONWriter) {
    let isJSON = verdict.isAccepted || (try? parseJSON(request.body)) != nil
    guard isJSON else {
      writer.value(Self.text(request.body[...]))
      return
    }
    // Within strings JSON has no line ends.
    writer.raw(request.body.map { $0 == 10 || $0 == 13 ? 32 : $0 })
  }

  private static func text(_ bytes: HeaderValue) -> String { String(decoding: bytes, as: UTF8.self) }
}
