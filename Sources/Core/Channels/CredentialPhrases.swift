import BorealisBase

/// Sentences and parts of them that pages and channels share.
extension Phrase {
  /// When a credential ends, for a sentence: "expires in 23 days".
  package static func ending(_ end: Timestamp, at now: Timestamp) -> Phrase {
    switch end.roundedDays(after: now) {
    case _ where end <= now: Phrase("has expired", "已过期")
    case ...0: Phrase("expires today", "今天过期")
    case 1: Phrase("expires in one day", "1 天后过期")
    case let days: Phrase("expires in {} days", "{} 天后过期").with(String(days))
    }
  }

  /// A moment inside a sentence, by the clock of a time zone.
  package static func moment(_ time: Timestamp, in zone: any Zone) -> Phrase {
    Phrase(verbatim: zone.local(time).text)
  }
}

extension ChannelHealth {
  /// What was seen of the connections, without a full stop.
  package func phrase(in zone: any Zone) -> Phrase {
    switch self {
    case .unused: Phrase("Not used since the server started", "服务器启动后尚未使用")
    case .connected(let since): Phrase("Connected since {}", "自 {} 起已连接").with(each: .moment(since, in: zone))
    case .idle(let since):
      Phrase("Idle; last connected at {}", "空闲；上次连接于 {}").with(each: .moment(since, in: zone))
    case .unreachable(let since, let reason):
      Phrase("Not reachable since {}: {}", "自 {} 起无法连接：{}").with(
        each: .moment(since, in: zone), Phrase(problem: reason))
    }
  }
}

extension Timestamp {
  /// Days from an earlier moment to this one, rounded: what ends in 23.6 days ends "in 24 days". Negative if
  /// it is the other way.
  package func roundedDays(after start: Timestamp) -> Int {
    let (noon, overflows) = start.seconds.subtractingReportingOverflow(43_200)
    let (seconds, overflow) = seconds.subtractingReportingOverflow(noon)
    let (days, rest) = seconds.quotientAndRemainder(dividingBy: 86_400)
    return overflows || overflow ? 0 : Int(clamping: rest < 0 ? days - 1 : days)
  }
}

/// When people are told that a credential ends.
package enum CredentialNotice {
  /// Seconds before the end at which pages begin to say so.
  package static let seconds: Int64 = 30 * 86_400
}
