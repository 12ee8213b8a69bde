import PushBase

/// What has to hold for a push to arrive, in the order in which it is looked at.
public enum WhyPoint: String, CaseIterable, Sendable {
  /// The push was accepted.
  case accepted
  /// The device has a registration.
  case device
  /// The push is for its platform.
  case platform
  /// The device is in the audience.
  case audience
  /// The sender wants it to arrive.
  case sender
  /// It is the device's turn.
  case release
  /// The app can prove itself to the channel's service.
  case credential
  /// The device has a token of the channel.
  case token
  /// Apple took it.
  case apple
  /// The service of another channel accepted it. Only in a diagnosis with such a channel.
  case channel
  /// The device took it over the direct connection.
  case connection
  /// There was time enough.
  case lifetime
  /// The user allows notifications.
  case permission
  /// The user saw it.
  case shown
  /// The callback to the app's server was sent.
  case callback
}

/// Whether something holds.
public enum WhyVerdict: String, CaseIterable, Sendable {
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
public struct WhyStep: Equatable, Sendable {
  /// What was looked at.
  public let point: WhyPoint
  /// Whether it holds.
  public let verdict: WhyVerdict
  /// When it was so, or became so.
  public let at: Timestamp?
  /// Why it does not hold, or what is to be said of it.
  public let cause: WhyCause?
  /// The subject of the cause, such as an alias or the reason of APNs.
  public let detail: String?

  /// All fields.
  public init(
    _ point: WhyPoint, _ verdict: WhyVerdict, at: Timestamp? = nil, _ cause: WhyCause? = nil,
    detail: String? = nil
  ) {
    self.point = point
    self.verdict = verdict
    self.at = at
    self.cause = cause
    self.detail = detail
  }

  /// What to do about it.
  public var remedy: WhyRemedy? { cause?.remedy }
}

/// The conclusion of a diagnosis.
public enum WhyConclusion: String, CaseIterable, Sendable {
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
