import BorealisBase
import BorealisCrypto
import Core
import Model
import Storage

// MARK: - What pages show of credentials, and what people do with them
extension VendorChannel: ChannelCredentials {
  /// One for each app.
  package var credentials: (any ChannelCredentials)? { self }

  /// What pages say of the channel.
  package var texts: CredentialTexts { vendor.profile.credential.texts }

  package var forms: [CredentialForm] { [vendor.form] }

  /// Those of some apps: at most one each.
  package func stored(of apps: [AppID]) async -> Result<[StoredCredential], StorageError> {
    let channel = info.id
    let result = await parts.store.read { transaction throws(StorageError) in
      var rows: [CredentialRow] = []
      for app in apps { rows += try transaction.credentials.all(app: app, of: channel) }
      return rows
    }
    return result.map { $0.map(describe) }
  }

  private func describe(_ row: CredentialRow) -> StoredCredential {
    let selection = table.selection(row.app)
    let isPaused = row.pause != nil
    var problem = row.pause
    if problem == nil, case .unusable(let reason, _) = selection { problem = reason }
    let description = vendor.describe(row.name)
    var credential = StoredCredential(
      id: row.id.text, app: row.app, name: description.name,
      subject: .init(vendor.profile.credential.subject, row.subject), state: isPaused ? .paused : .inUse,
      addedAt: row.createdAt)
    credential.facts = description.facts
    credential.publicKey = description.publicKey
    credential.remarks = problem.map { [.init(Phrase(problem: $0), isBad: true)] } ?? []
    credential.actions = [isPaused ? .resume : .pause, .remove]
    if vendor.hasReceipts, let marks = table.marks(of: row.app),
      let app = parts.router.apps.loaded(row.app)
    {
      credential.facts.append(parts.receiptFact(of: vendor, marks, in: app.key))
      credential.remarks.append(.init(receiptRemark(row.app)))
    }
    credential.form = vendor.form.name
    credential.values = vendor.values(of: row.subject)
    let dispatchers = dispatchers(of: row.app)
    guard let first = dispatchers.first, first.id == row.id.text else { return credential }
    if vendor.profile.abilities.contains(.answersProbes) { credential.actions.insert(.check) }
    credential.remarks += VendorRemarks(dispatchers, in: parts.router.zone).all(
      check: checks.answer(first.id))
    return credential
  }

  private func receiptRemark(_ app: AppID) -> Phrase {
    guard let latest = receiver?.latest(of: app) else {
      return Phrase(
        "No receipt of the service has come since the server started.", "服务器启动以来未收到厂商回执。")
    }
    return Phrase("The latest receipt of the service came at {}.", "最近一次厂商回执：{}。").with(
      each: .moment(latest, in: parts.router.zone))
  }

  /// Checks a credential and stores it in place of the app's one.
  package func install(
    _ inputs: [CredentialInput], for app: App, noting entry: AuditRow?,
    reply: @escaping @Sendable (Result<[CredentialReceipt], CredentialInput.Refusal>) -> Void
  ) {
    guard let input = inputs.first, inputs.count == 1 else {
      let text = Phrase("An app has one credential of this channel.", "每个应用在该通道只有一个凭证。")
      return reply(.failure(.refused(CredentialProblem(text))))
    }
    let channel = info.id
    parts.keys.forSealing(in: parts.store, log: parts.log) { transaction throws(StorageError) in
      try transaction.credentials.latest(of: app.id, for: channel)
    } then: { [self] result in
      switch result {
      case .failure(let refusal): reply(.failure(refusal))
      case .success(let (keys, current)):
        let upload: VendorUpload
        do throws(CredentialProblem) {
          upload = try vendor.read(
            input, replacing: current.flatMap { vendor.credential($0.sealed, of: $0.row, with: keys) })
        } catch {
          return reply(.failure(.refused(error)))
        }
        store(upload, keys, for: app, noting: entry, reply)
      }
    }
  }

  private func store(
    _ upload: VendorUpload, _ keys: SealingKeys, for app: App, noting entry: AuditRow?,
    _ reply: @escaping @Sendable (Result<[CredentialReceipt], CredentialInput.Refusal>) -> Void
  ) {
    let new = upload.credential(for: app.id, of: info.id, sealedWith: keys)
    let now = parts.time.now()
    let name = info.auditName(subject: upload.subject, upload.name)
    parts.store.write { transaction throws(StorageError) in
      try transaction.credentials.replace(app: app.id, new, at: now)
      guard var entry else { return }
      entry.target = name
      try transaction.audit.add(entry)
    } completion: { [self] result in
      guard case .success = result else { return reply(.failure(.unavailable)) }
      learnChanges { [vendor] _ in
        let label = vendor.profile.credential.subject
        let text = Phrase("This credential is for: {} {}.", "该凭证用于：{} {}。").with(
          each: label, Phrase(verbatim: upload.subject))
        reply(.success([CredentialReceipt(text)]))
      }
    }
  }

