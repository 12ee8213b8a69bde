import PushBase
import PushDomain
import PushRouter
import PushStorage

/// A part of a push on its way by the channel, with what has become of it.
struct ActivePush: Sendable {
  let id: MessageID
  let part: QueuedPart
  let strategy: Strategy
  /// When it ends for all.
  let expires: Timestamp
  /// Who gets it.
  let targets: NumberSet
  /// Whether it is one to many, which has to make way for those to a few.
  let isLarge: Bool
  /// For how many nothing is final.
  private(set) var left: Int
  /// For whom it is.
  private(set) var answered: NumberSet
  /// Who is being looked up, ready, under way or waits for another try.
  var claimed = NumberSet()
  /// Who waits until the service of their token can be used again.
  var deferred = NumberSet()
  /// Where the search for those who were not claimed goes on.
  var position = RegistrationNumber(0)
  /// When each device gets it, nil for at once.
  let pacing: PacingWindow?
  /// Devices with numbers from this on have to wait for their moment.
  private(set) var dueBelow: UInt64
  /// Whether it stands in a queue to be looked up.
  var isQueued = false
  /// Its sender took it back: only answers to what was sent before are awaited.
  private(set) var isTakenBack = false
  /// For whom an outcome stands: one of `ChannelEnd`, or a reason of the service.
  private(set) var results: [String: NumberSet] = [:]
  /// What of it is not saved.
  var news: [String: NumberSet] = [:]

  /// `results` are what an earlier run saved.
  init(
    _ push: ChannelPush, _ part: QueuedPart, results: [String: NumberSet] = [:], at now: Timestamp
  ) {
    self.results = results
    pacing = push.pacing
    dueBelow = push.pacing?.bound(at: now) ?? .max
    id = push.id
    self.part = part
    strategy = push.push.strategy
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

  /// Claims at most so many who were not yet, ascending. Fewer mean that there are no more.
  mutating func claim(_ limit: Int) -> [RegistrationNumber] {
    var found: [RegistrationNumber] = []
    while found.count < limit {
      let members = targets.members(from: position, limit: limit)
      guard let last = members.last else { break }
      for number in members {
        guard UInt64(number.rawValue) < dueBelow else { return found }
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

  /// Lets go of those whose moment has come since the last call; false if there are none. A clock that is set back takes
  /// nothing back.
  mutating func advancePacing(to now: Timestamp) -> Bool {
    guard dueBelow != .max, let bound = pacing?.bound(at: now), bound > dueBelow else {
      return false
    }
    dueBelow = bound
    return true
  }

  /// When its time is over for a device: a short-lived one with paced delivery has its own at each.
  func end(for number: RegistrationNumber) -> Timestamp {
    guard let lifetime = part.lifetime, let moment = pacing?.moment(of: number) else { return expires }
    return min(expires, moment.adding(seconds: lifetime))
  }

  /// It was taken back, which is stored already for all but those that are under way, and those that were when it began to
  /// be: `held`. Gives how many it is taken from.
  mutating func takeBack(except underWay: NumberSet, held: NumberSet) -> Int {
    isTakenBack = true
    let rest = targets.subtracting(answered).subtracting(underWay)
    guard !rest.isEmpty else { return 0 }
    results[ChannelEnd.takenBack, default: NumberSet()].formUnion(rest)
    let unsaved = rest.intersection(held)
    if !unsaved.isEmpty { news[ChannelEnd.takenBack, default: NumberSet()].formUnion(unsaved) }
    answered.formUnion(rest)
    left -= rest.count
    return rest.count
  }

  /// Notes what became of it for one device.
  mutating func finish(_ number: RegistrationNumber, _ result: String) {
    claimed.remove(number)
    deferred.remove(number)
    guard targets.contains(number), !answered.contains(number) else { return }
    answered.insert(number)
    left -= 1
    results[result, default: NumberSet()].insert(number)
    news[result, default: NumberSet()].insert(number)
  }

  /// Its time is over: this is final for all who are left.
  mutating func finishAll(_ result: String, except underWay: NumberSet = NumberSet()) {
    guard left > 0 else { return }
    let rest = targets.subtracting(answered).subtracting(underWay)
    guard !rest.isEmpty else { return }
    results[result, default: NumberSet()].formUnion(rest)
    news[result, default: NumberSet()].formUnion(rest)
    answered.formUnion(rest)
    left -= rest.count
  }
}

extension ChannelAnswers {
  /// What is to be saved of some parts of a push now.
  init(_ id: MessageID, of channel: ChannelID, _ parts: [ActivePush], isFinal: Bool) {
    func byLeg(_ outcomes: (ActivePush) -> [String: NumberSet]) -> LegOutcomes {
      Dictionary(parts.map { (DeliveryLeg(channel, $0.part.leg), outcomes($0)) }) { first, _ in first }
    }
    self.init(id: id, channel: channel, results: byLeg(\.results), news: byLeg(\.news), isFinal: isFinal)
  }
}
