import BorealisBase
import Model
import Storage

/// Those of an audience that are in their quiet hours (Docs/decisions/0112).
struct QuietAudience: Sendable {
  /// Those whose hours end at the same moment; nobody is in two groups.
  struct Group: Sendable {
    let until: Timestamp
    var numbers: NumberSet
  }

  /// Those who wait for the end of their hours, the earliest end first; no group is empty.
  private(set) var held: [Group]
  /// Those who do not get the push: all if the app wants that, else those whose hours do not end before it
  /// does.
  let dropped: NumberSet

  /// Those who wait by one look, and those who do not get it by another; nil if there are none.
  init?(held: [Group], dropped: NumberSet) {
    guard !held.isEmpty || !dropped.isEmpty else { return nil }
    (self.held, self.dropped) = (held, dropped)
  }

  init(_ groups: [Group], _ action: QuietHours.Action, expires: Timestamp) {
    held = action == .drop ? [] : groups.filter { $0.until < expires }
    dropped = groups.reduce(into: NumberSet()) { all, group in
      if action == .drop || group.until >= expires { all.formUnion(group.numbers) }
    }
  }

  /// All that wait.
  var heldNumbers: NumberSet { held.reduce(into: NumberSet()) { $0.formUnion($1.numbers) } }

  /// Lets only some of them wait.
  mutating func keep(_ numbers: NumberSet) {
    held = held.compactMap { group in
      let left = group.numbers.intersection(numbers)
      return left.isEmpty ? nil : Group(until: group.until, numbers: left)
    }
  }

  /// What is stored of those who wait.
  var rows: [(until: Timestamp, targets: [UInt8])] { held.map { ($0.until, $0.numbers.serialized()) } }

  /// Why the push is not sent if nobody is left.
  var refusal: APIError? {
    guard !dropped.isEmpty else { return nil }
    let (devices, them) = dropped.count == 1 ? ("1 device", "it") : ("\(dropped.count) devices", "them")
    return .noTarget.with(
      detail: "\(devices) would match, but quiet hours of the app keep the push from \(them) until it "
        + "expires, or have it dropped")
  }
}

extension AcceptRequest {
  /// Whether devices in their quiet hours do not get it then. A test of a channel is for the person who waits
  /// for it.
  func keepsQuietHours(in app: App) -> Bool {
    app.quietHours != nil && channel == nil && push.keepsQuietHours
  }

  /// Whether the database says whom quiet hours do not keep it from (`findCorrected`).
  func correctsInQuietHours(of app: App) -> Bool { overrides != nil && keepsQuietHours(in: app) }

  /// Finds those who have the push that this one replaces, or for whom it lies ready: for whoever was left
  /// out of it, or waits for it as well, there is nothing to correct.
  mutating func findCorrected(
    in app: App, _ transaction: ReadTransaction, at now: Timestamp
  ) throws(StorageError) {
    guard correctsInQuietHours(of: app), let old = overrides,
      let rows = try transaction.deliveries.targets(of: old), rows.push.app == app.id,
      let targets = PushTargets(rows, at: now)
    else { return }
    corrected = targets.delivered.union(targets.pending)
    for row in rows.held { corrected.subtract(NumberSet(serialized: row.targets) ?? NumberSet()) }
  }
}

extension Acceptance {
  /// Those of an audience that do not get a push now, or with paced delivery when it is their turn, since
  /// they are in their quiet hours; nil if it goes to everybody. `turns` is nil for everybody now, and
  /// `expires` is when the push ends.
  func quiet(
    _ audience: Recipients, for request: AcceptRequest, in app: App, _ turns: PacingWindow?,
    at now: Timestamp, expires: Timestamp
  ) -> QuietAudience? {
    guard request.keepsQuietHours(in: app), let hours = app.quietHours else { return nil }
    // A correction comes at once to those who have what it corrects.
    var concerned = audience.subtracting(request.corrected)
    let urgent = request.push.content.urgentPlatforms
    if !urgent.isEmpty { concerned = concerned.subtracting(app.directory.members(platforms: urgent)) }
    guard !concerned.isEmpty else { return nil }
    let groups = app.directory.quiet(concerned, hours, at: now, turns, by: clocks)
    // What is for those who are online now is not for later.
    let end = request.push.options.timeToLive == 0 ? now : expires
    return groups.isEmpty ? nil : QuietAudience(groups, hours.action, expires: end)
  }
}

