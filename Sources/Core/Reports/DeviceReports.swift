import BorealisBase
import Model
import Storage

/// The reports of devices about one push since the last store, besides awaited acknowledgements.
struct DeviceReports: Sendable {
  typealias Kind = PushReceipt

  /// The push, and the app of the devices; it may be another app's.
  struct Key: Hashable, Sendable {
    let id: MessageID
    let app: AppID
  }

  private struct Said: Sendable {
    var numbers: [RegistrationNumber]
    /// When it was true for each of them.
    var moments: [Timestamp]
    /// When it was for the first of them.
    var at: Timestamp

    mutating func remove(_ others: NumberSet) {
      guard !others.isEmpty else { return }
      let kept = zip(numbers, moments).filter { !others.contains($0.0) }
      (numbers, moments) = (kept.map(\.0), kept.map(\.1))
    }
  }

  private var said: [Kind: Said] = [:]

  /// How many words these are.
  var count: Int { said.values.reduce(0) { $0 + $1.numbers.count } }

  /// One word.
  init(_ kind: Kind, _ number: RegistrationNumber, at now: Timestamp) {
    said = [kind: Said(numbers: [number], moments: [now], at: now)]
  }

  /// None.
  init() {}

  /// Whose they are, each device once for each of its words.
  var speakers: [RegistrationNumber] { said.values.flatMap(\.numbers) }

  /// Adds others.
  mutating func add(_ other: DeviceReports) {
    for (kind, words) in other.said {
      var all = said[kind] ?? Said(numbers: [], moments: [], at: words.at)
      all.numbers += words.numbers
      all.moments += words.moments
      all.at = min(all.at, words.at)
      said[kind] = all
    }
  }

  // MARK: Storing

  /// Stores words of devices, each once, without those of devices whose push it was not. Returns what is new
  /// by them, nil if the app has no such push. `cost` grows by the bytes of the sets that were read for it.
  func store(
    _ key: Key, in transaction: WriteTransaction, cost: inout Int
  ) throws(StorageError) -> [DeliveryEvent]? {
    guard let audience = try transaction.deliveries.audience(of: key.id), audience.app == key.app else {
      return nil
    }
    cost += (audience.targets?.count ?? 0) + (audience.own?.count ?? 0)
    let single = audience.target.map { NumberSet([$0]) }
    guard let targets = single ?? audience.targets.flatMap({ NumberSet(serialized: $0) }),
      let own = audience.own == nil ? targets : audience.own.flatMap({ NumberSet(serialized: $0) }),
      try mayHaveNews(of: key, for: targets, own, in: transaction)
    else { return [] }
    if audience.targets == nil, let events = try storeOfDelivered(key, in: transaction) { return events }
    guard let at = said.values.map(\.at).min(), let rows = try transaction.deliveries.targets(of: key.id),
      let before = PushTargets(rows, at: at)
    else { return [] }
    var isNew = false
    let called = rows.heldAfterCall
    for kind in Kind.allCases {
      guard var words = said[kind] else { continue }
      if kind == .shown || kind == .tapped { words.remove(called) }
      if try store(kind, words, of: rows.push, known: before, in: transaction) { isNew = true }
    }
    guard isNew, let rows = try transaction.deliveries.targets(of: key.id),
      let after = PushTargets(rows, at: at)
    else { return [] }
    if after.haveAll {
      try transaction.deliveries.markReachedAll(key.id, at: at)
    } else if before.delivered.count > after.delivered.count {
      try transaction.deliveries.unmarkReachedAll(key.id, hasNone: after.delivered.isEmpty)
    }
    return events(key, before, after, at: at)
  }

