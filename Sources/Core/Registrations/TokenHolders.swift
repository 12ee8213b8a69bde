import BorealisBase
import Model

/// Which registrations have which tokens: a compressed set for each slot and service, and beside the sets
/// nothing for most registrations. Not thread-safe: its owner locks.
struct TokenHolders: Sendable {
  private typealias Members = [ServiceID: NumberSet]

  /// Slots without names: as many as the channels have kinds of tokens.
  private var plain: [TokenSlot: Members] = [:]
  /// Slots with names: as many as devices have told.
  private var named: [TokenSlot: Members] = [:]
  /// The slots with names that a registration has: most have none.
  private var names: [RegistrationNumber: Set<TokenSlot>] = [:]

  /// Notes to which service a token of a registration belongs; `none` if there is no such token any more.
  mutating func set(_ slot: TokenSlot, _ service: ServiceID, of number: RegistrationNumber) {
    guard !slot.name.isEmpty else {
      Self.set(&plain[slot, default: [:]], service, number)
      return
    }
    if service == .none {
      names[number]?.remove(slot)
      if names[number]?.isEmpty == true { names[number] = nil }
    } else {
      names[number, default: []].insert(slot)
    }
    Self.set(&named[slot, default: [:]], service, number)
    // They come and go: a name that nobody has any more must not stay.
    if named[slot]?.isEmpty == true { named[slot] = nil }
  }

  private static func set(_ members: inout Members, _ service: ServiceID, _ number: RegistrationNumber) {
    // A copy of the keys: the view of them would hold the sets, and each change would copy one.
    for known in Array(members.keys) where known != service {
      members[known]?.remove(number)
      if members[known]?.isEmpty == true { members[known] = nil }
    }
    if service != .none { members[service, default: NumberSet()].insert(number) }
  }

  /// Removes a registration.
  mutating func remove(_ number: RegistrationNumber) {
    for slot in Array(plain.keys) { set(slot, .none, of: number) }
    for slot in names[number] ?? [] { set(slot, .none, of: number) }
  }

  /// Whether a registration has any token.
  func hasToken(_ number: RegistrationNumber) -> Bool {
    names[number] != nil || plain.values.contains { $0.values.contains { $0.contains(number) } }
  }

  /// Who has any token without a name.
  var everybody: NumberSet {
    plain.values.reduce(into: NumberSet()) { found, members in
      for holders in members.values { found.formUnion(holders) }
    }
  }

  /// Who has a token for one of some services.
  func members(_ slot: TokenSlot, _ services: ServiceSet) -> NumberSet {
    var found = NumberSet()
    for (service, members) in (slot.name.isEmpty ? plain[slot] : named[slot]) ?? [:]
    where !services.isDisjoint(with: ServiceSet(service)) {
      if found.isEmpty { found = members } else { found.formUnion(members) }
    }
    return found
  }
}