extension PacingWindow {
  /// That of a push to some targets; nil for all at once. The turns of those whose quiet hours keep it from
  /// them pass by.
  init?(
    of request: AcceptRequest, to targets: Recipients, without dropped: NumberSet = NumberSet(),
    at now: Timestamp
  ) {
    guard request.pacingMinutes > 0, targets.count + dropped.count > 1 else { return nil }
    self.init(targets: targets.numbers.union(dropped), start: now, minutes: request.pacingMinutes)
  }
}

extension AppDirectory {
  /// Those of some registrations whose turn comes in their quiet hours, by the zones that they report; the
  /// earliest end first. Without pacing it is everybody's turn now.
  func quiet(
    _ audience: Recipients, _ hours: QuietHours, at now: Timestamp, _ pacing: PacingWindow? = nil,
    by clocks: ScheduleClocks
  ) -> [QuietAudience.Group] {
    let (column, count) = state.withLock { ($0.table.facts.columns[.timeZone], $0.table.records.count) }
    func zone(_ place: Int) -> any Zone {
      let value = column?.values[place]
      return clocks.zone(value?.number == nil ? nil : value?.text)
    }
    var groups: [Timestamp: NumberSet] = [:]
    switch audience {
    case .few(let numbers):
      for number in numbers {
        let turn = pacing?.moment(of: number) ?? now
        if let until = hours.end(at: turn, in: zone(Int(column?.place(of: number) ?? 0))) {
          groups[until, default: NumberSet()].insert(number)
        }
      }
    case .many(let set):
      let last = pacing?.end ?? now
      let spans = (0..<(column?.values.count ?? 1)).map { place in
        hours.spans(from: now, through: last, in: zone(place))
      }
      // Zones that are quiet at the same times are one group.
      let kinds = Array(Set(spans.filter { !$0.isEmpty }))
      guard !kinds.isEmpty else { return [] }
      let places = Dictionary(zip(kinds, kinds.indices)) { first, _ in first }
      let divided = FactTable.divide(column, below: count, into: kinds.count, by: spans.map { places[$0] })
      for (kind, numbers) in zip(kinds, divided) {
        let members = numbers.intersection(set)
        for span in kind {
          let some = pacing?.members(of: members, in: span) ?? members
          if !some.isEmpty { groups[span.upperBound, default: NumberSet()].formUnion(some) }
        }
      }
    }
    return groups.sorted { $0.key < $1.key }.map { QuietAudience.Group(until: $0.key, numbers: $0.value) }
  }
}

extension FactTable {
  /// The registrations below a number by the group of their value in a column: `groups` has a group for each
  /// place, nil for none. Some of them may be gone. One walk, whatever the number of groups is.
  fileprivate static func divide(
    _ column: Column?, below end: Int, into count: Int, by groups: [Int?]
  ) -> [NumberSet] {
    let size = ChunkedArray<UInt16>.chunkCount / 64
    // Behind the groups is one for those in none.
    let places = groups.map { $0 ?? count }
    var found = [RoaringWriter](repeating: RoaringWriter(), count: count)
    for chunk in 0..<(end + 64 * size - 1) / (64 * size) {
      var words = [UInt64](repeating: 0, count: (count + 1) * size)
      if let values = column?.places.chunk(chunk) {
        for (index, value) in values.enumerated() {
          words[places[Int(value)] * size + index / 64] |= 1 << UInt64(index % 64)
        }
      } else {
        for index in places[0] * size..<(places[0] + 1) * size { words[index] = .max }
      }
      for group in 0..<count { found[group].append(Array(words[group * size..<(group + 1) * size])) }
    }
    return found.map { $0.finish() }
  }
}
