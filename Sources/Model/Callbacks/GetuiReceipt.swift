import BorealisBase

/// A receipt in Getui's format: the outcome of a push at one device. Getui has no code for most outcomes:
/// these have no receipt.
package struct GetuiReceipt: Sendable, Equatable {
  /// The device: its registration ID, or the CID that it had at Getui.
  package var cid: String
  /// The push as our ID.
  package let messageID: String
  /// `200` done, `400` refused by the service of a channel.
  package let code: String
  /// The code in a word, or the service's reason.
  package let description: String
  /// Which step it is; nil if Getui has no number for it.
  package let action: String?
  /// When it happened, in Unix milliseconds.
  package let milliseconds: Int64
  /// What the push wants echoed.
  package let customCallback: String?

  /// A receipt that only tries the way: of no push.
  package init(ping id: String, at now: Timestamp) {
    (cid, messageID, code, description, action) = ("", id, "200", "ping", nil)
    (milliseconds, customCallback) = (now.milliseconds, nil)
  }

  /// The receipt of an event; nil for an event that Getui has none for.
  package init?(_ event: CallbackEvent) {
    self.init(
      type: event.type, push: event.push?.text, device: event.device?.text, platform: event.platform,
      channel: event.channel?.name, reason: event.reason, time: event.time.milliseconds, params: nil)
  }

  /// The receipt of an event as `CallbackEvent.write` has written it.
  package init?(_ event: JSONValue) {
    let type = event["type"]?.int64.flatMap { UInt8(exactly: $0) }
    self.init(
      type: CallbackTypes(rawValue: type ?? 0), push: event["msg_id"]?.string,
      device: event["registration_id"]?.string,
      platform: event["platform"]?.string.flatMap { Platform(name: $0) },
      channel: event["channel"]?.string, reason: event["reason"]?.string,
      time: event["time"]?.int64 ?? 0, params: event["params"])
  }

  private init?(
    type: CallbackTypes, push: String?, device: String?, platform: Platform?, channel: String?,
    reason: String?, time: Int64, params: JSONValue?
  ) {
    guard let push, let device else { return nil }
    switch type {
    case .delivered:
      // Acceptance by a vendor's service is no arrival, and Getui has no number for it.
      (code, description, action) = ("200", "ok", channel == ChannelInfo.passthrough.name ? "0" : nil)
    case .shown:
      (code, description, action) = ("200", "ok", platform == .ios ? "10009" : "10000")
    case .clicked:
      (code, description, action) = ("200", "ok", platform == .ios ? "10019" : "10010")
    case .notDelivered:
      guard let channel, channel != ChannelInfo.passthrough.name, let reason,
        !ChannelEnd.ours.contains(reason)
      else { return nil }
      (code, description, action) = ("400", reason, nil)
    default: return nil
    }
    (cid, messageID, milliseconds) = (device, push, time)
    customCallback = params?["custom_callback"]?.string
  }

  /// What is signed before the master secret: app, device, task and message.
  package func signed(app: AppKey, task: String) -> String { app.text + cid + task + messageID }

  /// Writes a line.
  package func write(app: AppKey, task: String, sign: String, to bytes: inout [UInt8]) {
    var writer = JSONWriter(capacity: 320)
    writer.beginObject()
    writer.member("appid", app.text)
    writer.member("cid", cid)
    writer.member("taskid", task)
    writer.member("msgid", messageID)
    writer.member("code", code)
    writer.member("desc", description)
    if let action { writer.member("actionId", action) }
    writer.member("recvtime", milliseconds)
    if let customCallback { writer.member("custom_callback", customCallback) }
    writer.member("sign", sign)
    writer.endObject()
    bytes += writer.bytes
    bytes.append(10)
  }
}
