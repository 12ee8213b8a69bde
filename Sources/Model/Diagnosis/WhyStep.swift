import BorealisBase

/// What has to hold for a push to arrive. The names are part of the API. Channels may have points of their
/// own.
package struct WhyPoint: Hashable, Sendable {
  /// Its name in the API.
  package let rawValue: String
  /// What is looked at.
  package let text: Phrase

  /// A point with its name in the API, and what is looked at.
  package init(_ rawValue: String, _ english: String, _ chinese: String) {
    self.rawValue = rawValue
    text = Phrase(english, chinese)
  }

  /// By name.
  package static func == (left: Self, right: Self) -> Bool { left.rawValue == right.rawValue }

  /// By name.
  package func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }
}

extension WhyPoint {
  /// The push was accepted.
  package static let accepted = WhyPoint("accepted", "Accepted by the server", "服务器已接收")
  /// The device has a registration.
  package static let device = WhyPoint("device", "The device is registered", "设备已注册")
  /// The push is for its platform.
  package static let platform = WhyPoint("platform", "The push is for its platform", "推送包含该平台")
  /// The device is in the audience.
  package static let audience = WhyPoint("audience", "The device is in the audience", "设备属于目标人群")
  /// The sender wants it to arrive.
  package static let sender = WhyPoint("sender", "The push was not recalled", "推送未被撤回或覆盖")
  /// It is the device's turn.
  package static let release = WhyPoint("release", "It is the device's turn", "已轮到该设备发送")
  /// The app can prove itself to the channel's service.
  package static let credential = WhyPoint("credential", "The app's credential", "应用的通道凭证")
  /// The device has a token of the channel.
  package static let token = WhyPoint("token", "The device's push token", "设备的推送 Token")
  /// The service of a channel without a step of its own accepted it.
  package static let channel = WhyPoint("channel", "Accepted by the channel's service", "厂商通道已接收")
  /// The device took it over the direct connection.
  package static let connection = WhyPoint(
    "connection", "Received by the device over the direct connection", "设备通过长连接接收")
  /// There was time enough.
  package static let lifetime = WhyPoint("lifetime", "Valid until", "有效期至")
  /// The user allows notifications.
  package static let permission = WhyPoint("permission", "Notifications are allowed", "系统通知权限")
  /// The user saw it.
  package static let shown = WhyPoint("shown", "Shown to the user", "已展示给用户")
  /// The callback to the app's server was sent.
  package static let callback = WhyPoint("callback", "Callback to your server", "已回调您的服务器")

  /// What is looked at before it matters what the service of a channel said, in order.
  package static let beforeChannels: [WhyPoint] = [
    .accepted, .device, .platform, .audience, .sender, .release, .credential, .token,
  ]
  /// What is looked at afterwards, in order.
  package static let afterChannels: [WhyPoint] = [
    .connection, .lifetime, .permission, .shown, .callback,
  ]
}

/// Whether something holds.
package enum WhyVerdict: String, CaseIterable, Sendable {
  /// It does.
  case ok
  /// It does not.
  case failed
  /// It does not yet.
  case waiting
  /// It was not recorded.
  case unknown
  /// It does not matter for this push and this device.
  case notApplicable = "not_applicable"
}

/// One step of a push to a device.
package struct WhyStep: Equatable, Sendable {
  /// What was looked at.
  package let point: WhyPoint
  /// Whether it holds.
  package let verdict: WhyVerdict
  /// When it was so, or became so; for what waits until a known moment, that moment.
  package let at: Timestamp?
  /// Why it does not hold, or what is to be said of it.
  package let cause: WhyCause?
  /// The subject of the cause, such as an alias or the reason of a channel's service.
  package let detail: String?

  package init(
    _ point: WhyPoint, _ verdict: WhyVerdict, at: Timestamp? = nil, _ cause: WhyCause? = nil,
    detail: String? = nil
  ) {
    self.point = point
    self.verdict = verdict
    self.at = at
    self.cause = cause
    self.detail = detail
  }

  /// Whether it is about what the service of a channel said.
  package var isOfChannel: Bool {
    !WhyPoint.beforeChannels.contains(point) && !WhyPoint.afterChannels.contains(point)
  }

  /// What to do about it.
  package var remedy: WhyRemedy? { cause?.remedy }
}

/// The conclusion of a diagnosis.
package enum WhyConclusion: String, CaseIterable, Sendable {
  /// The device confirmed it.
  case arrived
  /// A push service took it; it does not say whether the device has it.
  case handedOver = "handed_over"
  /// It may still arrive.
  case waiting
  /// It will not arrive.
  case failed
  /// The stored data does not show it.
  case unknown
}
