/// A text of a diagnosis for people, in both languages.
public struct WhyText: Hashable, Sendable {
  /// In English.
  public let english: String
  /// In Chinese.
  public let chinese: String

  init(_ english: String, _ chinese: String) {
    self.english = english
    self.chinese = chinese
  }
}

extension WhyVerdict {
  /// The verdict in a word or two.
  public var text: WhyText {
    switch self {
    case .ok: WhyText("ok", "正常")
    case .failed: WhyText("failed", "失败")
    case .waiting: WhyText("waiting", "等待中")
    case .unknown: WhyText("unknown", "未知")
    case .notApplicable: WhyText("not applicable", "不适用")
    }
  }
}

extension WhyConclusion {
  /// The conclusion in a sentence.
  public var text: WhyText {
    switch self {
    case .arrived: WhyText("It arrived at the device.", "推送已到达设备。")
    case .handedOver:
      WhyText(
        "The push service accepted it. Push services do not say whether the device has it.",
        "推送服务已接收；推送服务不告知设备是否收到。")
    case .waiting: WhyText("It has not arrived yet, and still may.", "尚未到达，仍可能送达。")
    case .failed: WhyText("It did not arrive.", "推送未到达。")
    case .unknown:
      WhyText("It did not arrive, and the stored data does not show why.", "推送未到达，现有记录无法说明原因。")
    }
  }
}