  /// What the service says of the credential that was just taken.
  package func answer(to receipt: CredentialReceipt, for app: App) async -> CredentialAnswer {
    guard let dispatcher = dispatcher(of: app.id) else { return answer(nil, of: app) }
    return answer(await checks.wait(for: dispatcher.id), of: app)
  }

  /// Asks the service about the credential in use.
  package func check(_ id: String, of app: App) async -> CredentialAnswer? {
    guard let dispatcher = dispatcher(of: app.id), dispatcher.id == id else { return nil }
    ask(dispatcher)
    return answer(await checks.wait(for: id), of: app)
  }

  private func answer(_ check: CredentialCheck?, of app: App) -> CredentialAnswer {
    let refused = Phrase(
      "The service rejected the credential: {}. It is stored and paused. Upload the correct one, or resume it when the problem is solved.",
      "服务拒绝了该凭证：{}。凭证已保存但已暂停；请上传正确的凭证，或处理后恢复使用。")
    let unclear = Phrase(
      "The credential is stored, but it could not be verified with the service: {}.",
      "凭证已保存，但未能向服务验证：{}。")
    switch check?.verdict {
    case .accepted:
      return CredentialAnswer(
        Phrase("The service accepted the credential. It is now in use.", "服务已接受该凭证，现已启用。"), isBad: false)
    case .unasked:
      return CredentialAnswer(Phrase("The credential is now in use.", "凭证现已启用。"), isBad: false)
    case .refused(let reason):
      return CredentialAnswer(refused.with(each: Phrase(problem: reason)), isBad: true)
    case .unclear(let reason):
      return CredentialAnswer(unclear.with(each: Phrase(problem: reason)), isBad: true)
    case nil:
      if case .unusable(let reason, _) = table.selection(app.id) {
        return CredentialAnswer(refused.with(each: Phrase(problem: reason)), isBad: true)
      }
      return CredentialAnswer(unclear.with(each: Phrase("no response yet", "尚未收到应答")), isBad: true)
    }
  }

  /// Removes, pauses or resumes a credential.
  package func change(
    _ id: String, of app: App, _ change: CredentialChange, noting entry: AuditRow
  ) async -> Result<Bool, StorageError> {
    let (channel, owner) = (info.id, app.id)
    let result = await parts.store.write { [self] transaction throws(StorageError) in
      let row = try transaction.credentials.all(app: owner, of: channel).first { $0.id.text == id }
      guard let row, try transaction.credentials.apply(change, to: row, at: entry.at) else { return false }
      var entry = entry
      entry.target = info.auditName(subject: row.subject, row.name)
      try transaction.audit.add(entry)
      return true
    }
    guard case .success(true) = result else { return result }
    _ = await awaitCallback { done in learnChanges { done($0) } }
    // The page then shows what the service says.
    if change == .resume, let dispatcher = dispatcher(of: app.id) {
      _ = await checks.wait(for: dispatcher.id)
    }
    return result
  }

  /// Pushes that do not leave.
  package func alerts(of app: App) -> [ChannelAlert] {
    let name = Phrase(info.english, info.chinese)
    if let problem = table.problem(of: app.id) {
      let text = Phrase("{}: pushes are not sent: {}.", "{}：推送未发送：{}。").with(each: name, problem)
      return [ChannelAlert(.stopped, of: info, text)]
    }
    let dispatchers = dispatchers(of: app.id)
    let remarks = VendorRemarks(dispatchers, in: parts.router.zone)
    if let doubt = remarks.doubts.first {
      return [ChannelAlert(.doubted, of: info, Phrase("{}: {}", "{}：{}").with(each: name, doubt))]
    }
    if case .unreachable(let since, let reason) = dispatchers.map(\.view).health {
      let text = Phrase("{}: the service has not been reachable since {}: {}.", "{}：自 {} 起无法连接：{}。").with(
        each: name, .moment(since, in: parts.router.zone), Phrase(problem: reason))
      return [ChannelAlert(.unreachable, of: info, text)]
    }
    return remarks.quotas.prefix(1).map {
      ChannelAlert(.quota, of: info, Phrase("{}: {}", "{}：{}").with(each: name, $0))
    }
  }
}

extension ChannelInfo {
  /// A credential in the audit log.
  fileprivate func auditName(subject: String, _ name: String) -> String {
    "\(english) \(subject)\(name.isEmpty ? "" : ", key \(name.prefix(40))")"
  }
}

extension VendorUpload {
  /// What is stored of it.
  package func credential(for app: AppID, of channel: ChannelID, sealedWith keys: SealingKeys)
    -> NewCredential
  {
    NewCredential(
      channel: channel, subject: subject, name: name,
      sealed: CredentialSecret.seal(secret, app: app, channel: channel, with: keys))
  }
}

extension Vendor {
  /// Opens a stored credential; nil if it cannot be opened.
  package func credential(
    _ sealed: [UInt8], of row: CredentialRow, with keys: SealingKeys
  ) -> Credential? {
    (try? CredentialSecret.open(sealed, of: row, with: keys)).flatMap { credential($0) }
  }
}
