import BorealisBase

/// A forecast as it is kept with its push, in JSON.
extension PushForecast {
  /// Writes it; channels and legs by number, causes by name.
  package func encode() -> [UInt8] {
    var writer = JSONWriter(capacity: 512)
    writer.beginObject()
    writer.member("audience", audience)
    writer.member("reached", reached)
    writer.key("rows")
    writer.beginArray()
    for row in rows {
      writer.beginObject()
      writer.member("channel", row.leg.channel.rawValue)
      writer.member("leg", row.leg.number)
      writer.member("when", row.moment.rawValue)
      for (effect, count) in row.counts.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
        writer.member(effect.rawValue, count)
      }
      row.reasons.encode(to: &writer)
      writer.endObject()
    }
    writer.endArray()
    nothing.encode(to: &writer)
    writer.endObject()
    return writer.bytes
  }

  /// Reads what `encode` wrote; nil for anything else. Some channels have causes of their own; one that is
  /// not known has its name as its text.
  package init?(decoding bytes: [UInt8], of channels: [ChannelInfo] = []) {
    let known = WhyCause.general + WhyCause.ofForecast + channels.map(\.words.unreachable)
    guard let json = try? parseJSON(bytes), let audience = json["audience"]?.count,
      let reached = json["reached"]?.count, let rows = json["rows"]?.array,
      let nothing = [Reason](json["reasons"], known)
    else { return nil }
    let read = rows.compactMap { Row($0, known) }
    guard read.count == rows.count else { return nil }
    self.init(audience: audience, reached: reached, rows: read, nothing: nothing)
  }
}

extension PushForecast.Row {
  fileprivate init?(_ json: JSONValue, _ known: [WhyCause]) {
    guard let channel = json["channel"]?.int64.flatMap({ UInt8(exactly: $0) }),
      let leg = json["leg"]?.int64.flatMap({ UInt8(exactly: $0) }),
      let moment = json["when"]?.string.flatMap({ PushForecast.Moment(rawValue: $0) }),
      let reasons = [PushForecast.Reason](json["reasons"], known)
    else { return nil }
    self.init(DeliveryLeg(ChannelID(rawValue: channel), leg), moment)
    for effect in PushForecast.Effect.allCases {
      if let count = json[effect.rawValue]?.count { add(count, effect) }
    }
    for reason in reasons { explain(reason.devices, reason.cause) }
  }
}

extension [PushForecast.Reason] {
  fileprivate func encode(to writer: inout JSONWriter) {
    writer.key("reasons")
    writer.beginObject()
    for reason in self { writer.member(reason.cause.rawValue, reason.devices) }
    writer.endObject()
  }

  fileprivate init?(_ json: JSONValue?, _ known: [WhyCause]) {
    guard let members = json?.object?.members else { return nil }
    self = []
    for member in members {
      guard let count = member.value.count else { return nil }
      let cause = known.first { $0.rawValue == member.key }
      add(count, cause ?? WhyCause(member.key, .nothing, member.key, member.key))
    }
  }
}

extension JSONValue {
  fileprivate var count: Int? { int64.flatMap { Int(exactly: $0) }.flatMap { $0 >= 0 ? $0 : nil } }
}
