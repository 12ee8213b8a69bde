import PushAPNs
import PushBase
import PushCallbacks
import PushCrypto
import PushStorage

/// Seals all that is sealed in the database with the current one of the keys.
struct Resealing: Sendable {
  let keys: SealingKeys

  /// Tells how many rows there were. All secrets are opened before the first is changed, so that a failure changes nothing.
  func run(in transaction: WriteTransaction) throws(StorageError) -> Result<Int, Failure> {
    let credentials = try Self.credentials(transaction.reading)
    let callbacks = try transaction.reading.callbackSettings()
    let people = try transaction.reading.people().filter { $0.sealedTOTP != nil }
    let newCredentials: [[UInt8]]
    let newCallbacks: [CallbackSettingRow]
    let newPeople: [[UInt8]]
    do throws(Failure) {
      newCredentials = try credentials.map { credential throws(Failure) in try reseal(credential) }
      newCallbacks = try callbacks.map { setting throws(Failure) in try reseal(setting) }
      newPeople = try people.map { person throws(Failure) in try reseal(person) }
    } catch {
      return .failure(error)
    }
    for ((row, _), sealed) in zip(credentials, newCredentials) {
      _ = try transaction.resealAPNsCredential(app: row.app, id: row.id, sealed: sealed)
    }
    for row in newCallbacks { try transaction.setCallback(row) }
    for (person, sealed) in zip(people, newPeople) {
      try transaction.setTOTP(of: person.id, sealed: sealed, step: person.totpStep)
    }
    return .success(newCredentials.count + newCallbacks.count + newPeople.count)
  }

  private typealias Credential = (row: APNsCredentialRow, sealed: [UInt8])

  private static func credentials(_ reading: ReadTransaction) throws(StorageError) -> [Credential] {
    var found: [Credential] = []
    for row in try reading.apnsCredentials() {
      found.append((row, try reading.sealedAPNsCredential(app: row.app, id: row.id) ?? []))
    }
    return found
  }

  private func reseal(_ credential: Credential) throws(Failure) -> [UInt8] {
    let row = credential.row
    do throws(SealError) {
      return try CredentialSecret.reseal(credential.sealed, app: row.app, with: keys)
    } catch {
      throw Self.failure("credential \(row.id.rawValue) of the app \(row.appKey.text)", error)
    }
  }

  private func reseal(_ setting: CallbackSettingRow) throws(Failure) -> CallbackSettingRow {
    var row = setting
    do throws(SealError) {
      row.secret = try CallbackSecret.reseal(row.secret, app: row.app, with: keys)
      if let old = row.old {
        row.old = (try CallbackSecret.reseal(old.secret, app: row.app, with: keys), old.until)
      }
    } catch {
      throw Self.failure("the callback secret of the app number \(row.app.rawValue)", error)
    }
    return row
  }

  private func reseal(_ person: PersonRow) throws(Failure) -> [UInt8] {
    let context = SealingKeys.Context.oneTimePasswords(of: person.id)
    do throws(SealError) {
      return keys.seal(try keys.open(person.sealedTOTP ?? [], for: context), for: context)
    } catch {
      throw Self.failure("the one-time passwords of \(person.email)", error)
    }
  }

  private static func failure(_ what: String, _ error: SealError) -> Failure {
    .failed("\(what): \(error); nothing was changed")
  }
}

extension SealingKeys.Context {
  /// That of the secret behind a person's one-time passwords.
  static func oneTimePasswords(of person: PersonID) -> Self {
    Self(person: person.rawValue, purpose: "one-time passwords")
  }
}
