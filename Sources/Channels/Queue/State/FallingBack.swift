import BorealisBase
import Core
import Model

/// The pushes in memory that the direct connection may bring instead, by device: what has waited for its
/// service goes over the connection once the device is there.
struct FallingBack: Sendable {
  /// Those to many devices that are looked at when one comes: the newest, since each login looks at all of
  /// them.
  private static let many = 64

  private var few: [RegistrationNumber: [LegKey]] = [:]
  private var many: [LegKey] = []

  var isEmpty: Bool { few.isEmpty && many.isEmpty }

  mutating func insert(_ push: ActivePush) {
    // What is sent at most once may be under way already, and what is paced is not late.
    guard push.part.fallsBack, !push.part.isTriedOnce, push.pacing == nil else { return }
    guard push.isLarge else {
      for number in push.targets.members() { few[number, default: []].append(push.key) }
      return
    }
    many.append(push.key)
    if many.count > Self.many { many.removeFirst() }
  }

  /// Not after its targets have changed: what was inserted is what is removed.
  mutating func remove(_ push: ActivePush) {
    guard push.part.fallsBack else { return }
    guard !push.isLarge else { return many.removeAll { $0 == push.key } }
    for number in push.targets.members() {
      few[number]?.removeAll { $0 == push.key }
      if few[number]?.isEmpty == true { few[number] = nil }
    }
  }

  /// What may wait for a device.
  func legs(for number: RegistrationNumber) -> [LegKey] { few[number, default: []] + many }
}

extension QueueState {
  /// Removes a part of a push from memory.
  mutating func close(_ leg: LegKey) -> ActivePush? {
    guard let push = open.removeValue(forKey: leg) else { return nil }
    waitingForQuota.remove(leg)
    fallingBack.remove(push)
    collapsing.remove(push)
    return push
  }

  /// Adds devices to a part of a push that the channel has taken over; false if there are none.
  mutating func extend(_ leg: LegKey, by targets: Recipients) -> Bool {
    guard let before = open[leg], open[leg]?.extend(by: targets) == true, let after = open[leg] else {
      return false
    }
    fallingBack.remove(before)
    fallingBack.insert(after)
    collapsing.replace(before, by: after)
    catchUp(leg)
    return true
  }

  /// A device has connected: the direct connection brings what has waited for its service since `moment`.
  /// What is in a request now may be on its way.
  mutating func reached(_ number: RegistrationNumber, waitingSince moment: Timestamp) {
    for leg in fallingBack.legs(for: number) {
      guard let push = open[leg], leg.push.time <= moment, !held.contains(leg.push), push.awaits(number),
        inFlight.numbers(of: leg.push)[leg.leg]?.contains(number) != true
      else { continue }
      fail(leg, number, ChannelEnd.connected)
    }
  }

  /// Looks for what has waited since `moment` for devices that have come: in the database, or in memory once
  /// all of it is there.
  mutating func look(waitingSince moment: Timestamp) {
    guard !isSpilled else { return left.tick(before: moment) }
    for number in left.end().members() { reached(number, waitingSince: moment) }
  }

  /// Hands a push that is only in the database over to the direct connection, for its one device.
  mutating func handOver(_ end: ChannelAnswers, to number: RegistrationNumber) {
    // It may have been recalled, or be about to be, since it was read.
    guard !withdrawn.contains(end.id), !held.contains(end.id) else { return }
    failed.add([number], of: end.id)
    finished.append(end)
    left.end(end.id)
  }
}
