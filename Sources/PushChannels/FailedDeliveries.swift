import PushBase
import PushDomain
import PushRouter

/// Registrations that the service rejected, for pushes that then use the direct connection, until that is stored.
struct FailedDeliveries: Sendable {
  private var waiting: [MessageID: [RegistrationNumber]] = [:]
  /// Pushes for which that is being stored, by the number of jobs.
  private var beingStored: [MessageID: Int] = [:]

  var isEmpty: Bool { waiting.isEmpty }

  /// What is not being stored yet.
  subscript(id: MessageID) -> [RegistrationNumber]? { waiting[id] }

  mutating func add(_ numbers: [RegistrationNumber], of id: MessageID) { waiting[id, default: []] += numbers }

  /// Takes all, to store them.
  mutating func take() -> [MessageID: [RegistrationNumber]] {
    defer { waiting = [:] }
    for id in waiting.keys { beingStored[id, default: 0] += 1 }
    return waiting
  }

  /// The result of storing some of what `take` returned.
  mutating func settled(_ id: MessageID, _ numbers: [RegistrationNumber], isStored: Bool) {
    let others = beingStored[id, default: 1] - 1
    beingStored[id] = others > 0 ? others : nil
    if !isStored { add(numbers, of: id) }
  }

  /// Whether a push's end may be stored: not before it is stored for the direct connection for devices that the service rejected.
  func mayEnd(_ id: MessageID) -> Bool { waiting[id] == nil && beingStored[id] == nil }
}

extension [ChannelAnswers] {
  /// Takes the first ones that may be stored, at most so many.
  mutating func takeFirst(_ most: Int, where mayEnd: (ChannelAnswers) -> Bool) -> [ChannelAnswers] {
    var taken: [ChannelAnswers] = []
    var others: [ChannelAnswers] = []
    for answers in self {
      if taken.count < most, mayEnd(answers) { taken.append(answers) } else { others.append(answers) }
    }
    self = others
    return taken
  }
}
