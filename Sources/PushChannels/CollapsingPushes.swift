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

  private var isEmpty: Bool { open.isEmpty }

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

  private func others(of leg: LegKey, _ open: [LegKey: ActivePush]) -> [LegKey] {
    guard !isEmpty, let key = open[leg]?.collapseKey, let legs = self.open[key], legs.count > 1 else {
      return []
    }
    return legs.filter { $0 != leg }
  }

  /// Open ones that are older.
  func older(than leg: LegKey, _ open: [LegKey: ActivePush]) -> [LegKey] {
    others(of: leg, open).filter { $0.push < leg.push }
  }

  /// For whom the service has taken newer ones, also such as have ended; not what is in a request now.
  func overtaken(_ leg: LegKey, _ open: [LegKey: ActivePush], _ inFlight: InFlightRequests) -> NumberSet {
    var found = NumberSet()
    guard let key = open[leg]?.collapseKey else { return found }
    for ended in ended where ended.key == key && ended.push > leg.push { found.formUnion(ended.accepted) }
    for newer in others(of: leg, open) where newer.push > leg.push {
      if let accepted = open[newer]?.accepted { found.formUnion(accepted) }
    }
    if let asked = inFlight.numbers(of: leg.push)[leg.leg] { found.subtract(asked) }
    return found
  }

  /// Whether a newer push that takes the place of this one is in a request now: its answer decides.
  func mustWait(_ delivery: Delivery, _ open: [LegKey: ActivePush], _ inFlight: InFlightRequests) -> Bool {
    others(of: delivery.key, open).contains {
      $0.push > delivery.key.push && inFlight.contains($0, delivery.row.number)
    }
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
    for older in collapsing.older(than: leg, open) where open[older]?.awaits(number) == true {
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