  /// Whether a target says something that is not stored already. Looked at before all that is stored of the
  /// push is read: anybody can say anything of any push, as often as they like.
  private func mayHaveNews(
    of key: Key, for targets: NumberSet, _ own: NumberSet, in transaction: WriteTransaction
  ) throws(StorageError) -> Bool {
    for (kind, words) in said {
      var new = NumberSet(words.numbers)
      new.formIntersection(kind == .acknowledgedLate || kind.isOfInApp ? own : targets)
      guard !new.isEmpty else { continue }
      func subtract(_ stored: [UInt8]?) {
        if let stored = stored.flatMap({ NumberSet(serialized: $0) }) { new.subtract(stored) }
      }
      subtract(try transaction.deliveries.receipts(of: key.id, kind))
      if kind == .acknowledgedLate {
        subtract(try transaction.deliveries.delivered(key.id))
        // Of those that have it by its end, all but those who were given up before.
        if !new.isEmpty, try transaction.deliveries.isOverAsDelivered(key.id) {
          new.formIntersection(try transaction.reading.givenUp(key.id))
        }
      }
      guard !new.isEmpty else { continue }
      if kind.isOfInApp {
        let content = try transaction.pushes.content(of: key.id, app: key.app)
        guard content.flatMap({ PushContent(decoding: $0) })?.isInApp == true else { continue }
      }
      return true
    }
    return false
  }

  /// Receipts of a push to one that has acknowledged it, which is what most are: nothing else follows from
  /// them. Nil if there may be more to it.
  private func storeOfDelivered(
    _ key: Key, in transaction: WriteTransaction
  ) throws(StorageError) -> [DeliveryEvent]? {
    guard !said.keys.contains(where: { $0 == .acknowledgedLate || $0.isOfService || $0.isOfInApp }),
      try transaction.deliveries.isDeliveredByOwnAlone(key.id)
    else { return nil }
    var events: [DeliveryEvent] = []
    for kind in [Kind.shown, .tapped] {
      for number in said[kind]?.numbers ?? [] {
        guard let at = said[kind]?.at else { continue }
        let outcome = try transaction.deliveries.outcome(of: key.id)
        let isFirst = outcome?.shownAt == nil && outcome?.tappedAt == nil
        guard try transaction.deliveries.markReceipt(id: key.id, app: key.app, by: number, kind, at: at)
        else {
          continue
        }
        // A tap counts as shown.
        if isFirst { events.append(event(key, .shown([number]), at: at)) }
        if kind == .tapped { events.append(event(key, .tapped([number]), at: at)) }
      }
    }
    return events
  }

  private func store(
    _ kind: Kind, _ words: Said, of push: PushRow, known: PushTargets, in transaction: WriteTransaction
  ) throws(StorageError) -> Bool {
    if push.target != nil, kind == .shown || kind == .tapped {
      var isNew = false
      for number in words.numbers
      where try transaction.deliveries.markReceipt(id: push.id, app: push.app, by: number, kind, at: words.at)
      {
        isNew = true
      }
      return isNew
    }
    var new = NumberSet(words.numbers)
    if kind == .acknowledgedLate {
      new.formIntersection(known.own)
      // Whoever showed it may still say so: what they say stands by itself then.
      new.subtract(known.acknowledged.subtracting(known.shownByOwn))
    } else if kind.isOfInApp {
      guard PushContent(decoding: push.content)?.isInApp == true else { return false }
      new.formIntersection(known.own)
    } else if kind.isOfService {
      new.formIntersection(known.servedByMainLegs)
    } else {
      new.formIntersection(push.targets.flatMap { NumberSet(serialized: $0) } ?? NumberSet())
    }
    let stored = try transaction.deliveries.receipts(of: push.id, kind).flatMap { NumberSet(serialized: $0) }
    new.subtract(stored ?? NumberSet())
    guard !new.isEmpty else { return false }
    new.formUnion(stored ?? NumberSet())
    try transaction.deliveries.saveReceipts(id: push.id, kind, targets: new.serialized())
    return true
  }

