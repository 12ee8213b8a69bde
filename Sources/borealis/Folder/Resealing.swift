import BorealisBase
import BorealisCrypto
import Channels
import Core
import Model
import Storage

/// Seals all that is sealed in the database with the current one of the keys.
struct Resealing: Sendable {
  let keys: SealingKeys

  /// Returns how many rows there were. All secrets are opened before the first is changed, so that a failure
  /// changes nothing.
  func run(in transaction: WriteTransaction) throws(StorageError) -> Result<Int, Failure> {
    let credentials = try Self.credentials(transaction.reading)
    let callbacks = try transaction.callbacks.settings(in: .all)
    let people = try transaction.people.all().filter { $0.sealedTOTP != nil }
    let newCredentials: [[UInt8]]
    let newCallbacks: [CallbackSettingRow]
    let newPeople: [[UInt8]]
    let accesses = try transaction.getui.accesses()
    let newAccesses: [GetuiAccessRow]
    do throws(Failure) {
      newCredentials = try credentials.map { credential throws(Failure) in try reseal(credential) }
      newCallbacks = try callbacks.map { setting throws(Failure) in try reseal(setting) }
      newPeople = try people.map { person throws(Failure) in try reseal(person) }
      newAccesses = try accesses.map { access throws(Failure) in try reseal(access) }
    } catch {
      return .failure(error)
    }
    for ((row, _), sealed) in zip(credentials, newCredentials) {
      _ = try transaction.credentials.reseal(app: row.app, id: row.id, sealed: sealed)
    }
    for row in newCallbacks { try transaction.callbacks.set(row) }
    for (person, sealed) in zip(people, newPeople) {
      try transaction.people.resealTOTP(of: person.id, sealed: sealed)
    }
    for row in newAccesses { try transaction.getui.setAccess(row) }
    return .success(newCredentials.count + newCallbacks.count + newPeople.count + newAccesses.count)
  }

  /// Removes everything that the key with this ID had sealed. Returns what it was, for people.
  static func forget(_ lost: String, in transaction: WriteTransaction) throws(StorageError) -> [String] {
    func isLost(_ sealed: [UInt8]) -> Bool { SealingKeys.ids(of: [sealed]).contains(lost) }
    var removed: [String] = []
    let now = SystemTime().now()
    for (row, sealed) in try credentials(transaction.reading) where isLost(sealed) {
      _ = try transaction.credentials.remove(app: row.app, id: row.id, at: now)
      removed.append(name(row))
    }
    let apps = try transaction.apps.all(in: .all)
    for var row in try transaction.callbacks.settings(in: .all) {
      let app = apps.first { $0.id == row.app }?.key.text ?? "number \(row.app.rawValue)"
      if isLost(row.secret) {
        _ = try transaction.callbacks.remove(app: row.app)
        removed.append("callbacks of the app \(app)")
      } else if let old = row.old, isLost(old.secret) {
        row.old = nil
        try transaction.callbacks.set(row)
        removed.append("the earlier callback secret of the app \(app)")
      }
    }
    for row in try transaction.getui.accesses() where isLost(row.secret) {
      _ = try transaction.getui.removeAccess(app: row.app)
      let app = apps.first { $0.id == row.app }?.key.text ?? "number \(row.app.rawValue)"
      removed.append("access to Getui's API of the app \(app)")
    }
    for person in try transaction.people.all() where isLost(person.sealedTOTP ?? []) {
      try transaction.people.setTOTP(of: person.id, sealed: nil, step: 0)
      removed.append("one-time passwords of \(person.email)")
    }
    return removed
  }

  private typealias Credential = (row: CredentialRow, sealed: [UInt8])

  private static func credentials(_ reading: ReadTransaction) throws(StorageError) -> [Credential] {
    var found: [Credential] = []
    for row in try reading.credentials.all(in: .all) {
      found.append((row, try reading.credentials.sealed(app: row.app, id: row.id) ?? []))
    }
    return found
  }

  private func reseal(_ credential: Credential) throws(Failure) -> [UInt8] {
    do throws(SealError) {
      return try CredentialSecret.reseal(credential.sealed, of: credential.row, with: keys)
    } catch {
      throw Self.failure(Self.name(credential.row), error)
    }
  }

  private static func name(_ row: CredentialRow) -> String {
    let channel = ChannelRegistry.infos.first { $0.id == row.channel } ?? .unknown(row.channel)
    return "\(channel.english) credential \(row.id.text) of the app \(row.appKey.text)"
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

  private func reseal(_ access: GetuiAccessRow) throws(Failure) -> GetuiAccessRow {
    var row = access
    do throws(SealError) {
      row.secret = try GetuiSecret.reseal(row.secret, app: row.app, with: keys)
    } catch {
      throw Self.failure("the master secret for Getui's API of the app number \(row.app.rawValue)", error)
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
