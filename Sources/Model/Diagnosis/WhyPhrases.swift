import BorealisBase

extension WhyVerdict {
  /// The verdict in a word or two.
  package var text: Phrase {
    switch self {
    case .ok: Phrase("ok", "正常")
    case .failed: Phrase("failed", "失败")
    case .waiting: Phrase("waiting", "等待中")
    case .unknown: Phrase("unknown", "未知")
    case .notApplicable: Phrase("not applicable", "不适用")
    }
  }
}

extension WhyConclusion {
  /// The conclusion in a sentence.
  package var text: Phrase {
    switch self {
    case .arrived: Phrase("It was delivered to the device.", "推送已送达设备。")
    case .handedOver:
      Phrase(
        "The push service accepted it. Push services do not say whether it was delivered to the device.",
        "推送服务已接收；该服务不提供到达回执。")
    case .waiting: Phrase("It has not been delivered yet, and still may be.", "尚未送达，仍可能送达。")
    case .failed: Phrase("It was not delivered.", "推送未送达。")
    case .unknown:
      Phrase("It was not delivered, and the stored data does not show why.", "推送未送达，现有记录无法说明原因。")
    }
  }
}
