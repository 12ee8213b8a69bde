import PushBase
import PushDomain
import PushRouter

/// The pushes in memory that the direct connection may bring instead, by device: what has waited for its service goes over the
/// connection once the device is there.
struct FallingBack: Sendable {
  /// Those to many devices that are looked at when one comes: the newest, since each login looks at all of them.
  private static let many = 64

  private var few: [RegistrationNumber: [LegKey]] = [:]
  private var many: [LegKey] = []

  var isEmpty: Bool { few.isEmpty && many.isEmpty }

  mutating func insert(_ push: ActivePush) {
    // What is sent at most once may be under way already, and what is paced is not late.
    guard push.part.fallsBack, !push.part.isTriedOnce, push.pacing == nil else { return }
    switch push.part.targets {
    case .few(let numbers): for number in numbers { few[number, default: []].append(push.key) }
    case .many:
      many.append(push.key)
      if many.count > Self.many { many.removeFirst() }
    }
  }

  mutating func remove(_ push: ActivePush) {
    guard push.part.fallsBack else { return }
    switch push.part.targets {
    case .few(let numbers):
      for number in numbers {
        few[number]?.removeAll { $0 == push.key }
        if few[number]?.isEmpty == true { few[number] = nil }
      }
    case .many: many.removeAll { $0 == push.key }
    }
  }

  /// What may wait for a device.
  func legs(for number: RegistrationNumber) -> [LegKey] { few[number, default: []] + many }
}

extension QueueState {
  /// Removes a part of a push from memory.
  mutating func close(_ leg: LegKey) -> ActivePush? {
    guard let push = open.removeValue(forKey: leg) else { return nil }
    fallingBack.remove(push)
    return push
  }

  /// A device has connected: the direct connection brings what has waited for its service since `moment`. What is in a request now
  /// may be on its way.
  mutating func reached(_ number: RegistrationNumber, waitingSince moment: Timestamp) {
    for leg in fallingBack.legs(for: number) {
      guard let push = open[leg], leg.push.time <= moment, held[leg.push] == nil, push.awaits(number),
        inFlight.numbers(of: leg.push)[leg.leg]?.contains(number) != true
      else { continue }
      fail(leg, number, ChannelEnd.connected)
    }
  }
}
