import BorealisBase
import Model
import Storage

/// Where a device is connected: its loop, and slot and generation of its connection there.
package struct Location: Hashable, Sendable {
  /// Index of the event loop.
  package let loop: UInt16
  /// The connection's slot on that loop.
  package let slot: UInt32
  /// The slot's generation, which distinguishes a connection from its successors, and says which of two is
  /// the older.
  package let generation: UInt32

  /// Makes a location.
  package init(loop: UInt16, slot: UInt32, generation: UInt32) {
    self.loop = loop
    self.slot = slot
    self.generation = generation
  }

  /// Set in generations that count the connections of a gateway. On nodes of earlier versions each slot has a
  /// count of its own, without this bit.
  private static let counted: UInt32 = 1 << 23

  /// The generation of a gateway's next connection after so many: 24 bits, so that loops have room for it.
  package static func generation(after count: UInt32) -> UInt32 { counted | count & (counted - 1) }

  /// Whether the gateway of both connections accepted this one earlier than another; nil if it does not say.
  /// Only for connections with less than four million others between them.
  package func isOlder(than other: Location) -> Bool? {
    guard generation & other.generation & Self.counted != 0 else { return nil }
    return (generation &- other.generation) & (Self.counted >> 1) != 0
  }
}

/// What the directory keeps of a registration, as the database knows it.
package struct RegistrationEntry: Sendable {
  /// The compact number within the app.
  package var number: RegistrationNumber
  /// The public ID.
  package var id: RegistrationID
  /// What the device runs.
  package var platform: Platform
  /// SHA-256 of the device secret, its first 16 bytes.
  package var secretHash: (UInt64, UInt64)
  /// The alias, if one is set.
  package var alias: String?
  /// Numbers of its tags.
  package var tags: [UInt32]
  /// When the device was last connected, in Unix seconds.
  package var lastSeen: UInt32
  /// Its tokens, each with the service that it belongs to.
  package var tokens: [HeldToken]
  /// How its last connection ended.
  package var lastEnd: ConnectionEnd
  /// Whether it gets no pushes.
  package var isBlocked: Bool
  /// Whether a device was given it and has not logged in, as far as is known; see `Registrations.confirm`.
  package var isUnconfirmed: Bool
  /// Whether it was imported, and no device has come for it.
  package var isAwaited: Bool
  /// Numbers of the values of its facts.
  package var facts: [UInt32]
  /// When it registered, in Unix seconds; 0 if not known.
  package var registeredAt: UInt32

  /// Makes an entry.
  package init(
    number: RegistrationNumber, id: RegistrationID, platform: Platform, secretHash: (UInt64, UInt64),
    alias: String? = nil, tags: [UInt32] = [], lastSeen: UInt32 = 0, tokens: [HeldToken] = [],
    lastEnd: ConnectionEnd = .unknown, isBlocked: Bool = false, isUnconfirmed: Bool = false,
    isAwaited: Bool = false, facts: [UInt32] = [], registeredAt: UInt32 = 0
  ) {
    self.number = number
    self.id = id
    self.platform = platform
    self.secretHash = secretHash
    self.alias = alias
    self.tags = tags
    self.lastSeen = lastSeen
    self.tokens = tokens
    self.lastEnd = lastEnd
    self.isBlocked = isBlocked
    self.isUnconfirmed = isUnconfirmed
    self.isAwaited = isAwaited
    self.facts = facts
    self.registeredAt = registeredAt
  }
}

/// The registrations of one app in memory, found by ID, alias, tag and platform. Not thread-safe: its owner
/// locks.
struct RegistrationTable: Sendable {
  /// One registration: flat, without references, so that a million are a few large allocations.
  struct Record: Sendable {
    var idHigh: UInt64 = 0
    var idLow: UInt16 = 0
    var platform: UInt8 = 0
    var isActive = false
    var isForeground = false
    var hasAlias = false
    var isOnline = false
    /// How the connection before this one ended (`ConnectionEnd`).
    var lastEnd: UInt8 = 0
    var loop: UInt16 = 0
    var slot: UInt32 = 0
    var generation: UInt32 = 0
    /// When the device was last connected; while connected, when it logged in, if known.
    var lastSeen: UInt32 = 0
    /// The last contact that was stored, or loaded at the start.
    var notedAt: UInt32 = 0
    /// When the latest connection began, in Unix seconds; 0 if not recorded.
    var cameAt: UInt32 = 0
    var secret: (UInt64, UInt64) = (0, 0)
    /// Two keyed 64-bit hashes represent the alias: the first finds it, the second confirms it.
    var aliasHash: (UInt64, UInt64) = (0, 0)
    var pending = PendingLists.List()
    /// Since when it had been offline before the latest connection, in Unix seconds; 0 if not recorded. Like
    /// `cameAt` it uses bytes that would be padding.
    var awaySince: UInt32 = 0

