import BorealisBase
import BorealisCrypto
import Core
import Model
import Storage

/// Keys and certificates of apps, for the console and whoever else hands them in.
final class APNsCredentials: ChannelCredentials {
  /// The channel that uses them.
  let channel: APNsChannel

  init(of channel: APNsChannel) { self.channel = channel }

  var parts: APNsParts { channel.parts }
  var info: ChannelInfo { channel.info }

  /// A key or a certificate.
  var forms: [CredentialForm] { APNsForm.all }

  /// The page had the name of the company.
  var formerNames: [String] { ["apple"] }

  /// What pages say of it.
  var texts: CredentialTexts {
    CredentialTexts(
      step: Phrase("Upload an APNs key", "上传苹果推送密钥"),
      stepText: Phrase(
        "iPhones then receive notifications while the app is closed.", "应用未打开时，iPhone 也能收到通知。"),
      none: Phrase("no key or certificate", "未配置密钥或证书"),
      unreached: (
        Phrase(
          "{} receives this only while the app is open: no APNs key is configured.",
          "{} 仅在应用打开时才能收到：未配置苹果推送密钥。"),
        Phrase(
          "{} receive this only while the app is open: no APNs key is configured.",
          "{} 仅在应用打开时才能收到：未配置苹果推送密钥。")
      ))
  }

  // MARK: Credentials

  /// Keys and certificates of some apps.
  func stored(of apps: [AppID]) async -> Result<[StoredCredential], StorageError> {
    let result = await parts.store.read { transaction throws(StorageError) in
      var rows: [APNsCredentialRow] = []
      for app in apps { rows += try transaction.credentials.all(app: app, of: .apns) }
      return rows
    }
    return result.map { $0.map(describe) }
  }

  private func describe(_ row: APNsCredentialRow) -> StoredCredential {
    var (state, isPaused) = (StoredCredential.State.inUse, false)
    var remarks: [StoredCredential.Remark] = []
    switch row.state {
    case .active: break
    case .retiring:
      state = .standby
      remarks.append(
        .init(
          Phrase(
            "Replaced by a newer credential and kept for 30 days. It is used again if the newer one is paused or removed.",
            "已被替换，保留 30 天；若新的被暂停或删除，将自动重新启用。")))
    case .paused(let reason):
      (state, isPaused) = (.paused, true)
      remarks.append(.init(Phrase(problem: reason), isBad: true))
    }
    let status = parts.router.apps.loaded(row.app).flatMap { app in
      channel.statuses(of: app).first { $0.environment == row.environment && $0.credential == row.id }
    }
    if let status { remarks += self.remarks(on: status) }
    var credential = StoredCredential(
      id: row.id.text, app: row.app, service: row.environment.name,
      name: row.keyID.map { Phrase("Key {}", "密钥 {}").with($0) } ?? Phrase("Certificate", "证书"),
      subject: .init(Phrase(verbatim: "Bundle ID"), row.topic), state: state, expiresAt: row.expiresAt,
      addedAt: row.createdAt)
    credential.isReplaced = row.replacedBy != nil
    credential.facts = [
      .init(
        Phrase("Fingerprint", "指纹"), "\(Hex.encode(row.fingerprint.prefix(8)))…", isCode: true,
        note: row.teamID.map { Phrase("Team {}", "团队 {}").with($0) })
    ]
    credential.remarks = remarks
    credential.actions = [isPaused ? .resume : .pause, .remove]
    if status != nil { credential.actions.insert(.check) }
    credential.values = [
      APNsForm.topic: row.topic, APNsForm.teamID: row.teamID ?? "", APNsForm.keyService: row.environment.name,
    ]
    credential.form = row.kind == .token ? APNsForm.key : APNsForm.certificate
    return credential
  }

  /// What was seen of the connections with the credential in use, and what Apple said of it.
  private func remarks(on status: APNsServiceStatus) -> [StoredCredential.Remark] {
    let zone = parts.router.zone
    let isUnreachable = if case .unreachable = status.health { true } else { false }
    let check = status.check.flatMap { check -> Phrase? in
      let at = Phrase.moment(check.at, in: zone)
      return switch check.verdict {
      case .unasked: nil
      case .accepted: Phrase("APNs accepted it at {}.", "苹果已于 {} 接受该凭证。").with(each: at)
      case .refused(let reason):
        Phrase("APNs rejected it at {}: {}.", "苹果已于 {} 拒绝该凭证：{}。").with(each: at, Phrase(problem: reason))
      case .unclear(let reason):
        Phrase("Verification failed at {}: {}.", "{} 未能验证：{}。").with(
          each: at, Phrase(problem: reason))
      }
    }
    let health = status.health.phrase(in: zone)
    let line =
      check.map { Phrase("{}. {}", "{}。{}").with(each: health, $0) }
      ?? Phrase("{}.", "{}。").with(each: health)
    let problem = [status.problem, status.doubt].compactMap { $0 }.map {
      StoredCredential.Remark($0, isBad: true)
    }
    return problem + [.init(line, isBad: isUnreachable)]
  }

