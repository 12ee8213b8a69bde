import BorealisBase
import Core
import Model

/// Services whose credential was removed: for some minutes their deliveries wait for another one.
struct RemovedCredentials: Sendable {
  private var ends: [ServiceID: Int64] = [:]

  var isEmpty: Bool { ends.isEmpty }

  /// There is no credential, since now or before.
  mutating func add(_ service: ServiceID, at second: Int64) {
    ends[service] = ends[service] ?? second + ChannelQueue.Bounds.grace
  }

  /// There is one again.
  mutating func remove(_ service: ServiceID) { ends[service] = nil }

  /// Removes and returns those whose time is over.
  mutating func popDue(at second: Int64) -> [ServiceID] {
    let due = ends.filter { $0.value <= second }.map(\.key)
    for service in due { ends[service] = nil }
    return due
  }

  /// The clock was set back.
  mutating func followClock(back seconds: Int64) { ends = ends.mapValues { $0 - seconds } }
}

extension QueueState {
  /// A service has another target, or none.
  mutating func set(
    _ target: (any ServiceTarget)?, isStopped: Bool, for service: ServiceID, at second: Int64
  ) {
    let isRemoved = target == nil && !isStopped && (targets[service] != nil || stopped.contains(service))
    targets[service] = target
    if isRemoved { removed.add(service, at: second) } else { removed.remove(service) }
    if isStopped || isRemoved { stopped.insert(service) } else { stopped.remove(service) }
    sortOut(service)
  }

  /// No other credential came: what waits for one ends.
  mutating func giveUpRemoved(at second: Int64) {
    for service in removed.popDue(at: second) {
      stopped.remove(service)
      sortOut(service)
    }
  }

  /// What waits for another credential goes to connected devices over the direct connection, where that
  /// brings what a service refuses: none is about to send it, and it may not last as long as the others wait.
  /// `reachable` are those devices.
  mutating func bringInstead(to reachable: NumberSet) {
    guard !removed.isEmpty else { return }
    var room = ChannelQueue.Bounds.broughtInstead
    for (leg, push) in open where push.part.fallsBack && !push.part.isTriedOnce && !held.contains(leg.push) {
      // With another service in use, who is not looked up yet may have a token of that.
      let waiting = targets.isEmpty ? push.unanswered(of: reachable) : push.deferred.intersection(reachable)
      for number in waiting.members(limit: room) where push.isDue(number) && !inFlight.contains(leg, number) {
        fail(leg, number, ChannelEnd.connected)
        room -= 1
      }
      if room == 0 { return }
    }
  }
}
