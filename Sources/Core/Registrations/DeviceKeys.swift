import BorealisBase
import Model
import Storage

/// Keys for end-to-end encryption: the public keys of devices, and those that app servers share with them,
/// which the server stores encrypted and cannot decrypt.
package struct DeviceKeys: Sendable {
  /// The most registrations that one call looks at, or shares a key with.
  package static let mostInCall = 1000
  /// The most bytes of an enciphered key: what a frame of the device protocol counts.
  package static let mostBytes = 255
  /// Keys that are kept for a registration, the newest ones.
  package static let keptForDevice = 32
  /// Seconds for which a shared key is kept: longer than any push.
  package static let lifetime: Int64 = 30 * 86_400

  let store: Store
  let time: any TimeSource

  /// The public key of a registration.
  package struct PublicKey: Sendable {
    /// Whose it is.
    package let registrationID: RegistrationID
    package let kind: DeviceKeyKind
    /// The point, then 16 bytes that go into every content's key.
    package let bytes: [UInt8]
  }

  /// A part of an audience.
  package struct Page: Sendable {
    /// The keys of those who have one.
    package let keys: [PublicKey]
    /// Where the next page begins; nil when there is none.
    package let next: UInt32?
  }

  /// The public keys of an audience: of the first `limit` registrations from number `start` on.
  package func list(
    _ audience: Audience, of app: App, from start: UInt32, limit: Int,
    reply: @escaping @Sendable (Result<Page, DeviceFailure>) -> Void
  ) {
    let members = app.directory.resolve(audience, platforms: .all)?.numbers ?? NumberSet()
    let found = members.members(from: RegistrationNumber(start), limit: limit + 1)
    let looked = Array(found.prefix(limit))
    let next = found.count > limit ? found[limit].rawValue : nil
    store.read { transaction throws(StorageError) in
      try transaction.deviceKeys.find(app: app.id, of: looked)
    } completion: { result in
      reply(
        result.map { rows in
          let keys = rows.compactMap { row in
            app.directory.identity(row.number).map {
              PublicKey(registrationID: $0.id, kind: row.kind, bytes: row.bytes)
            }
          }
          return Page(keys: keys, next: next)
        }.mapError { _ in .unavailable })
    }
  }

  /// Shares a key with registrations, encrypted for each; returns the unknown ones.
  package func share(
    _ id: ContentKeyID, _ sealed: [(RegistrationID, [UInt8])], of app: App,
    reply: @escaping @Sendable (Result<[RegistrationID], DeviceFailure>) -> Void
  ) {
    let now = time.now()
    store.write(of: app.id) { transaction throws(StorageError) in
      var unknown: [RegistrationID] = []
      for (registration, bytes) in sealed {
        guard let number = app.directory.find(registration),
          try transaction.deviceKeys.share(
            app: app.id, with: number, id, sealed: bytes, limit: Self.keptForDevice, at: now)
        else {
          unknown.append(registration)
          continue
        }
      }
      return unknown
    } completion: {
      reply($0.mapError { _ in .unavailable })
    }
  }

  /// Stores the public key of a device, none if it is empty.
  package func set(
    _ kind: DeviceKeyKind, _ bytes: [UInt8], of number: RegistrationNumber, in app: App,
    reply: @escaping @Sendable (Result<Void, DeviceFailure>) -> Void
  ) {
    let now = time.now()
    store.write(of: app.id, single: true) { transaction throws(StorageError) in
      try transaction.deviceKeys.set(app: app.id, number: number, kind: kind, bytes, at: now)
    } completion: { result in
      reply(
        result.mapError { _ in .unavailable }.flatMap { $0 ? .success(()) : .failure(.unknownRegistration) })
    }
  }

  /// A key that is shared with a device, enciphered for it.
  package func shared(
    _ id: ContentKeyID, with number: RegistrationNumber, in app: App,
    reply: @escaping @Sendable (Result<[UInt8], DeviceFailure>) -> Void
  ) {
    store.read { transaction throws(StorageError) in
      try transaction.deviceKeys.shared(app: app.id, with: number, id)
    } completion: { result in
      reply(
        result.mapError { _ in .unavailable }.flatMap { $0.map { .success($0) } ?? .failure(.unknownKey) })
    }
  }
}