  /// Changes a key or a certificate.
  func change(
    _ id: String, of app: App, _ change: CredentialChange, noting entry: AuditRow
  ) async -> Result<Bool, StorageError> {
    let owner = app.id
    let result = await parts.store.write { transaction throws(StorageError) in
      let row = try transaction.credentials.all(app: owner, of: .apns).first { $0.id.text == id }
      guard let row, try transaction.credentials.apply(change, to: row, at: entry.at) else { return false }
      var entry = entry
      entry.target = Self.auditName(row)
      try transaction.audit.add(entry)
      return true
    }
    guard case .success(true) = result else { return result }
    _ = await awaitCallback { changed in channel.learnChanges { changed($0) } }
    // The page then shows what Apple says of the one that took its place.
    _ = await awaitCallback { channel.whenAsked(about: app, $0) }
    return result
  }

  /// The name of a credential in the audit log, which is still meaningful after its removal.
  private static func auditName(_ row: APNsCredentialRow) -> String {
    "APNs \(row.keyID.map { "key \($0)" } ?? "certificate"), \(row.topic), \(row.environment.name)"
  }

  // MARK: Apple's answers

  /// Whether APNs accepts what was just uploaded.
  func answer(to receipt: CredentialReceipt, for app: App) async -> CredentialAnswer {
    let statuses = await awaitCallback { channel.whenAsked(about: app, $0) }
    return Self.answer(statuses.filter { receipt.services.contains($0.environment.name) })
  }

  /// Asks APNs about the credential in use.
  func check(_ id: String, of app: App) async -> CredentialAnswer? {
    let queue = parts.queues.find(app.id)
    let found = [APNsEnvironment.production, .sandbox].lazy.compactMap { queue?.target(for: $0) }.first {
      String($0.credential.id.rawValue) == id
    }
    guard let found else { return nil }
    channel.ask(found.dispatcher, found.credential)
    let statuses = await awaitCallback { channel.whenAsked(about: app, $0) }
    return Self.answer(statuses.filter { $0.environment == found.credential.environment })
  }

  /// What Apple says of credentials; services that it has not answered for count as unclear.
  private static func answer(_ statuses: [APNsServiceStatus]) -> CredentialAnswer {
    let refused = Phrase(
      "APNs rejected the credential: {}. It is stored and paused. Upload the correct one, or resume it when the problem is solved.",
      "苹果拒绝了该凭证：{}。凭证已保存但已暂停；请上传正确的凭证，或处理后恢复使用。")
    let unclear = Phrase(
      "The credential is stored, but it could not be verified with APNs: {}.", "凭证已保存，但未能向苹果验证：{}。")
    for status in statuses {
      // A credential that APNs rejects is paused, and no longer in use.
      if let problem = status.problem { return CredentialAnswer(refused.with(each: problem), isBad: true) }
    }
    for status in statuses {
      switch status.check?.verdict {
      case .accepted: continue
      case .refused(let reason):
        return CredentialAnswer(refused.with(each: Phrase(problem: reason)), isBad: true)
      case .unclear(let reason):
        return CredentialAnswer(unclear.with(each: Phrase(problem: reason)), isBad: true)
      case nil, .unasked:
        return CredentialAnswer(
          unclear.with(each: Phrase("no response yet", "尚未收到应答")), isBad: true)
      }
    }
    return CredentialAnswer(
      Phrase("APNs accepted the credential. It is now in use.", "苹果已接受，现已启用。"), isBad: false)
  }

  // MARK: Alerts

  /// A certificate that ends within 30 days, and pushes that do not reach Apple.
  func alerts(of app: App) -> [ChannelAlert] {
    let now = parts.time.now()
    let horizon = now.adding(seconds: CredentialNotice.seconds)
    // One certificate may be for both environments.
    var certificates: Set<[UInt8]> = []
    return channel.statuses(of: app).flatMap { status -> [ChannelAlert] in
      let environment = status.environment.phrase
      func alert(_ kind: TroubleKind, _ text: Phrase, _ values: Phrase...) -> ChannelAlert {
        ChannelAlert(
          kind, of: info, service: status.environment.name, text.with(each: [environment] + values))
      }
      guard status.hasCredential else { return [] }
      if let problem = status.problem {
        let text = Phrase("{}: pushes cannot be sent to APNs: {}.", "{}：推送无法发送到苹果：{}。")
        return [alert(.stopped, text, problem)]
      }
      var alerts: [ChannelAlert] = []
      if let doubt = status.doubt { alerts.append(alert(.doubted, Phrase("{}: {}", "{}：{}"), doubt)) }
      if case .unreachable(let since, let reason) = status.health {
        alerts.append(
          alert(
            .unreachable, Phrase("{}: APNs has not been reachable since {}: {}.", "{}：自 {} 起无法连接苹果：{}。"),
            .moment(since, in: parts.router.zone), Phrase(problem: reason)))
      }
      // An expiring certificate is reported even if APNs cannot be reached.
      guard
        case .use(let credential) = parts.credentials.selection(
          app: app.id, environment: status.environment),
        case .certificate(let pair) = credential.authentication, let end = credential.expiresAt,
        end <= horizon,
        certificates.insert(pair.facts.fingerprint).inserted
      else { return alerts }
      let ends = Phrase("{}: the APNs certificate {}.", "{}：苹果推送证书{}。")
      return alerts + [alert(.expiring, ends, .ending(end, at: now))]
    }
  }
}