  private func events(
    _ key: Key, _ before: PushTargets, _ after: PushTargets, at: Timestamp
  ) -> [DeliveryEvent] {
    func new(_ set: KeyPath<PushTargets, NumberSet>) -> [RegistrationNumber] {
      after[keyPath: set].subtracting(before[keyPath: set]).members()
    }
    var all = after.channels.flatMap { channel -> [DeliveryEvent.What] in
      let (known, handed) = (before.on(channel).accepted, before.on(channel).handed)
      let new = after.on(channel).accepted.subtracting(known)
      return [
        .proven(new.subtracting(handed).members(), channel),
        .confirmed(new.intersection(handed).members(), channel),
      ]
    }
    for channel in after.channels where channel != .passthrough {
      let arrived = after.on(channel).arrived.subtracting(before.on(channel).arrived)
      all.append(.arrived(arrived.members(), channel))
      let known = before.denied(on: channel).values.reduce(NumberSet()) { $0.union($1) }
      for (reason, targets) in after.denied(on: channel).sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
        all.append(.denied(targets.subtracting(known).members(), channel, reason))
      }
    }
    all += [.shown(new(\.shown)), .tapped(new(\.tapped))]
    return all.filter { !$0.numbers.isEmpty }.map { what in
      let numbers: [RegistrationNumber]
      switch what {
      case .proven(let own, .passthrough): numbers = own
      case .arrived(let arrived, _): numbers = arrived
      default: return event(key, what, at: at)
      }
      let moments = moments(of: numbers, at)
      return DeliveryEvent(
        push: key.id, app: key.app, what: what, at: moments.max() ?? at, moments: moments)
    }
  }

  /// Since when it is known of each that they have it.
  private func moments(of numbers: [RegistrationNumber], _ otherwise: Timestamp) -> [Timestamp] {
    var first: [RegistrationNumber: Timestamp] = [:]
    for words in said.values {
      for (number, moment) in zip(words.numbers, words.moments) {
        first[number] = min(first[number] ?? moment, moment)
      }
    }
    return numbers.map { first[$0] ?? otherwise }
  }

  private func event(_ key: Key, _ what: DeliveryEvent.What, at: Timestamp) -> DeliveryEvent {
    DeliveryEvent(push: key.id, app: key.app, what: what, at: at)
  }
}

extension WriteTransaction {
  /// Records that every target of a push has it, so that lists of pushes agree with its report.
  func reckon(_ id: MessageID, at now: Timestamp) throws(StorageError) {
    guard let rows = try deliveries.targets(of: id), rows.outcome?.hasReachedAll != true,
      let targets = PushTargets(rows, at: now), targets.haveAll
    else { return }
    try deliveries.markReachedAll(id, at: now)
  }

  /// Of those whose acknowledgement, or for whom a service's answer, is being stored, those who were not
  /// known to have the push by that channel: what their devices said may have been faster.
  func unproven(
    _ numbers: [RegistrationNumber], _ id: MessageID, at now: Timestamp,
    _ known: (PushTargets) -> NumberSet
  ) throws(StorageError) -> [RegistrationNumber] {
    guard try deliveries.hasReceipts(id), let rows = try deliveries.targets(of: id),
      let targets = PushTargets(rows, at: now)
    else { return numbers }
    let known = known(targets)
    return numbers.filter { !known.contains($0) }
  }
}

extension ReadTransaction {
  /// Who was given up over our connection.
  fileprivate func givenUp(_ id: MessageID) throws(StorageError) -> NumberSet {
    try deliveries.dropped(id).values.reduce(into: NumberSet()) { all, bytes in
      if let targets = NumberSet(serialized: bytes) { all.formUnion(targets) }
    }
  }
}

extension TargetRows {
  /// Those who got a call of the push, or the like, while its notification waits for the end of their quiet
  /// hours: what they show is not the notification.
  fileprivate var heldAfterCall: NumberSet {
    func union(_ sets: [[UInt8]]) -> NumberSet {
      sets.reduce(into: NumberSet()) { all, bytes in
        if let targets = NumberSet(serialized: bytes) { all.formUnion(targets) }
      }
    }
    guard !held.isEmpty else { return NumberSet() }
    return union(held.map(\.targets)).intersection(
      union(push.legs.filter { !$0.leg.isMain }.map(\.targets)))
  }
}

extension PushTargets {
  /// Who is known to have it over our connection by more than an acknowledgement in time.
  var provenOwn: NumberSet { shownByOwn.union(lateByOwn) }
}
