import PushBase
import PushCrypto
import PushRouter
import PushStorage

extension APNsChannel {
  /// Checks certificates that a developer uploaded and stores them, all or none. One that is there already is no error.
  public func install(
    _ files: [CertificateFile], for app: App,
    reply: @escaping @Sendable (Result<Void, CertificateRefusal>) -> Void
  ) {
    let uploads: [CredentialUpload]
    let sealing: SealingKeys
    do throws(CertificateRefusal) {
      uploads = try self.uploads(files)
      sealing = try sealingKeys()
    } catch {
      reply(.failure(error))
      return
    }
    let now = parts.time.now()
    parts.store.write { transaction throws(StorageError) -> CertificateRefusal? in
      let existing = try transaction.reading.apnsCredentials(app: app.id)
      var new: [CredentialUpload] = []
      for upload in uploads {
        do throws(CredentialError) {
          try upload.check(against: existing)
          new.append(upload)
        } catch {
          if case .alreadyThere = error { continue }
          return .refused("\(error)")
        }
      }
      for row in new.flatMap({ $0.rows(for: app.id, sealedWith: sealing) }) {
        _ = try transaction.addAPNsCredential(app: app.id, row, at: now)
      }
      return nil
    } completion: { [parts] result in
      switch result {
      case .failure: reply(.failure(.unavailable))
      case .success(let refusal?): reply(.failure(refusal))
      case .success(nil):
        parts.credentials.refresh()
        reply(.success(()))
      }
    }
  }

  private func uploads(_ files: [CertificateFile]) throws(CertificateRefusal) -> [CredentialUpload] {
    var uploads: [CredentialUpload] = []
    for file in files {
      let pair: CertificateKeyPair
      do throws(CredentialFileError) {
        pair = try PKCS12.parse(file.bytes, password: file.password)
      } catch {
        throw .refused("\(error)")
      }
      do throws(CredentialError) {
        uploads.append(
          try CredentialUpload(pair, topic: nil, environments: [file.environment], now: parts.time.now()))
      } catch {
        throw .refused("\(error)")
      }
    }
    guard Set(uploads.map(\.topic)).count <= 1 else {
      throw .refused("the certificates are for different apps")
    }
    return uploads
  }

  private func sealingKeys() throws(CertificateRefusal) -> SealingKeys {
    switch parts.keys() {
    case .success(let keys): return keys
    case .failure(let failure):
      parts.log.error("certificates cannot be sealed", ["reason": .text(failure.message)])
      throw .refused(
        "The server has no key to seal certificates with; its operator finds the reason in the log")
    }
  }
}
