import PushBase
import PushRouter

/// The targets of a push one by one, with what became of it for each: a part of them, by the order of registration.
struct TargetList: Sendable {
  private struct Target: Sendable {
    let id: String
    let platform: String
    let state: Phrase
    let reason: String
    let way: Phrase?
    let isShown: Bool
    let isTapped: Bool
  }

  private let targets: [Target]
  /// The last one, if there are more.
  let next: RegistrationNumber?

  /// At most `limit` of those behind `after`, or from the first on.
  init(_ report: PushReport, of app: App, after: RegistrationNumber?, limit: Int) {
    let sets = report.targets
    let start = after.map { RegistrationNumber($0.rawValue < .max ? $0.rawValue + 1 : .max) }
    let numbers = sets.all.members(from: start ?? RegistrationNumber(0), limit: limit + 1)
    next = numbers.count > limit ? numbers.dropLast().last : nil
    targets = numbers.prefix(limit).map { number in
      let identity = app.directory.identity(number)
      let (state, reason) = Self.state(number, in: sets)
      return Target(
        id: identity?.id.text ?? "", platform: identity?.platform.name ?? "", state: state, reason: reason,
        way: Self.way(number, in: sets), isShown: sets.shown.contains(number),
        isTapped: sets.tapped.contains(number))
    }
  }

  /// A part of a long list: the places of its first and last target, from 1 on, and the target before it.
  struct Part: Equatable {
    let first, last: Int
    let after: RegistrationNumber
  }

  /// The parts behind the first; none of a list that fits into one.
  static func parts(of targets: NumberSet, limit: Int) -> [Part] {
    let count = targets.count
    return stride(from: limit, to: count, by: limit).compactMap { start in
      targets.member(at: start - 1).map {
        Part(first: start + 1, last: min(start + limit, count), after: $0)
      }
    }
  }

  private static func state(
    _ number: RegistrationNumber, in sets: PushTargets
  ) -> (state: Phrase, reason: String) {
    if sets.delivered.contains(number) { return (Words.stateDelivered, "") }
    if sets.pending.contains(number) { return (Words.pending, "") }
    if sets.recalled.contains(number) { return (Words.stateRecalled, "") }
    if sets.expired.contains(number) { return (Words.stateExpired, "") }
    return (Words.stateFailed, sets.failed.first { $0.value.contains(number) }?.key ?? "")
  }

  private static func way(_ number: RegistrationNumber, in sets: PushTargets) -> Phrase? {
    if sets.acknowledged.contains(number) { return Words.byOwn }
    if sets.accepted.contains(number) { return Words.byApple }
    if sets.own.contains(number) { return Words.byOwn }
    return sets.apns.contains(number) ? Words.byApple : nil
  }

  /// The list as a file. A registration that was replaced since has no ID any more.
  func csv(_ call: PageCall) -> [UInt8] {
    var writer = CSVWriter()
    let heads = [
      Words.registrationID, Words.platform, Words.state, Words.reason, Words.way, Words.shown, Words.tapped,
    ]
    writer.row(heads.map { call($0) })
    let marks = [false: "", true: call(Words.yes)]
    for target in targets {
      writer.row([
        target.id, target.platform, call(target.state), target.reason, target.way.map { call($0) } ?? "",
        marks[target.isShown] ?? "", marks[target.isTapped] ?? "",
      ])
    }
    return writer.bytes
  }
}
