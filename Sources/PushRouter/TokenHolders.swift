import PushBase

/// Which registrations have which of Apple's tokens. Not thread-safe: its owner locks.
struct TokenHolders: Sendable {
  private var members: [APNsTokenSlot: [APNsEnvironment: NumberSet]] = [:]
  /// The tokens beside the ordinary one that a registration has: most have none.
  private var others: [RegistrationNumber: Set<APNsTokenSlot>] = [:]

  /// Notes to which of Apple's services a token of a registration belongs; `none` if there is no such token any more.
  mutating func set(_ slot: APNsTokenSlot, _ environment: APNsEnvironment, of number: RegistrationNumber) {
    note(slot, isThere: environment != .none, number)
    var byService = members.removeValue(forKey: slot) ?? [:]
    for known in byService.keys where known != environment {
      byService[known]?.remove(number)
      if byService[known]?.isEmpty == true { byService[known] = nil }
    }
    if environment != .none { byService[environment, default: NumberSet()].insert(number) }
    // Live Activities come and go: a name that nobody has any more must not stay.
    if !byService.isEmpty { members[slot] = byService }
  }

  private mutating func note(_ slot: APNsTokenSlot, isThere: Bool, _ number: RegistrationNumber) {
    guard slot != .device else { return }
    if isThere {
      others[number, default: []].insert(slot)
    } else {
      others[number]?.remove(slot)
      if others[number]?.isEmpty == true { others[number] = nil }
    }
  }

  /// Forgets a registration.
  mutating func remove(_ number: RegistrationNumber) {
    set(.device, .none, of: number)
    for slot in others[number] ?? [] { set(slot, .none, of: number) }
  }

  /// Who has a token for one of some services.
  func members(_ slot: APNsTokenSlot, _ environments: APNsEnvironments) -> NumberSet {
    var found = NumberSet()
    for (environment, members) in members[slot] ?? [:]
    where environments.contains(APNsEnvironments(environment)) {
      if found.isEmpty { found = members } else { found.formUnion(members) }
    }
    return found
  }
}
