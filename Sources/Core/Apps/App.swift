import BorealisBase
import BorealisCrypto
import Model
import Storage
import Synchronization

/// An app whose registrations are in memory.
package final class App: Sendable {
  /// Row number.
  package let id: AppID
  /// Public key.
  package let key: AppKey
  /// What people call it; may change.
  package var name: String { access.withLock { $0.name } }
  /// Whose it is.
  package let account: AccountID
  /// Its registrations and what waits for them.
  package let directory: AppDirectory

  private struct Access: Sendable {
    var name: String
    var secretHash: [UInt8]
    var oldSecretHash: [UInt8]?
    var isDisabled: Bool
    /// Nil for everywhere.
    var allowed: [IPNetwork]?
    var plan: PlanRow
    var importsFrom: Timestamp
    var facts: DeviceFactSet
    var brakes: BrakesRow
    var caps: CapsRow
    var quietHours: QuietHours?

    init(_ row: AppRow) {
      name = row.name
      secretHash = row.secretHash
      oldSecretHash = row.oldSecretHash
      isDisabled = row.isDisabled
      allowed = row.allowedNetworks.map { $0.split(separator: " ").compactMap { IPNetwork($0) } }
      plan = row.plan
      importsFrom = row.importsFrom
      facts = row.facts
      brakes = row.brakes
      caps = row.caps
      quietHours = row.quietHours
    }
  }

  private let access: Mutex<Access>
  private let keyRing: Mutex<APIKeyRing>
  /// What pushes may say by a name.
  let templates = NamedTable<Template>()
  /// A/B tests that pushes may name.
  let abTests = NamedTable<ABTest>()
  /// How many notifications its devices were to get today.
  let counts = DayCounts()
  /// Its calls that the log of requests has not stored.
  let requests = PendingRequests()
  private let deleted = Atomic<Bool>(false)
  /// When a call last came with the secret before the present one, in milliseconds; 0 for never since the
  /// start.
  private let oldSecretUse = Atomic<Int64>(0)
  /// Pushes accepted since the app is in memory.
  private let accepted = Atomic<Int>(0)
  /// What the app has set up for callbacks: its bits, and above them whether it has set up any, an address,
  /// and Getui's format.
  private let callbacks = Atomic<UInt16>(0)

  /// Whether rows have numbers of erased facts left, and whether some are being looked at.
  private let erasure: Mutex<(isDue: Bool, isRunning: Bool)>

  init(_ row: AppRow, limits: PendingLimits, at now: Timestamp) {
    id = row.id
    key = row.key
    account = row.account
    access = Mutex(Access(row))
    keyRing = Mutex(APIKeyRing(row.keys))
    erasure = Mutex((row.hasErasedFacts, false))
    directory = AppDirectory(
      app: row.id, limits: limits, start: UInt32(clamping: now.seconds))
  }

  /// A push was accepted and stored.
  func countAccepted() { accepted.add(1, ordering: .relaxed) }

  /// Pushes accepted since the app is in memory, those of schedules included.
  package var acceptedCount: Int { accepted.load(ordering: .relaxed) }

  /// Applies the app's callback settings; nil for none.
  func setCallbacks(_ row: CallbackSettingRow?) {
    let bits = row.map {
      UInt16($0.types.rawValue) | 1 << 8 | ($0.url == nil ? 0 : 1 << 9) | ($0.format == .getui ? 1 << 10 : 0)
    }
    callbacks.store(bits ?? 0, ordering: .relaxed)
  }

  /// How callbacks to the app's own address look.
  package var callbackFormat: CallbackFormat {
    callbacks.load(ordering: .relaxed) & 1 << 10 == 0 ? .borealis : .getui
  }

  /// The callback types of a push: its own, or else those that the app has turned on. Nil for none, as when
  /// neither has a URL.
  func callback(for request: AcceptRequest) -> PushCallbackRow? {
    let bits = callbacks.load(ordering: .relaxed)
    let asked = request.push.callback
    guard asked?.url != nil || bits & 1 << 9 != 0 else { return nil }
    let switchedOn = bits & 1 << 8 == 0 ? .push : CallbackTypes(rawValue: UInt8(truncatingIfNeeded: bits))
    var types = (asked?.types.map { CallbackTypes(rawValue: $0) } ?? switchedOn).intersection(.push)
    if asked?.url == nil, callbackFormat == .getui {
      types.formIntersection(callbackFormat.types)
      if types.contains(.delivered) { types.insert(.shown) }
    }
    guard !types.isEmpty else { return nil }
    return PushCallbackRow(
      id: MessageID(0), url: asked?.url, types: types, sendno: request.sendno, params: asked?.params ?? [])
  }

  /// Compares a master secret with the current and the previous one, in constant time. Secrets are 96 random
  /// bits, so a plain digest is sufficient. A use of the previous one is recorded if the time is given.
  package func accepts(masterSecret: [UInt8], at now: Timestamp? = nil) -> Bool {
    accepts(digest: SHA256.digest(masterSecret), at: now)
  }

  private func accepts(digest: [UInt8], at now: Timestamp?) -> Bool {
    let (present, before) = access.withLock { ($0.secretHash, $0.oldSecretHash) }
    let isPresent = constantTimeEquals(digest, present)
    // Always compared, so that the time taken says nothing about which of them it is like.
    let isBefore = constantTimeEquals(digest, before ?? present)
    if isBefore, before != nil, let now { oldSecretUse.store(now.milliseconds, ordering: .relaxed) }
    return isPresent || isBefore
  }

  /// What a secret is: the master secret, or that of an API key that is not revoked; nil if it is neither. A
  /// use is recorded if the time is given, of a key only before it expires.
  package func credential(_ secret: [UInt8], at now: Timestamp? = nil) -> AppCredential? {
    let digest = SHA256.digest(secret)
    if accepts(digest: digest, at: now) { return .master }
    guard let key = keyRing.withLock({ $0.find(digest) }) else { return nil }
    if let now, !key.grant.isExpired(at: now) { key.noteUse(at: now) }
    return .key(key)
  }

  /// Its API keys that are not revoked, in no order.
  package var keys: [APIKey] { keyRing.withLock { $0.all } }

  /// Whether the secret before the present one is accepted as well.
  package var hasOldSecret: Bool { access.withLock { $0.oldSecretHash != nil } }

  /// When a call last came with the secret before the present one; nil if none has since the server started.
  package var oldSecretUsedAt: Timestamp? {
    let moment = oldSecretUse.load(ordering: .relaxed)
    return moment == 0 || !hasOldSecret ? nil : Timestamp(milliseconds: moment)
  }

  /// Whether the app takes nothing: the operator has turned it or its account off, or it is deleted.
  package var isDisabled: Bool { access.withLock { $0.isDisabled } || isDeleted }

  /// Whether it is deleted: what still comes for it must not be stored.
  package var isDeleted: Bool { deleted.load(ordering: .relaxed) }

  /// Whether calls may come from an address; from an unknown one only if they may come from everywhere.
  package func allows(_ address: IPAddress?) -> Bool {
    guard let allowed = access.withLock({ $0.allowed }) else { return true }
    guard let address else { return false }
    return allowed.contains { $0.contains(address) }
  }

  /// What it may ask for.
  package var plan: PlanRow { access.withLock { $0.plan } }

  /// Those of some registrations that may get pushes at a moment.
  func admissible(_ recipients: Recipients, at now: Timestamp) -> Recipients {
    directory.admissible(recipients, usesTokens: access.withLock { $0.importsFrom } <= now)
  }

  /// Whether a push that was accepted at a moment was not for a registration since that was imported, and no
  /// device had come for it.
  func isImportedOnly(_ number: RegistrationNumber, hasToken: Bool, at moment: Timestamp) -> Bool {
    directory.isAwaited(number) && (!hasToken || moment < access.withLock { $0.importsFrom })
  }

  /// What keeps a person from pushing to many devices alone.
  package var brakes: BrakesRow { access.withLock { $0.brakes } }

  /// How many notifications a device gets in a day.
  package var caps: CapsRow { access.withLock { $0.caps } }

  /// When devices get no notifications; nil for at no time.
  package var quietHours: QuietHours? { access.withLock { $0.quietHours } }

  /// The facts of devices that it asks for.
  package var facts: DeviceFactSet { access.withLock { $0.facts } }

  /// Whether to look for numbers of erased facts now; `endErasingFacts` follows.
  func beginErasingFacts() -> Bool {
    erasure.withLock { erasure in
      guard erasure.isDue, !erasure.isRunning else { return false }
      erasure.isRunning = true
      return true
    }
  }

  /// Some rows were looked at, or could not be.
  func endErasingFacts(isComplete: Bool) {
    erasure.withLock { $0 = (!isComplete, false) }
  }

  /// What has changed of an app that its connected devices have to know.
  struct Change {
    /// Whether it was turned off.
    var isTurnedOff = false
    /// The facts that it asks for, if these are others than before.
    var facts: DeviceFactSet?
  }

  /// Applies what the operator may have changed.
  func update(_ row: AppRow) -> Change {
    directory.keepFacts(row.facts)
    if row.hasErasedFacts { erasure.withLock { $0.isDue = true } }
    keyRing.withLock { $0.keep(row.keys) }
    return access.withLock { access in
      let before = access
      if row.oldSecretHash != access.oldSecretHash { oldSecretUse.store(0, ordering: .relaxed) }
      access = Access(row)
      return Change(
        isTurnedOff: row.isDisabled && !before.isDisabled, facts: row.facts == before.facts ? nil : row.facts)
    }
  }

  func markDeleted() { deleted.store(true, ordering: .relaxed) }
}
