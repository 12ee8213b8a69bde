import PushBase
import PushCrypto
import PushDomain
import PushRouter
import PushStorage

/// Why a credential was not stored.
public enum CredentialRefusal: Error, Sendable, Equatable {
  /// It cannot be used, or not for this app; with the reason.
  case credential(CredentialError)
  /// The server has no key to seal it with; its log says why.
  case noKey
  /// The store cannot be changed now; try again later.
  case unavailable
}

extension APNsChannel {
  /// Stores a validated credential, sealed, replacing the app's current one for the same environment, with an entry in
  /// the audit log. `reply` is called when it is in use.
  public func install(
    _ upload: CredentialUpload, for app: App, noting entry: AuditRow,
    reply: @escaping @Sendable (Result<Void, CredentialRefusal>) -> Void
  ) {
    seal([upload], for: app, noting: entry, isNewOnly: true, reply: reply)
  }

  /// Certificates: `file` is a PKCS #12 file, `password` what it is encrypted with.
  public var credentialForms: [String] { ["certificate"] }

  /// Checks certificates that a developer uploaded and stores them, all or none. One that is there already is no error.
  public func install(
    _ inputs: [CredentialInput], for app: App,
    reply: @escaping @Sendable (Result<Void, CredentialInput.Refusal>) -> Void
  ) {
    let uploads: [CredentialUpload]
    do throws(CredentialInput.Refusal) {
      uploads = try self.uploads(inputs)
    } catch {
      reply(.failure(error))
      return
    }
    seal(uploads, for: app, noting: nil, isNewOnly: false) { result in
      reply(
        result.mapError { refusal -> CredentialInput.Refusal in
          switch refusal {
          case .credential(let error): .refused("\(error)")
          case .noKey:
            .refused(
              "The server has no key to seal certificates with; its operator finds the reason in the log")
          case .unavailable: .unavailable
          }
        })
    }
  }

  /// Loads changes from the database; `done` is called when they are in use.
  public func credentialsChanged(_ done: @escaping @Sendable () -> Void = {}) {
    parts.credentials.refresh { [self] _ in
      takeOverChanges()
      done()
    }
  }

  private func uploads(_ inputs: [CredentialInput]) throws(CredentialInput.Refusal) -> [CredentialUpload] {
    var uploads: [CredentialUpload] = []
    for input in inputs {
      guard let password = String(validating: input.fields["password"] ?? [], as: UTF8.self) else {
        throw .refused("the password must be UTF-8")
      }
      let service = input.service.map { info.service(named: $0) ?? .none }
      guard service != ServiceID.none else { throw .refused("APNs has no such environment") }
      do throws(CredentialError) {
        uploads.append(
          try CredentialUpload(
            p12: input.fields["file"] ?? [], password: password, topic: nil,
            environments: service.map { [$0.environment] }, now: parts.time.now()))
      } catch {
        // The bare reason: the caller knows which file it is about.
        if case .file(let fault) = error { throw .refused("\(fault)") }
        throw .refused("\(error)")
      }
    }
    guard Set(uploads.map(\.topic)).count <= 1 else {
      throw .refused("the certificates are for different apps")
    }
    return uploads
  }

  /// Reads the sealing key, which is created if nothing was sealed before, and stores.
  private func seal(
    _ uploads: [CredentialUpload], for app: App, noting entry: AuditRow?, isNewOnly: Bool,
    reply: @escaping @Sendable (Result<Void, CredentialRefusal>) -> Void
  ) {
    parts.store.read { transaction throws(StorageError) in
      SealingKeys.ids(of: try transaction.credentials.allSealed())
    } completion: { [self] result in
      guard case .success(let keysInUse) = result else { return reply(.failure(.unavailable)) }
      switch parts.sealingKeys(keysInUse) {
      case .failure(let failure):
        parts.log.error("credentials cannot be sealed", ["reason": .text(failure.message)])
        reply(.failure(.noKey))
      case .success(let keys): store(uploads, keys, for: app, noting: entry, isNewOnly: isNewOnly, reply)
      }
    }
  }

  private func store(
    _ uploads: [CredentialUpload], _ keys: SealingKeys, for app: App, noting entry: AuditRow?,
    isNewOnly: Bool, _ reply: @escaping @Sendable (Result<Void, CredentialRefusal>) -> Void
  ) {
    let now = parts.time.now()
    parts.store.write { transaction throws(StorageError) -> CredentialRefusal? in
      let existing = try transaction.credentials.all(app: app.id)
      var new: [CredentialUpload] = []
      for upload in uploads {
        do throws(CredentialError) {
          try upload.check(against: existing)
          new.append(upload)
        } catch {
          if !isNewOnly, case .alreadyThere = error { continue }
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
      case .success(let refusal?): reply(.failure(refusal))
      case .success(nil): credentialsChanged { reply(.success(())) }
      }
    }
  }
}