    var id: RegistrationID { RegistrationID(high: idHigh, low: idLow) }
    var location: Location? {
      isOnline ? Location(loop: loop, slot: slot, generation: generation) : nil
    }

    /// Records the time of a login. A connection at the kill of a server had ended by `start` at the latest.
    mutating func noteLogin(at seconds: UInt32, serverStart start: UInt32) {
      let isStopped = lastEnd == ConnectionEnd.serverStopped.rawValue
      awaySince = isOnline ? seconds : isStopped ? start : lastSeen
      cameAt = seconds
      lastSeen = seconds
    }

    mutating func connect(at location: Location, isForeground: Bool) {
      isOnline = true
      self.isForeground = isForeground
      loop = location.loop
      slot = location.slot
      generation = location.generation
    }
  }

  /// One at each number that was ever given out. Reached as they are: an accessor around theirs would copy
  /// one at every use, and the compiler has freed such a copy early.
  var records = ChunkedArray(blank: Record())
  private var byID = HashIndex()
  private var byAlias = HashIndex()
  /// Reached as they are, too.
  var tags = TagTable()
  /// Reached as they are, too.
  var facts = FactTable()
  /// When each registered, in Unix seconds: a column of its own, so that a search has a copy of it.
  private(set) var registered = ChunkedArray<UInt32>(blank: 0)
  private var platformMembers: [Platform: NumberSet] = [:]
  private var tokenHolders = TokenHolders()
  /// Registrations that get no pushes: mostly none.
  private(set) var blocked = NumberSet()
  /// Registrations that a device was given and has not logged in as: mostly none.
  private var unconfirmed = NumberSet()
  /// Imported registrations for which no device has come.
  private(set) var awaited = NumberSet()

  /// Registrations that are not replaced.
  private(set) var count = 0

  /// Whether a number stands for a registration that is not replaced.
  func isActive(_ number: RegistrationNumber) -> Bool {
    Int(number.rawValue) < records.count && records[number.rawValue].isActive
  }

  /// Reserves capacity in the indexes, so that they are not moved while many registrations are loaded.
  mutating func reserve(_ registrations: Int) {
    byID.reserve(registrations)
    byAlias.reserve(registrations)
  }

  mutating func insert(_ entry: RegistrationEntry) {
    records.reach(entry.number.rawValue)
    precondition(!records[entry.number.rawValue].isActive, "a registration number is used twice")
    var record = Record()
    record.idHigh = entry.id.high
    record.idLow = entry.id.low
    record.platform = entry.platform.rawValue
    record.isActive = true
    record.lastSeen = entry.lastSeen
    record.notedAt = entry.lastSeen
    record.lastEnd = entry.lastEnd.rawValue
    record.secret = entry.secretHash
    records[entry.number.rawValue] = record
    byID.insert(Self.hash(of: entry.id), entry.number.rawValue)
    platformMembers[entry.platform, default: NumberSet()].insert(entry.number)
    count += 1
    if let alias = entry.alias { setAlias(alias, of: entry.number) }
    changeTags(of: entry.number, added: entry.tags, removed: [])
    for token in entry.tokens { setToken(token) }
    if entry.isBlocked { blocked.insert(entry.number) }
    if entry.isUnconfirmed { unconfirmed.insert(entry.number) }
    if entry.isAwaited { awaited.insert(entry.number) }
    if !entry.facts.isEmpty { facts.load(entry.facts, of: entry.number) }
    setRegistered(entry)
  }

  private mutating func setRegistered(_ entry: RegistrationEntry) {
    registered.reach(entry.number.rawValue)
    registered[entry.number.rawValue] = entry.registeredAt
  }

  /// Brings a registration in line with what is stored of it; it has lost some tags.
  mutating func refresh(_ entry: RegistrationEntry, removed: [UInt32]) {
    setAlias(entry.alias, of: entry.number)
    changeTags(of: entry.number, added: entry.tags, removed: removed)
    if !entry.facts.isEmpty { facts.load(entry.facts, of: entry.number) }
    for token in entry.tokens { setToken(token) }
  }

  /// A device is given a registration that is here already.
  mutating func adopt(_ entry: RegistrationEntry) {
    records[entry.number.rawValue].secret = entry.secretHash
    records[entry.number.rawValue].lastSeen = entry.lastSeen
    for token in entry.tokens { setToken(token) }
    awaited.remove(entry.number)
    setRegistered(entry)
    if entry.isUnconfirmed { unconfirmed.insert(entry.number) }
  }

  /// The secret of a registration whose device has not logged in, as far as is known; nil for all others.
  func unconfirmedSecret(of number: RegistrationNumber) -> (UInt64, UInt64)? {
    guard !unconfirmed.isEmpty, unconfirmed.contains(number) else { return nil }
    return records[number.rawValue].secret
  }

  /// A registration's device has logged in.
  mutating func confirm(_ number: RegistrationNumber) { unconfirmed.remove(number) }

