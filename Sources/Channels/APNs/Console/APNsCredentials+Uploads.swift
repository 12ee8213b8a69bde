import BorealisBase
import BorealisCrypto
import Core
import Model
import Storage

// MARK: - Credentials that somebody hands in
extension APNsCredentials {
  /// Checks keys and certificates that somebody uploaded and stores them, each in place of the app's current
  /// one for the same environment.
  func install(
    _ inputs: [CredentialInput], for app: App, noting entry: AuditRow?,
    reply: @escaping @Sendable (Result<[CredentialReceipt], CredentialInput.Refusal>) -> Void
  ) {
    var uploads: [CredentialUpload] = []
    for input in inputs {
      do throws(CredentialError) {
        uploads.append(try CredentialUpload(input, at: parts.time.now()))
      } catch {
        reply(.failure(.refused(error.problem(in: input.form))))
        return
      }
    }
    guard Set(uploads.map(\.topic)).count <= 1 else {
      let text = Phrase("The certificates are for different apps.", "这些证书属于不同的应用。")
      reply(.failure(.refused(CredentialProblem(text, reason: "the certificates are for different apps"))))
      return
    }
    var entry = entry
    entry?.target = uploads.map(\.auditName).joined(separator: "; ")
    let form = inputs.first?.form ?? ""
    parts.keys.forSealing(in: parts.store, log: parts.log) { _ in
    } then: { [self, uploads, entry] result in
      switch result {
      case .failure(let refusal): reply(.failure(refusal))
      case .success(let (keys, _)):
        store(uploads, keys, for: app, noting: entry) { [parts] result in
          let now = parts.time.now()
          reply(
            result.mapError { _ in CredentialInput.Refusal.unavailable }.flatMap { error in
              if let error { return .failure(.refused(error.problem(in: form))) }
              return .success(uploads.map { $0.receipt(at: now) })
            })
        }
      }
    }
  }

  /// Stores them; the answer says why not, if they do not fit what is there.
  private func store(
    _ uploads: [CredentialUpload], _ keys: SealingKeys, for app: App, noting entry: AuditRow?,
    _ reply: @escaping @Sendable (Result<CredentialError?, StorageError>) -> Void
  ) {
    let now = parts.time.now()
    parts.store.write { transaction throws(StorageError) -> CredentialError? in
      let existing = try transaction.credentials.all(app: app.id, of: .apns)
      var new: [CredentialUpload] = []
      for upload in uploads {
        do throws(CredentialError) {
          try upload.check(against: existing)
          new.append(upload)
        } catch {
          // A person should know; a program repeats what it has done.
          if entry == nil, case .alreadyThere = error { continue }
          return error
        }
      }
      for row in new.flatMap({ $0.rows(for: app.id, sealedWith: keys) }) {
        _ = try transaction.credentials.add(app: app.id, row, at: now)
      }
      if let entry { try transaction.audit.add(entry) }
      return nil
    } completion: { [self] result in
      guard case .success(nil) = result else { return reply(result) }
      channel.learnChanges { _ in reply(result) }
    }
  }
}
