import BorealisBase
import Core
import Model
import Storage

/// The texts of pushes that go to a share of their audience first.
extension Words {
  static let canary = Phrase("Canary", "灰度发送")
  static let canaryShare = Phrase("Share that gets it first, in percent", "先行发送的比例（%）")
  static let canaryShareHint = Phrase(
    "Leave it empty to send to everyone at once. The share must be at least 10 devices.",
    "留空则一次发送给全部设备；先行发送的设备不得少于 10 台。")
  static let canaryMinutes = Phrase("Minutes to wait before the rest", "发送给其余设备前等待（分钟）")
  static let canaryFailures = Phrase("Failures allowed, in percent", "允许的失败率（%）")
  static let canaryFailuresHint = Phrase(
    "If more fail, the push stops and the rest does not get it.", "超过该比例则停止，其余设备不会收到。")
  static let pushCanary = Phrase(
    "Canary: enter a share of 1 to 50 percent that is at least 10 devices, 1 to 1440 minutes within the time that the push is kept, and 0 to 50 percent of failures. It does not go with spreading the delivery or replacing a push.",
    "灰度发送：比例为 1 到 50，且不少于 10 台设备；等待 1 到 1440 分钟，且不超过离线保留时长；允许的失败率为 0 到 50。不能与定速推送或覆盖推送同时使用。")
  static let canaryPlan = Phrase(
    "{}% of the audience first; after {} the rest, unless more than {}% fail",
    "先发送给 {}% 的设备，{}后再发送给其余设备；失败率超过 {}% 则停止")
  static let canarySentTo = Phrase("Sent to", "已发送")
  static let canaryOf = Phrase("{} of {} devices", "{}/{} 台设备")
  static let canaryKnown = Phrase("Known so far", "已知结果")
  static let canaryKnownThen = Phrase("Known at the decision", "决定时的已知结果")
  static let canaryFigures = Phrase("{} delivered, {} failed, {} unknown", "送达 {}，失败 {}，未知 {}")
  static let canaryLimit = Phrase("Limit", "上限")
  static let canaryMost = Phrase("{}% failures", "失败率 {}%")
  static let canaryLookAt = Phrase("Decided at", "决定时间")
  static let canaryEndedAt = Phrase("Ended at", "结束时间")
  static let canaryReason = Phrase("Reason", "原因")
  static let canaryRestPush = Phrase("Push to the rest", "发送给其余设备的推送")
  static let canaryFirstPush = Phrase("Push to the share that got it first", "先行发送的推送")
  static let canaryWaiting = Phrase("The rest waits", "其余设备等待中")
  static let canarySent = Phrase("Sent to the rest", "已发送给其余设备")
  static let canaryReleasedState = Phrase("Sent to the rest by hand", "已手动发送给其余设备")
  static let canaryNobodyLeft = Phrase("Nobody of the rest was left", "没有其余设备可发送")
  static let canaryTooManyFailures = Phrase("Stopped: too many failures", "已停止：失败率过高")
  static let canaryTooLittleKnown = Phrase("Stopped: too little was known", "已停止：已知结果过少")
  static let canaryRecalled = Phrase("Stopped: the push was recalled", "已停止：推送已撤回")
  static let canaryStoppedState = Phrase("Stopped by hand", "已手动停止")
  static let canaryFailed = Phrase("The rest could not be sent", "发送给其余设备失败")
  static let canaryKept = Phrase(
    "Limits for a day or quiet hours keep the push from all of the rest.",
    "其余设备均受每日上限或免打扰时段限制。")
  static let canaryMissed = Phrase(
    "The server was not running at that time, or could not store the push.",
    "到点时服务器未运行，或无法存储该推送。")
  static let canaryRelease = Phrase("Send to the rest now", "立即发送给其余设备")
  static let canaryReleaseText = Phrase(
    "The rest of the audience gets the push now, whatever the canary shows.",
    "无论灰度结果如何，立即发送给其余设备。")
  static let canaryStop = Phrase("Stop", "停止")
  static let canaryStopText = Phrase(
    "The rest of the audience does not get the push. Devices that have it keep it.",
    "其余设备不会收到该推送；已收到的设备不受影响。")
  static let canaryReleased = Phrase("The push was sent to the rest.", "推送已发送给其余设备。")
  static let canaryStopped = Phrase("The push was stopped.", "推送已停止。")
  static let canaryOver = Phrase("The canary was already over.", "灰度发送已经结束。")
}

/// Names for how far a canary has come.
enum CanaryWords {
  /// With its color.
  static func state(_ state: CanaryRow.State) -> (phrase: Phrase, mark: StateMark) {
    switch state {
    case .waiting: (Words.canaryWaiting, .open)
    case .sent: (Words.canarySent, .done)
    case .released: (Words.canaryReleasedState, .done)
    case .nobodyLeft: (Words.canaryNobodyLeft, .over)
    case .tooManyFailures: (Words.canaryTooManyFailures, .failed)
    case .tooLittleKnown: (Words.canaryTooLittleKnown, .failed)
    case .recalled: (Words.canaryRecalled, .over)
    case .stopped: (Words.canaryStoppedState, .over)
    case .failed: (Words.canaryFailed, .failed)
    }
  }

  /// Why the rest could not be sent. Whom the push would go to is there: else that is an end of its own.
  static func reason(_ fault: APIError) -> Phrase {
    if fault.message.hasPrefix("Missed") { return Words.canaryMissed }
    return fault.code == APIError.noTarget.code ? Words.canaryKept : PushWords.phrase(fault)
  }

  /// What a push is going to do.
  static func plan(_ canary: Canary) -> Phrase {
    let seconds = Int(canary.wait)
    let time =
      seconds % 60 == 0
      ? Counted.counted(seconds / 60, Words.minutesOne, Words.minutesSeveral)
      : Words.secondsSeveral.with(Counted.grouped(seconds))
    return Words.canaryPlan.with(
      each: Phrase(verbatim: String(canary.share)), time, Phrase(verbatim: String(canary.maxFailures)))
  }
}