  /// Removes a registration and everything that refers to it. Its number is never reused. `tags` are its
  /// tags, from the database, since storing them here would cost bytes for every registration.
  mutating func remove(_ number: RegistrationNumber, tags: [UInt32]) {
    assert(
      isActive(number) && records[number.rawValue].pending.count == 0,
      "nothing waits for a registration that goes")
    setAlias(nil, of: number)
    byID.remove(Self.hash(of: records[number.rawValue].id), number.rawValue)
    if let platform = Platform(rawValue: records[number.rawValue].platform) {
      platformMembers[platform]?.remove(number)
    }
    changeTags(of: number, added: [], removed: tags)
    tokenHolders.remove(number)
    facts.remove(number)
    blocked.remove(number)
    unconfirmed.remove(number)
    awaited.remove(number)
    records[number.rawValue] = Record()
    count -= 1
  }

  func find(_ id: RegistrationID) -> RegistrationNumber? {
    byID.first(Self.hash(of: id)) { records[$0].idHigh == id.high && records[$0].idLow == id.low }
      .map { RegistrationNumber($0) }
  }

  /// Random for each process: an import brings IDs of somebody else's choice, who must not choose their
  /// places.
  private static let keys = (SystemRandom.next(), SystemRandom.next())

  /// Mixes all digits: imported IDs may be counted up. The halves of the product depend on every bit of both
  /// factors.
  static func hash(of id: RegistrationID) -> UInt64 {
    let factor = keys.1 ^ UInt64(id.low) &* 0x9e37_79b9_7f4a_7c15 | 1
    let product = (id.high ^ keys.0).multipliedFullWidth(by: factor)
    // A product alone keeps even steps even.
    let hash = (product.high ^ product.low) &* 0xff51_afd7_ed55_8ccd
    return hash ^ hash >> 29
  }

  /// Stops pushes to a registration, or lets them go again.
  mutating func setBlocked(_ isBlocked: Bool, _ number: RegistrationNumber) {
    if isBlocked { blocked.insert(number) } else { blocked.remove(number) }
  }

  /// Those of some registrations that may get pushes now: not those on the black list, nor imported ones that
  /// have neither a device nor, from the time on that `usesTokens` means, a token.
  func admissible(_ recipients: Recipients, usesTokens: Bool) -> Recipients {
    guard !blocked.isEmpty || !awaited.isEmpty else { return recipients }
    switch recipients {
    case .few(let numbers):
      return .few(
        numbers.filter { number in
          !blocked.contains(number)
            && (!awaited.contains(number) || usesTokens && tokenHolders.hasToken(number))
        })
    case .many(var set):
      set.subtract(blocked)
      var silent = awaited.intersection(set)
      if usesTokens, !silent.isEmpty { silent.subtract(tokenHolders.everybody) }
      set.subtract(silent)
      return Recipients(set)
    }
  }

  // MARK: Aliases

  /// Swift's `Hasher` is SipHash with a random key per process, so clients cannot cause collisions.
  private static func hashes(of alias: String) -> (UInt64, UInt64) {
    var first = Hasher()
    alias.hashBytes(into: &first)
    var second = Hasher()
    second.combine(0x5bd1)
    alias.hashBytes(into: &second)
    return (
      UInt64(truncatingIfNeeded: first.finalize()), UInt64(truncatingIfNeeded: second.finalize())
    )
  }

  func registrations(alias: String) -> [RegistrationNumber] {
    let hash = Self.hashes(of: alias)
    return byAlias.all(hash.0).filter { records[$0].aliasHash.1 == hash.1 }.sorted()
      .map { RegistrationNumber($0) }
  }

  mutating func setAlias(_ alias: String?, of number: RegistrationNumber) {
    if records[number.rawValue].hasAlias {
      byAlias.remove(records[number.rawValue].aliasHash.0, number.rawValue)
    }
    records[number.rawValue].hasAlias = alias != nil
    guard let alias else { return }
    let hash = Self.hashes(of: alias)
    records[number.rawValue].aliasHash = hash
    byAlias.insert(hash.0, number.rawValue)
  }

  // MARK: Tags and platforms

  mutating func changeTags(of number: RegistrationNumber, added: [UInt32], removed: [UInt32]) {
    for tag in removed { tags.remove(tag, from: number) }
    for tag in added { tags.add(tag, to: number) }
  }

  /// Notes that a registration has a token, or with no service that it has it no more.
  mutating func setToken(_ token: HeldToken) { tokenHolders.set(token.slot, token.service, of: token.number) }

  /// Who has a token for one of some services.
  func members(holding slot: TokenSlot, for services: ServiceSet = .all) -> NumberSet {
    tokenHolders.members(slot, services)
  }

  func members(platforms: PlatformSet) -> NumberSet {
    var found: NumberSet?
    for (platform, members) in platformMembers where platforms.contains(platform) {
      if found == nil { found = members } else { found?.formUnion(members) }
    }
    return found ?? NumberSet()
  }
}
