import BorealisBase
import Core
import Model
import Storage

/// A part of a push in delivery by the channel, with its results.
struct ActivePush: Sendable {
  let id: MessageID
  let part: QueuedPart
  /// When it ends for all targets.
  let expires: Timestamp
  /// Its targets.
  private(set) var targets: NumberSet
  /// Whether it is for many devices, which yields to pushes for few.
  private(set) var isLarge: Bool
  /// The number of targets without a final result.
  private(set) var left: Int
  /// The targets.
  private(set) var answered: NumberSet
  /// The targets that are being looked up, ready, in flight or waiting for a retry.
  var claimed = NumberSet()
  /// The targets that wait until the service of their token can be used again.
  var deferred = NumberSet()
  /// The position at which the search for unclaimed targets continues.
  var position = RegistrationNumber(0)
  /// The pacing of the devices; nil for immediately.
  let pacing: PacingWindow?
  /// Devices with numbers from this on are not due yet.
  private(set) var dueBelow: UInt64
  /// The targets in requests for which the service has meanwhile taken a newer push in its place.
  var overtaken = NumberSet()
  /// Whether it is queued for lookup.
  var isQueued = false
  /// It was recalled: only responses to earlier requests are awaited.
  private(set) var isWithdrawn = false
  /// The targets by outcome: one of `ChannelEnd`, or a reason of the service.
  private(set) var results: [String: NumberSet] = [:]
  /// The outcomes that are not saved yet.
  var news: [String: NumberSet] = [:]

  /// `results` were saved by an earlier run.
  init(
    _ push: ChannelPush, _ part: QueuedPart, results: [String: NumberSet] = [:], at now: Timestamp
  ) {
    self.results = results
    pacing = push.pacing
    dueBelow = push.pacing?.bound(at: now) ?? .max
    id = push.id
    self.part = part
    expires =
      push.pacing == nil
      ? part.lifetime.map { min(push.expires, push.id.time.adding(seconds: $0)) } ?? push.expires
      : push.expires
    targets = part.targets.numbers
    isLarge = if case .many = part.targets { true } else { false }
    var known = NumberSet()
    for answered in results.values { known.formUnion(answered) }
    known.formIntersection(self.targets)
    answered = known
    left = self.targets.count - known.count
  }

  var key: LegKey { LegKey(push: id, leg: part.leg) }

  /// Adds targets that the channel has taken over; false if there are none.
  mutating func extend(by others: Recipients) -> Bool {
    let new = others.numbers.subtracting(targets)
    guard !new.isEmpty, !isWithdrawn else { return false }
    targets.formUnion(new)
    left += new.count
    if case .many = others { isLarge = true }
    position = RegistrationNumber(0)
    return true
  }

  /// Claims at most this many unclaimed targets, ascending. Fewer mean that there are no more.
  mutating func claim(_ limit: Int) -> [RegistrationNumber] {
    var found: [RegistrationNumber] = []
    while found.count < limit {
      let members = targets.members(from: position, limit: limit)
      guard let last = members.last else { break }
      for number in members {
        guard isDue(number) else { return found }
        position = RegistrationNumber(number.rawValue &+ 1)
        guard !answered.contains(number), !claimed.contains(number), !deferred.contains(number) else {
          continue
        }
        claimed.insert(number)
        found.append(number)
        if found.count == limit { break }
      }
      if members.count < limit || last.rawValue == .max { break }
    }
    return found
  }

  /// Releases the targets that have become due since the last call; false if there are none. A clock that is
  /// set back changes nothing.
  mutating func advancePacing(to now: Timestamp) -> Bool {
    guard dueBelow != .max, let bound = pacing?.bound(at: now), bound > dueBelow else {
      return false
    }
    dueBelow = bound
    return true
  }

