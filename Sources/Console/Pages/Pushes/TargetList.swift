import BorealisBase
import Core
import Storage

/// The targets of a push one by one, with its outcome for each: a part of them, by the order of registration.
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

  /// The targets of one file: at most `limit` of those behind `after`, or from the first on.
  struct Part: Sendable {
    let numbers: ArraySlice<RegistrationNumber>
    /// The last one, if there are more.
    let next: RegistrationNumber?

    init(of targets: NumberSet, after: RegistrationNumber?, limit: Int) {
      let start = after.map { RegistrationNumber($0.rawValue < .max ? $0.rawValue + 1 : .max) }
      let found = targets.members(from: start ?? RegistrationNumber(0), limit: limit + 1)
      numbers = found.prefix(limit)
      next = found.count > limit ? numbers.last : nil
    }

    /// Whether one of its registrations was replaced.
    func hasGone(from app: App) -> Bool { numbers.contains { app.directory.identity($0) == nil } }
  }

  /// A part of a push's targets. `gone` are registrations that are no more, as far as they are remembered.
  init(_ report: PushReport, _ part: Part, of app: App, gone: [GoneRegistration], _ router: Router) {
    let sets = report.targets
    next = part.next
    let received = sets.received
    let gone = Dictionary(gone.map { ($0.number, $0) }) { _, newer in newer }
    targets = part.numbers.map { number in
      let identity = app.directory.identity(number)
      let (state, reason) = Self.state(number, in: sets, received)
      let id = identity?.id ?? gone[number]?.registrationID
      let platform = identity?.platform ?? gone[number]?.platform
      return Target(
        id: id?.text ?? "", platform: platform?.name ?? "", state: state, reason: reason,
        way: Self.way(number, in: sets, router), isShown: sets.shown.contains(number),
        isTapped: sets.tapped.contains(number))
    }
  }

  /// A part of a long list: the places of its first and last target, from 1 on, and the target before it.
  struct PartLink: Equatable {
    let first, last: Int
    let after: RegistrationNumber
  }

  /// The parts behind the first; none of a list that fits into one.
  static func parts(of targets: NumberSet, limit: Int) -> [PartLink] {
    let count = targets.count
    return stride(from: limit, to: count, by: limit).compactMap { start in
      targets.member(at: start - 1).map {
        PartLink(first: start + 1, last: min(start + limit, count), after: $0)
      }
    }
  }

  private static func state(
    _ number: RegistrationNumber, in sets: PushTargets, _ received: NumberSet
  ) -> (state: Phrase, reason: String) {
    if sets.delivered.contains(number) {
      return (received.contains(number) ? Words.stateDelivered : Words.stateAccepted, "")
    }
    if sets.pending.contains(number) { return (Words.pending, "") }
    if sets.recalled.contains(number) { return (Words.stateRecalled, "") }
    if sets.expired.contains(number) { return (Words.stateExpired, "") }
    return (Words.stateFailed, sets.failed.first { $0.value.contains(number) }?.key ?? "")
  }

  private static func way(
    _ number: RegistrationNumber, in sets: PushTargets, _ router: Router
  ) -> Phrase? {
    let channels = sets.channels.map { ($0, sets.on($0)) }
    let channel =
      channels.first { $0.1.accepted.contains(number) } ?? channels.first { $0.1.meant.contains(number) }
    return channel.map { Words.by(router.channels.info($0.0)) }
  }

  /// The list as a file. A registration that was replaced longer ago than is remembered has no ID any more.
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
