import PushBase
import PushCrypto
import PushDomain
import PushRouter
import PushStorage

/// Why a credential was not stored.
enum UploadFailure: Error, Equatable {
  /// It cannot be used, or not for this app; with the reason.
  case credential(CredentialError)
  /// The server has no key to seal it with; its log says why.
  case noKey
  /// The store cannot be changed now; try again later.
  case unavailable
}

// MARK: - Credentials that somebody hands in
extension APNsCredentials {
  /// Checks keys and certificates that somebody uploaded and stores them, each in place of the app's current one for the same
  /// environment.
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
    seal(uploads, for: app, noting: entry) { [parts, uploads] result in
      let now = parts.time.now()
      reply(
        result.map { uploads.map { $0.receipt(at: now) } }.mapError { failure in
          switch failure {
          case .credential(let error): .refused(error.problem(in: form))
          case .noKey: .noKey
          case .unavailable: .unavailable
          }
        })
    }
  }

  /// Reads the sealing key, which is created if nothing was sealed before, and stores.
  private func seal(
    _ uploads: [CredentialUpload], for app: App, noting entry: AuditRow?,
    reply: @escaping @Sendable (Result<Void, UploadFailure>) -> Void
  ) {
    parts.store.read { transaction throws(StorageError) in
      SealingKeys.ids(of: try transaction.credentials.allSealed())
    } completion: { [self] result in
      guard case .success(let keysInUse) = result else { return reply(.failure(.unavailable)) }
      switch parts.sealingKeys(keysInUse) {
      case .failure(let failure):
        parts.log.error("credentials cannot be sealed", ["reason": .text(failure.message)])
        reply(.failure(.noKey))
      case .success(let keys): store(uploads, keys, for: app, noting: entry, reply)
      }
    }
  }

  private func store(
    _ uploads: [CredentialUpload], _ keys: SealingKeys, for app: App, noting entry: AuditRow?,
    _ reply: @escaping @Sendable (Result<Void, UploadFailure>) -> Void
  ) {
    let now = parts.time.now()
    parts.store.write { transaction throws(StorageError) -> UploadFailure? in
      let existing = try transaction.credentials.all(app: app.id)
      var new: [CredentialUpload] = []
      for upload in uploads {
        do throws(CredentialError) {
          try upload.check(against: existing)
          new.append(upload)
        } catch {
          // A person should know; a program repeats what it has done.
          if entry == nil, case .alreadyThere = error { continue }
          return .credential(error)
        }
      }
      for row in new.flatMap({ $0.rows(for: app.id, sealedWith: keys) }) {
        _ = try transaction.credentials.add(app: app.id, row, at: now)
      }
      if let entry { try transaction.audit.add(entry) }
      return nil
    } completion: { [self] result in
      switch result {
      case .failure: reply(.failure(.unavailable))
      case .success(let failure?): reply(.failure(failure))
      case .success(nil): channel.credentialsChanged { reply(.success(())) }
      }
    }
  }
}