  /// When it expires for a device: a short-lived part with paced delivery has its own time for each.
  func end(for number: RegistrationNumber) -> Timestamp {
    guard let lifetime = part.lifetime, let moment = pacing?.moment(of: number) else { return expires }
    return min(expires, moment.adding(seconds: lifetime))
  }

  /// It was recalled, which is stored already for all targets except those with requests in flight, now or
  /// when the recall began (`held`). Returns how many targets lose it.
  mutating func withdraw(except inFlight: NumberSet, held: NumberSet) -> Int {
    isWithdrawn = true
    let rest = targets.subtracting(answered).subtracting(inFlight)
    guard !rest.isEmpty else { return 0 }
    results[ChannelEnd.withdrawn, default: NumberSet()].formUnion(rest)
    let unsaved = rest.intersection(held)
    if !unsaved.isEmpty { news[ChannelEnd.withdrawn, default: NumberSet()].formUnion(unsaved) }
    answered.formUnion(rest)
    left -= rest.count
    return rest.count
  }

  /// Whether it is not to be sent to a device again: it was recalled, or the service has taken a newer push
  /// in its place.
  func isWithdrawn(for number: RegistrationNumber) -> Bool { isWithdrawn || overtaken.contains(number) }

  /// Whether a device has no final result yet.
  func awaits(_ number: RegistrationNumber) -> Bool {
    targets.contains(number) && !answered.contains(number)
  }

  /// When it is tried again; nil for never.
  func nextTry(
    afterFailures failures: Int, _ schedule: RetrySchedule, notBefore seconds: Int64, at now: Timestamp
  ) -> Timestamp? {
    var random = SystemRandomNumberGenerator()
    let next = schedule.next(afterFailures: failures, now: now, end: expires, using: &random)
    if let next = next.map({ max($0, now.adding(seconds: seconds)) }), next < expires { return next }
    // Too late for the service, but its device may connect until then.
    return part.fallsBack ? expires : nil
  }

  /// Those of some devices that have no final result yet.
  func unanswered(of devices: NumberSet) -> NumberSet { targets.intersection(devices).subtracting(answered) }

  /// Whether paced delivery has come to a device.
  func isDue(_ number: RegistrationNumber) -> Bool { UInt64(number.rawValue) < dueBelow }

  /// Records the outcome for one device.
  mutating func finish(_ number: RegistrationNumber, _ result: String) {
    claimed.remove(number)
    deferred.remove(number)
    guard targets.contains(number), !answered.contains(number) else { return }
    answered.insert(number)
    left -= 1
    results[result, default: NumberSet()].insert(number)
    news[result, default: NumberSet()].insert(number)
  }

  /// Records the outcome for those of some devices that have none yet.
  mutating func finish(_ numbers: NumberSet, _ result: String) {
    let rest = targets.intersection(numbers).subtracting(answered)
    guard !rest.isEmpty else { return }
    results[result, default: NumberSet()].formUnion(rest)
    news[result, default: NumberSet()].formUnion(rest)
    claimed.subtract(rest)
    deferred.subtract(rest)
    answered.formUnion(rest)
    left -= rest.count
  }

  /// It has expired: this is final for all remaining targets.
  mutating func finishAll(_ result: String, except inFlight: NumberSet = NumberSet()) {
    if left > 0 { finish(targets.subtracting(inFlight), result) }
  }

  /// The targets for which the service took it.
  var accepted: NumberSet { results[ChannelEnd.delivered] ?? NumberSet() }
}

extension ChannelAnswers {
  /// The results to save of some parts of a push.
  init(_ id: MessageID, of channel: ChannelID, _ parts: [ActivePush], isFinal: Bool) {
    func byLeg(_ outcomes: (ActivePush) -> [String: NumberSet]) -> LegOutcomes {
      Dictionary(parts.map { (DeliveryLeg(channel, $0.part.leg), outcomes($0)) }) { first, _ in first }
    }
    self.init(id: id, channel: channel, results: byLeg(\.results), news: byLeg(\.news), isFinal: isFinal)
  }
}
