import BorealisBase
import Core
import Model

/// What pages say of a credential in use: what was seen of the service, and what it said.
struct VendorRemarks<V: Vendor> {
  private let dispatchers: [VendorDispatcher<V>]
  private let zone: any Zone

  /// About the credential that these use.
  init(_ dispatchers: [VendorDispatcher<V>], in zone: any Zone) {
    self.dispatchers = dispatchers
    self.zone = zone
  }

  /// That the credential may be another app's, by the tokens that services refuse.
  var doubts: [Phrase] {
    dispatchers.compactMap { dispatcher in
      dispatcher.queue?.tokens.doubt(of: dispatcher.service).map { count in
        .doubt(of: dispatcher.vendor.name(of: dispatcher.service), count)
      }
    }
  }

  /// Quotas that are used up.
  var quotas: [Phrase] {
    dispatchers.compactMap { dispatcher in
      dispatcher.queue?.quotas.usedUp.map { usedUp in
        Phrase("A quota is used up until {}: {}.", "配额已用完，{} 恢复：{}。").with(
          each: .moment(dispatcher.parts.time.moment(usedUp.until), in: zone), Phrase(problem: usedUp.reason)
        )
      }
    }
  }

  /// All of them, with what the service said when it was asked.
  func all(check: CredentialCheck?) -> [StoredCredential.Remark] {
    let health = dispatchers.map(\.view).health
    let isUnreachable = if case .unreachable = health { true } else { false }
    let rests = dispatchers.compactMap(\.rest).map {
      Phrase("Sending is paused temporarily: {}.", "暂停发送，将自动恢复：{}。").with(each: Phrase(problem: $0))
    }
    let seen = health.phrase(in: zone)
    let line =
      check.flatMap(answer).map { Phrase("{}. {}", "{}。{}").with(each: seen, $0) }
      ?? Phrase("{}.", "{}。").with(each: seen)
    return (rests + quotas + doubts).map { .init($0, isBad: true) } + [.init(line, isBad: isUnreachable)]
  }

  private func answer(_ check: CredentialCheck) -> Phrase? {
    let at = Phrase.moment(check.at, in: zone)
    return switch check.verdict {
    case .unasked: nil
    case .accepted:
      Phrase("The service accepted the credential at {}.", "服务已于 {} 接受该凭证。").with(each: at)
    case .refused(let reason):
      Phrase("The service rejected the credential at {}: {}.", "服务已于 {} 拒绝该凭证：{}。").with(
        each: at, Phrase(problem: reason))
    case .unclear(let reason):
      Phrase("Verification failed at {}: {}.", "{} 未能验证：{}。").with(
        each: at, Phrase(problem: reason))
    }
  }
}
