/// What the answers of a channel's service mean: for whoever asks why a push did not arrive, and for reports
/// that group reasons.
package struct ChannelWords: Hashable, Sendable {
  /// The step that says whether the service accepted a push: the channel's own, or `WhyPoint.channel`, which
  /// names the channel.
  package let point: WhyPoint
  /// The service has not answered, and cannot be reached.
  let waiting, unreachable: WhyCause
  /// The push ended before the service accepted it.
  let notInTime: WhyCause
  /// The service rejected it for a reason that is not in `reasons`.
  let refused: WhyCause
  /// Why a device has no token any more, where the channel can say more than `TokenEnd`.
  let tokenEnds: [TokenEnd: WhyCause]
  /// The service's reasons, and those of `ChannelEnd` that the channel explains.
  private let reasons: [String: ChannelReason]

  /// The words of a channel. What is left out is said in the words that fit every channel.
  package init(
    point: WhyPoint = .channel, waiting: WhyCause = .channelWaiting,
    unreachable: WhyCause = .channelUnreachable, notInTime: WhyCause = .channelNotInTime,
    refused: WhyCause = .channelRefused,
    tokenEnds: [TokenEnd: WhyCause] = [:], reasons: [String: ChannelReason] = [:]
  ) {
    self.point = point
    self.waiting = waiting
    self.unreachable = unreachable
    self.notInTime = notInTime
    self.refused = refused
    self.tokenEnds = tokenEnds
    self.reasons = reasons
  }

  /// What a reason means why a push was not accepted.
  package func meaning(of reason: String) -> ChannelReason {
    if reason == ChannelEnd.notVerified { return ChannelReason(.credentialNotVerified, .credential) }
    return reasons[reason] ?? ReceiptReason(rawValue: reason)?.meaning ?? ChannelReason(refused, .other)
  }
}

/// What a reason of a channel's service means.
package struct ChannelReason: Hashable, Sendable {
  /// What is at fault.
  package enum Fault: Sendable {
    /// The device's token.
    case token
    /// What the app proves itself with.
    case credential
    /// The push is too large.
    case size
    /// There is too much to do, for the service or for the device.
    case overload
    /// The user, who has turned the app's notifications off.
    case notificationsOff
    /// The state of the device, or what it may get: another device would have got the push.
    case device
    /// Something else.
    case other
  }

  /// What it means.
  package let cause: WhyCause
  /// What is at fault.
  package let fault: Fault
  /// Whether it matters which of the channel's services was asked.
  let namesService: Bool

  package init(_ cause: WhyCause, _ fault: Fault, namesService: Bool = false) {
    self.cause = cause
    self.fault = fault
    self.namesService = namesService
  }
}
