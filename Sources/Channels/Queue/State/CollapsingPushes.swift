import BorealisBase
import Core
import Model
import Storage

/// What pushes have in common whose notifications take each other's place on a device.
struct CollapseKey: Hashable, Sendable {
  let slot: TokenSlot
  let id: [UInt8]
}

/// The pushes with collapse IDs of their senders: an older one must not follow a newer one, or it would take
/// its place.
struct CollapsingPushes: Sendable {
  /// One that has ended: what is taken over late may be older.
  private struct Ended: Sendable {
    let key: CollapseKey
    let push: MessageID
    let accepted: NumberSet
  }

  /// So many of them are known; each may have a set of all of an app's devices.
  private static let remembered = 32

  private struct Place: Hashable, Sendable {
    let key: CollapseKey
    let number: RegistrationNumber
  }

  private var open: [CollapseKey: Set<LegKey>] = [:]
  // Thousands of open pushes may have one ID, each to another device.
  private var few: [Place: [LegKey]] = [:]
  private var many: [CollapseKey: [LegKey]] = [:]
  private var ended: [Ended] = []

  mutating func insert(_ push: ActivePush) {
    guard let key = push.collapseKey else { return }
    open[key, default: []].insert(push.key)
    guard !push.isLarge else { return many[key, default: []].append(push.key) }
    for number in push.targets.members() {
      few[Place(key: key, number: number), default: []].append(push.key)
    }
  }

  mutating func remove(_ push: ActivePush) {
    guard let key = push.collapseKey else { return }
    remove(push, key)
    guard !push.accepted.isEmpty else { return }
    ended.append(Ended(key: key, push: push.id, accepted: push.accepted))
    if ended.count > Self.remembered { ended.removeFirst() }
  }

  /// The targets of one have changed.
  mutating func replace(_ before: ActivePush, by after: ActivePush) {
    guard let key = before.collapseKey else { return }
    remove(before, key)
    insert(after)
  }

  private mutating func remove(_ push: ActivePush, _ key: CollapseKey) {
    open[key]?.remove(push.key)
    if open[key]?.isEmpty == true { open[key] = nil }
    guard !push.isLarge else {
      many[key]?.removeAll { $0 == push.key }
      if many[key]?.isEmpty == true { many[key] = nil }
      return
    }
    for number in push.targets.members() {
      let place = Place(key: key, number: number)
      few[place]?.removeAll { $0 == push.key }
      if few[place]?.isEmpty == true { few[place] = nil }
    }
  }

  /// Open ones that may be for a device, itself included; empty if there is no other.
  private func all(like leg: LegKey, for number: RegistrationNumber, _ open: [LegKey: ActivePush]) -> [LegKey]
  {
    guard !self.open.isEmpty, let key = open[leg]?.collapseKey, self.open[key].map({ $0.count > 1 }) == true
    else { return [] }
    let own = few[Place(key: key, number: number)] ?? []
    return many[key].map { own + $0 } ?? own
  }

  /// Open ones that are older and may be for a device.
  func older(than leg: LegKey, for number: RegistrationNumber, _ open: [LegKey: ActivePush]) -> [LegKey] {
    all(like: leg, for: number, open).filter { $0.push < leg.push }
  }

  /// For whom the service has taken newer ones, also such as have ended; not what is in a request now.
  func overtaken(_ leg: LegKey, _ open: [LegKey: ActivePush], _ inFlight: InFlightRequests) -> NumberSet {
    var found = NumberSet()
    guard let push = open[leg], let key = push.collapseKey else { return found }
    for ended in ended where ended.key == key && ended.push > leg.push { found.formUnion(ended.accepted) }
    if push.isLarge {
      for newer in self.open[key] ?? [] where newer.push > leg.push {
        if let accepted = open[newer]?.accepted { found.formUnion(accepted) }
      }
    } else {
      for number in push.targets.members() {
        for newer in all(like: leg, for: number, open) where newer.push > leg.push {
          if open[newer]?.accepted.contains(number) == true { found.insert(number) }
        }
      }
    }
    if let asked = inFlight.numbers(of: leg.push)[leg.leg] { found.subtract(asked) }
    return found
  }

  /// Whether a newer push that takes the place of this one is in a request now: its answer decides.
  func mustWait(_ delivery: Delivery, _ open: [LegKey: ActivePush], _ inFlight: InFlightRequests) -> Bool {
    all(like: delivery.key, for: delivery.row.number, open).contains {
      $0.push > delivery.key.push && inFlight.contains($0, delivery.row.number)
    }
  }
}

extension ActivePush {
  /// What others have in common that take its place, or whose place it takes; nil for none. What is sent at
  /// most once rings, and takes nobody's place.
  var collapseKey: CollapseKey? {
    part.isTriedOnce ? nil : part.collapse.map { CollapseKey(slot: part.slot, id: $0) }
  }
}

extension QueueState {
  /// The service has taken a push for a device: older ones whose place it takes are not sent after it.
  mutating func overtake(_ leg: LegKey, _ number: RegistrationNumber) {
    for older in collapsing.older(than: leg, for: number, open)
    where open[older]?.awaits(number) == true {
      if inFlight.contains(older, number) {
        open[older]?.overtaken.insert(number)
      } else {
        finish(older, number, ChannelEnd.withdrawn)
      }
    }
  }

  /// The same for a part that has come, or has got more devices, after newer ones were taken.
  mutating func catchUp(_ leg: LegKey) {
    let overtaken = collapsing.overtaken(leg, open, inFlight)
    open[leg]?.finish(overtaken, ChannelEnd.withdrawn)
  }
}
