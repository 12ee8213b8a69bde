import PushBase
import PushDomain
import PushRouter
import PushStorage

/// What pushes have in common whose notifications take each other's place on a device.
struct CollapseKey: Hashable, Sendable {
  let slot: TokenSlot
  let id: [UInt8]
}

/// The pushes with collapse IDs of their senders: an older one must not follow a newer one, or it would take its place.
struct CollapsingPushes: Sendable {
  /// One that has ended: what is taken over late may be older.
  private struct Ended: Sendable {
    let key: CollapseKey
    let push: MessageID
    let accepted: NumberSet
  }

  /// So many of them are known; each may have a set of all of an app's devices.
  private static let remembered = 32

  private var open: [CollapseKey: [LegKey]] = [:]
  private var ended: [Ended] = []

  /// Whether none is open.
  var isEmpty: Bool { open.isEmpty }

  mutating func insert(_ push: ActivePush) {
    if let key = push.collapseKey { open[key, default: []].append(push.key) }
  }

  mutating func remove(_ push: ActivePush) {
    guard let key = push.collapseKey else { return }
    open[key]?.removeAll { $0 == push.key }
    if open[key]?.isEmpty == true { open[key] = nil }
    guard !push.accepted.isEmpty else { return }
    ended.append(Ended(key: key, push: push.id, accepted: push.accepted))
    if ended.count > Self.remembered { ended.removeFirst() }
  }

  /// The others that are open.
  func others(of leg: LegKey, _ key: CollapseKey) -> [LegKey] {
    guard let legs = open[key], legs.count > 1 else { return [] }
    return legs.filter { $0 != leg }
  }

  /// Who got a newer one that has ended.
  func overtaken(_ leg: LegKey, _ key: CollapseKey) -> NumberSet {
    var found = NumberSet()
    for ended in ended where ended.key == key && ended.push > leg.push { found.formUnion(ended.accepted) }
    return found
  }
}

extension ActivePush {
  /// What others have in common that take its place, or whose place it takes; nil for none. What is sent at most once rings, and takes
  /// nobody's place.
  var collapseKey: CollapseKey? {
    part.isTriedOnce ? nil : part.collapse.map { CollapseKey(slot: part.slot, id: $0) }
  }
}

extension QueueState {
  /// The service has taken a push for a device: older ones whose place it takes are not sent after it.
  mutating func overtake(_ leg: LegKey, _ number: RegistrationNumber) {
    guard !collapsing.isEmpty, let key = open[leg]?.collapseKey else { return }
    for older in collapsing.others(of: leg, key) where older.push < leg.push {
      guard open[older]?.awaits(number) == true else { continue }
      if inFlight.contains(older, number) {
        open[older]?.overtaken.insert(number)
      } else {
        finish(older, number, ChannelEnd.withdrawn)
      }
    }
  }

  /// The same for a part that has come, or has got more devices, after newer ones were taken.
  mutating func catchUp(_ leg: LegKey) {
    guard let key = open[leg]?.collapseKey else { return }
    var overtaken = collapsing.overtaken(leg, key)
    for newer in collapsing.others(of: leg, key) where newer.push > leg.push {
      if let accepted = open[newer]?.accepted { overtaken.formUnion(accepted) }
    }
    if let asked = inFlight.numbers(of: leg.push)[leg.leg] { overtaken.subtract(asked) }
    open[leg]?.finish(overtaken, ChannelEnd.withdrawn)
  }

  /// Whether a newer push that takes the place of this one is in a request now: its answer decides.
  func waitsForNewer(_ delivery: Delivery) -> Bool {
    guard !collapsing.isEmpty, let key = open[delivery.key]?.collapseKey else { return false }
    return collapsing.others(of: delivery.key, key).contains {
      $0.push > delivery.key.push && inFlight.contains($0, delivery.row.number)
    }
  }

  /// Whether the service has taken a newer push in the place of this one.
  func isOvertaken(_ leg: LegKey, _ number: RegistrationNumber) -> Bool {
    !collapsing.isEmpty && open[leg]?.overtaken.contains(number) == true
  }
}
