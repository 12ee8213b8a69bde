import BorealisBase
import Core
import Model

/// Registrations that the service rejected, for pushes that then use the direct connection or another
/// channel, until that is stored. The first ones of a push are stored at once, later ones together once a
/// second: a service that rejects many devices one by one does not cost a transaction for each.
struct FailedDeliveries: Sendable {
  private var due: [MessageID: [RegistrationNumber]] = [:]
  /// Those of pushes of which others were stored in this second, or are being stored.
  private var later: [MessageID: [RegistrationNumber]] = [:]
  private var recent: Set<MessageID> = []
  /// Pushes for which that is being stored, by the number of jobs.
  private var beingStored: [MessageID: Int] = [:]
  /// Those of all of them that have lost their token, for which another channel comes first.
  private(set) var goingOn: [MessageID: Set<RegistrationNumber>] = [:]

  var isEmpty: Bool { due.isEmpty && later.isEmpty }

  /// What is not being stored yet.
  subscript(id: MessageID) -> [RegistrationNumber]? { due[id] ?? later[id] }

  mutating func add(_ numbers: [RegistrationNumber], of id: MessageID, goOn: Bool = false) {
    if goOn { goingOn[id, default: []].formUnion(numbers) }
    if recent.contains(id) {
      later[id, default: []] += numbers
    } else {
      due[id, default: []] += numbers
    }
  }

  /// Removes what is due, to be stored; each is settled by `settled`.
  mutating func beginStoring() -> [MessageID: [RegistrationNumber]] {
    defer { due = [:] }
    for id in due.keys {
      beingStored[id, default: 0] += 1
      recent.insert(id)
    }
    return due
  }

  /// Makes due what waits, except for pushes of which others are being stored. Call once a second.
  mutating func tick() {
    recent.formIntersection(beingStored.keys)
    for (id, numbers) in later where !recent.contains(id) {
      later[id] = nil
      due[id, default: []] += numbers
    }
  }

  /// Makes everything due, before the end.
  mutating func releaseAll() {
    due.merge(later, uniquingKeysWith: +)
    later = [:]
  }

  /// The result of storing some of what `beginStoring` returned.
  mutating func settled(_ id: MessageID, _ numbers: [RegistrationNumber], isStored: Bool) {
    let others = beingStored[id, default: 1] - 1
    beingStored[id] = others > 0 ? others : nil
    guard isStored else { return add(numbers, of: id) }
    goingOn[id]?.subtract(numbers)
    if goingOn[id]?.isEmpty == true { goingOn[id] = nil }
  }

  /// Whether a push's end may be stored: not before it is stored for the direct connection for devices that
  /// the service rejected.
  func mayEnd(_ id: MessageID) -> Bool { self[id] == nil && beingStored[id] == nil }
}

extension [ChannelAnswers] {
  /// Removes the first ones that may be stored, at most `most`.
  mutating func popFirst(upTo most: Int, where mayEnd: (ChannelAnswers) -> Bool) -> [ChannelAnswers] {
    var taken: [ChannelAnswers] = []
    var others: [ChannelAnswers] = []
    for answers in self {
      if taken.count < most, mayEnd(answers) { taken.append(answers) } else { others.append(answers) }
    }
    self = others
    return taken
  }
}
