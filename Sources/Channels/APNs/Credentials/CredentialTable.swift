import BorealisBase
import BorealisCrypto
import Storage

/// The opened secret of a credential, or why it cannot be opened.
enum OpenedSecret: Sendable {
  case token(ProviderTokenMint)
  case certificate(CertificateKeyPair)
  case unreadable(String)
}

/// The state of `CredentialStore` under its lock.
struct CredentialTable: Sendable {
  private struct Entry: Sendable {
    var row: APNsCredentialRow
    var secret: OpenedSecret
    /// The status that was last reported.
    var told: APNsCredentialStatus

    func status(at now: Timestamp) -> APNsCredentialStatus {
      if case .paused(let reason) = row.state { return .paused(reason) }
      if case .unreadable(let reason) = secret { return .unreadable(reason) }
      if let end = row.expiresAt, end <= now { return .expired }
      return .usable
    }
  }

  private struct Place: Hashable, Sendable {
    let app: AppID
    let environment: APNsEnvironment
  }

  /// Each key has one mint, whichever apps use it.
  private struct MintKey: Hashable {
    let teamID: String
    let keyID: String
    let fingerprint: [UInt8]
  }

  private var entries: [APNsCredentialID: Entry] = [:]
  /// Ascending.
  private var places: [Place: [APNsCredentialID]] = [:]
  /// Pauses that apply whatever the database says.
  var pauses = CredentialPauses<APNsCredentialID>()
  /// Whether the database was read.
  private(set) var isKnown = false

  /// The credentials whose secrets need not be read again.
  var openedIDs: Set<APNsCredentialID> {
    Set(
      entries.filter { entry in
        if case .unreadable = entry.value.secret { false } else { true }
      }.keys)
  }

  /// Applies the rows of the database with the opened secrets; returns the changes.
  mutating func apply(
    _ rows: [APNsCredentialRow], opened: [APNsCredentialID: OpenedSecret], read: Int, at now: Timestamp
  ) -> [APNsCredentialChange] {
    isKnown = true
    let ids = Set(rows.map(\.id))
    pauses.forget(read: read) { ids.contains($0.id) }
    let before = entries
    var mints = knownMints
    entries = [:]
    places = [:]
    var changes: [APNsCredentialChange] = []
    for var row in rows {
      guard let secret = opened[row.id] ?? before[row.id]?.secret else { continue }
      if let pause = pauses[row.id] { row.state = .paused(pause.reason) }
      var entry = Entry(row: row, secret: Self.shared(secret, row, &mints), told: .usable)
      entry.told = entry.status(at: now)
      entries[row.id] = entry
      places[Place(app: row.app, environment: row.environment), default: []].append(row.id)
      if before[row.id]?.told != entry.told { changes.append(Self.change(row, entry.told)) }
    }
    for (id, entry) in before where entries[id] == nil { changes.append(Self.change(entry.row, nil)) }
    return changes.sorted { $0.id < $1.id }
  }

  func selection(app: AppID, environment: APNsEnvironment, at now: Timestamp) -> CredentialStore.Selection {
    let known = (places[Place(app: app, environment: environment)] ?? []).compactMap { entries[$0] }
    guard let newest = known.last else { return .missing }
    guard let best = best(of: known, at: now) else {
      return .unusable(newest.status(at: now).problem ?? "it cannot be used")
    }
    return .use(best)
  }

  /// Pauses a credential in memory, unless it is paused already.
  mutating func pause(
    _ id: APNsCredentialID, app: AppID, reason: String, at now: Timestamp
  ) -> [APNsCredentialChange] {
    guard var entry = entries[id], entry.row.app == app else { return [] }
    if case .paused = entry.row.state { return [] }
    entry.row.state = .paused(reason)
    entry.told = entry.status(at: now)
    entries[id] = entry
    pauses.add(id, of: app, reason, at: now)
    return [Self.change(entry.row, entry.told)]
  }

  func expiries(at now: Timestamp) -> [APNsCredentialExpiry] {
    entries.values.compactMap { entry in
      guard let end = entry.row.expiresAt else { return nil }
      return APNsCredentialExpiry(
        id: entry.row.id, app: entry.row.app, appKey: entry.row.appKey, environment: entry.row.environment,
        topic: entry.row.topic, expiresAt: end,
        daysLeft: APNsCredentialExpiry.daysLeft(until: end, from: now),
        isReplaced: entry.row.replacedBy != nil)
    }.sorted { ($0.expiresAt, $0.id) < ($1.expiresAt, $1.id) }
  }

  /// The credential in use for each app and environment; if none can be used, the newest.
  func inUse(at now: Timestamp) -> [APNsCredentialRow] {
    places.values.compactMap { ids in
      let known = ids.compactMap { entries[$0] }
      let chosen = best(of: known, at: now)?.id ?? known.last?.row.id
      return chosen.flatMap { entries[$0]?.row }
    }.sorted { $0.id < $1.id }
  }

  /// How many there are.
  var count: Int { entries.count }

  func unusableCount(at now: Timestamp) -> Int {
    entries.values.count { $0.status(at: now) != .usable }
  }

  private func best(of known: [Entry], at now: Timestamp) -> APNsCredential? {
    let usable = known.filter { $0.status(at: now) == .usable }
    guard let entry = usable.last(where: { $0.row.state == .active }) ?? usable.last else { return nil }
    let authentication: APNsCredential.Authentication
    switch entry.secret {
    case .token(let mint): authentication = .token(mint)
    case .certificate(let pair): authentication = .certificate(pair)
    case .unreadable: return nil
    }
    return APNsCredential(
      id: entry.row.id, app: entry.row.app, environment: entry.row.environment, topic: entry.row.topic,
      authentication: authentication, expiresAt: entry.row.expiresAt)
  }

  private var knownMints: [MintKey: ProviderTokenMint] {
    var mints: [MintKey: ProviderTokenMint] = [:]
    for entry in entries.values {
      if case .token(let mint) = entry.secret { mints[Self.key(of: mint)] = mint }
    }
    return mints
  }

  private static func shared(
    _ secret: OpenedSecret, _ row: APNsCredentialRow, _ mints: inout [MintKey: ProviderTokenMint]
  ) -> OpenedSecret {
    guard case .token(let mint) = secret else { return secret }
    let known = mints[key(of: mint)] ?? mint
    mints[key(of: mint)] = known
    return .token(known)
  }

  private static func key(of mint: ProviderTokenMint) -> MintKey {
    MintKey(teamID: mint.teamID, keyID: mint.keyID, fingerprint: mint.key.fingerprint)
  }

  private static func change(_ row: APNsCredentialRow, _ status: APNsCredentialStatus?)
    -> APNsCredentialChange
  {
    APNsCredentialChange(id: row.id, app: row.app, environment: row.environment, status: status)
  }
}
