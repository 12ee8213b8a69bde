import BorealisBase

/// An event for an app server.
package struct CallbackEvent: Sendable, Equatable {
  /// Seconds for which the server tries to tell it.
  package static let lifetime: Int64 = 86_400

  /// What happened: a single bit, or none for an event that only tries the way.
  package var type: CallbackTypes
  /// When it happened.
  package var time: Timestamp
  /// Unique for each fact, and the same in each repetition.
  package var id: String
  /// The push that it is about, if it is about one.
  package var push: MessageID?
  /// The push's label.
  package var sendno: Int64 = 0
  /// The device, if the server still knows it.
  package var device: RegistrationID?
  /// What the device runs.
  package var platform: Platform?
  /// Which way it went.
  package var channel: ChannelInfo?
  /// Why a push does not arrive, or what is wrong.
  package var reason: String?
  /// The environment of a credential: `production`, `sandbox` or `both`.
  package var environment: String?
  /// When a credential ends.
  package var expiresAt: Timestamp?
  /// What the push wants echoed: a JSON object in UTF-8, empty for nothing.
  package var params: [UInt8] = []

  /// The most bytes of `params`, so that a full batch stays below 256 KiB.
  package static let paramsLimit = 2048

  /// An event that is about no push.
  package init(_ type: CallbackTypes, id: String, at time: Timestamp) {
    self.type = type
    self.id = id
    self.time = time
  }

  /// An event of a push for one device.
  package init(
    _ type: CallbackTypes, of push: MessageID, to number: RegistrationNumber, over channel: ChannelInfo?,
    at time: Timestamp
  ) {
    self.type = type
    self.push = push
    self.channel = channel
    self.time = time
    let way = channel.map { "-\($0.id.rawValue)" } ?? ""
    id = "\(Self.idStart(of: push, to: number))\(type.rawValue)\(way)"
  }

  /// The prefix of the IDs of all events of a push for one device.
  package static func idStart(of push: MessageID, to number: RegistrationNumber) -> String {
    "\(push.text)-\(String(number.rawValue, radix: 16))-"
  }

  /// Writes the event as an object.
  package func write(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("event_id", id)
    writer.member("type", type.rawValue)
    writer.member("event", type.name)
    if let push {
      writer.member("msg_id", push.text)
      writer.member("sendno", String(sendno))
    }
    if let device { writer.member("registration_id", device.text) }
    if let platform { writer.member("platform", platform.name) }
    if let channel { writer.member("channel", channel.name) }
    if let environment { writer.member("environment", environment) }
    if let expiresAt { writer.member("expires_at", expiresAt.milliseconds) }
    if let reason { writer.member("reason", reason) }
    writer.member("time", time.milliseconds)
    if !params.isEmpty {
      writer.key("params")
      writer.raw(params)
    }
    writer.endObject()
  }

  /// A body: a JSON array of events.
  package static func body(_ events: some Collection<CallbackEvent>) -> [UInt8] {
    var writer = JSONWriter(capacity: 32 + events.count * 224)
    writer.beginArray()
    for event in events { event.write(to: &writer) }
    writer.endArray()
    return writer.bytes
  }
}
