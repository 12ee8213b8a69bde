import BorealisBase
import BorealisCrypto
import Model
import Storage

/// The callback settings of an app, without secrets.
package struct CallbackSetting: Sendable, Equatable {
  /// The callback address; nil if only pushes with their own address have callbacks.
  package var url: String?
  /// The event types.
  package var types: CallbackTypes
  /// The format of callbacks to that URL.
  package var format: CallbackFormat
  /// Until when the previous secret signs as well; nil if there is none.
  package var oldSecretUntil: Timestamp?
  /// When the settings were last changed.
  package var changedAt: Timestamp

  /// Makes the settings of a stored row, without the secrets.
  package init(_ row: CallbackSettingRow, at now: Timestamp) {
    url = row.url
    types = row.types
    format = row.format
    oldSecretUntil = row.old.flatMap { now < $0.until ? $0.until : nil }
    changedAt = row.changedAt
  }
}

/// Why callbacks cannot be changed, read or sent.
package enum CallbackError: Error, Sendable, Equatable {
  /// The database failed; the call may be tried again.
  case storage
  /// Secrets cannot be sealed; with a line for the operator.
  case keys(String)
  /// The app has no callback settings.
  case nothingSetUp
  /// The app has no callback address.
  case noAddress
  /// A test of the same app is running.
  case busy
  /// Getui's format needs the master secret of Getui's API, and the app has none.
  case noGetuiSecret
}

extension CallbackService {
  /// Seconds for which the previous secret signs as well.
  package static let overlap: Int64 = 86_400

  /// The settings of an app, nil if it has none.
  package func setting(
    of app: AppID, found: @escaping @Sendable (Result<CallbackSetting?, CallbackError>) -> Void
  ) {
    let now = time.now()
    store.read { transaction throws(StorageError) in
      try transaction.callbacks.setting(app: app)
    } completion: { result in
      found(result.map { $0.map { CallbackSetting($0, at: now) } }.mapError { _ in .storage })
    }
  }

  /// Sets up an app's callbacks. `done` gets the secret if one was made: it is shown only then. With `note`,
  /// this and the following functions write the audit log in the same commit.
  package func set(
    _ app: AppID, url: String?, types: CallbackTypes, format: CallbackFormat = .borealis,
    noting note: AuditRow? = nil,
    done: @escaping @Sendable (Result<(setting: CallbackSetting, secret: String?), CallbackError>) -> Void
  ) {
    change(app, needsGetui: format == .getui, noting: note, done: done) { row, seal in
      let fresh = row == nil ? CallbackSecret.generate() : nil
      var changed =
        row ?? CallbackSettingRow(app: app, url: url, types: types, secret: [], changedAt: seal.now)
      if let fresh { changed.secret = seal(fresh) }
      changed.url = url
      changed.types = types.intersection(format.types)
      changed.format = format
      return (changed, fresh)
    }
  }

  /// Makes a new secret; the previous one also signs for a day. `.nothingSetUp` also if `rotation` does not
  /// fit the current state.
  package func rotateSecret(
    of app: AppID, _ rotation: SecretRotation = .shift, noting note: AuditRow? = nil,
    done: @escaping @Sendable (Result<(setting: CallbackSetting, secret: String?), CallbackError>) -> Void
  ) {
    change(app, noting: note, done: done) { row, seal in
      let fresh = CallbackSecret.generate()
      return row?.withSecret(seal(fresh), rotation, at: seal.now).map { ($0, fresh) }
    }
  }

  /// Deletes an app's callback settings; false if it has none. Batches for the app's own URL are given up.
  package func remove(
    _ app: AppID, noting note: AuditRow? = nil,
    done: @escaping @Sendable (Result<Bool, CallbackError>) -> Void
  ) {
    store.write(of: app) { transaction throws(StorageError) in
      guard try transaction.callbacks.remove(app: app) else { return false }
      if let note { try transaction.audit.add(note) }
      return true
    } completion: { [self] result in
      if case .success = result { apply(nil, of: app) }
      done(result.mapError { _ in .storage })
    }
  }

  /// Seals secrets of one app at one moment.
  private struct Sealer: Sendable {
    let app: AppID
    let keys: SealingKeys
    let now: Timestamp

    func callAsFunction(_ secret: String) -> [UInt8] { CallbackSecret.seal(secret, app: app, with: keys) }
  }

  /// Reads the keys, and then changes a row; a change of nil means that the app has no callbacks.
  private func change(
    _ app: AppID, needsGetui: Bool = false, noting note: AuditRow?,
    done: @escaping @Sendable (Result<(setting: CallbackSetting, secret: String?), CallbackError>) -> Void,
    _ body: @escaping @Sendable (CallbackSettingRow?, Sealer) -> (row: CallbackSettingRow, secret: String?)?
  ) {
    store.read { transaction throws(StorageError) in
      let hasGetui = try transaction.getui.access(app: app) != nil
      return (
        ids: SealingKeys.ids(of: try transaction.credentials.allSealed()), hasGetui: !needsGetui || hasGetui
      )
    } completion: { [self] result in
      guard case .success(let (keysInUse, hasGetui)) = result else { return done(.failure(.storage)) }
      guard hasGetui else { return done(.failure(.noGetuiSecret)) }
      switch keys.readOrMake(keysInUse) {
      case .failure(let failure):
        log.error("cannot seal a callback secret", ["reason": .text(failure.message)])
        done(.failure(.keys(failure.message)))
      case .success(let keys):
        write(app, noting: note, Sealer(app: app, keys: keys, now: time.now()), body, done)
      }
    }
  }

  private func write(
    _ app: AppID, noting note: AuditRow?, _ sealer: Sealer,
    _ body: @escaping @Sendable (CallbackSettingRow?, Sealer) -> (row: CallbackSettingRow, secret: String?)?,
    _ done: @escaping @Sendable (Result<(setting: CallbackSetting, secret: String?), CallbackError>) -> Void
  ) {
    store.write(of: app) { transaction throws(StorageError) -> (row: CallbackSettingRow, secret: String?)? in
      guard var changed = body(try transaction.callbacks.setting(app: app), sealer) else { return nil }
      changed.row.changedAt = sealer.now
      try transaction.callbacks.set(changed.row)
      if let note { try transaction.audit.add(note) }
      return changed
    } completion: { [self] result in
      switch result {
      case .failure: done(.failure(.storage))
      case .success(nil): done(.failure(.nothingSetUp))
      case .success(let changed?):
        apply(changed.row, of: app)
        done(.success((CallbackSetting(changed.row, at: sealer.now), changed.secret)))
      }
    }
  }

  /// Applies the settings to pushes accepted from now on.
  private func apply(_ row: CallbackSettingRow?, of app: AppID) {
    router.callbacks.apply(row, of: app)
    log.info("callbacks set up", ["app": .number(Int64(app.rawValue)), "is_set": .flag(row != nil)])
  }
}
