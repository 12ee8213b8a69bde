import BorealisBase
import Core

extension Location {
  /// The connection that a handle names, at its gateway.
  init(_ handle: Handle) {
    self.init(loop: handle.loop, slot: handle.slot, generation: handle.generation)
  }
}

extension AcknowledgementBatch {
  /// The same acknowledgements in batches of so many.
  func parts(atMost limit: Int) -> [AcknowledgementBatch] {
    guard count > limit else { return [self] }
    var parts: [AcknowledgementBatch] = []
    var part = AcknowledgementBatch()
    for sender in senders {
      var isNew = true
      for place in sender.places {
        if part.count == limit {
          parts.append(part)
          part = AcknowledgementBatch()
          isNew = true
        }
        if isNew {
          part.add(by: sender.number, at: sender.location, newestWhileAway: sender.newestWhileAway)
          isNew = false
        }
        part.add(arrivals[place])
      }
    }
    if !part.isEmpty { parts.append(part) }
    return parts
  }

  /// What acknowledgements of many devices for the same push have in common.
  private struct Kind: Hashable {
    let id: MessageID
    let wasAway: Bool
    let isExact: Bool

    init(_ arrival: Arrival, newestWhileAway: MessageID) {
      (id, isExact) = (arrival.id, arrival.isExact)
      wasAway = arrival.id <= newestWhileAway
    }
  }

  /// Fewer of a kind are told one by one.
  private static var leastInGroup: Int { 4 }

  /// What a home is told, at a moment: many of a kind as a set, if it knows sets.
  func message(_ batch: UInt64, at now: Timestamp, inGroups: Bool) -> AckBatch {
    func age(_ place: Int) -> UInt32 {
      UInt32(clamping: now.milliseconds - arrivals[place].at.milliseconds)
    }
    func arrival(_ place: Int) -> AckBatch.Arrival {
      AckBatch.Arrival(arrivals[place].id, age: age(place), isExact: arrivals[place].isExact)
    }
    guard inGroups else {
      return AckBatch(
        batch: batch,
        senders: senders.map { sender in
          AckBatch.Sender(
            sender.number, newestWhileAway: sender.newestWhileAway, arrivals: sender.places.map(arrival))
        })
    }
    let kinds = kindsOfArrivals()
    var groups = [[(number: RegistrationNumber, place: Int)]](repeating: [], count: kinds.all.count)
    var others: [AckBatch.Sender] = []
    for sender in senders {
      var left: [AckBatch.Arrival] = []
      for place in sender.places {
        if kinds.all[kinds.ofPlace[place]].count >= Self.leastInGroup {
          groups[kinds.ofPlace[place]].append((sender.number, place))
        } else {
          left.append(arrival(place))
        }
      }
      guard !left.isEmpty else { continue }
      others.append(
        AckBatch.Sender(sender.number, newestWhileAway: sender.newestWhileAway, arrivals: left))
    }
    return AckBatch(
      batch: batch, senders: others,
      groups: zip(kinds.all, groups).compactMap { kind, entries in
        guard !entries.isEmpty else { return nil }
        // Of two acknowledgements of a device one is enough.
        let entries = Dictionary(entries) { first, _ in first }.sorted { $0.key < $1.key }
        return AckBatch.Group(
          kind.kind.id, wasAway: kind.kind.wasAway, isExact: kind.kind.isExact,
          numbers: NumberSet(entries.map(\.key)).serialized(), ages: entries.map { age($0.value) })
      })
  }

  /// Of which kind each acknowledgement is, and how many of each there are.
  private func kindsOfArrivals() -> (all: [(kind: Kind, count: Int)], ofPlace: [Int]) {
    var all: [(kind: Kind, count: Int)] = []
    var indexes: [Kind: Int] = [:]
    var last = 0
    var ofPlace = [Int](repeating: 0, count: arrivals.count)
    for sender in senders {
      for place in sender.places {
        let kind = Kind(arrivals[place], newestWhileAway: sender.newestWhileAway)
        // Nearly always the one before.
        if last >= all.count || all[last].kind != kind {
          if let known = indexes[kind] {
            last = known
          } else {
            last = all.count
            indexes[kind] = last
            all.append((kind, 0))
          }
        }
        all[last].count += 1
        ofPlace[place] = last
      }
    }
    return (all, ofPlace)
  }

  /// What a gateway has told, as all of one connection that stands for the batch, at a moment.
  init(_ batch: AckBatch, at location: Location, now: Timestamp) {
    self.init()
    func arrival(_ id: MessageID, _ age: UInt32, _ isExact: Bool) -> Arrival {
      let (age, isOver) = age.addingReportingOverflow(batch.held)
      let whole = isOver ? .max : age
      return isExact
        ? Arrival(id, acknowledgedAt: now, age: whole == .max ? .max - 1 : whole)
        : Arrival(id, acknowledgedAt: Timestamp(milliseconds: now.milliseconds - Int64(whole)))
    }
    for sender in batch.senders {
      add(by: sender.number, at: location, newestWhileAway: sender.newestWhileAway)
      for one in sender.arrivals { add(arrival(one.id, one.age, one.isExact)) }
    }
    for group in batch.groups {
      // Few bytes can stand for many numbers.
      guard let numbers = NumberSet(serialized: group.numbers), numbers.count == group.ages.count else {
        continue
      }
      let newestWhileAway = group.wasAway ? group.id : MessageID(0)
      for (number, age) in zip(numbers.members(), group.ages) {
        add(by: number, at: location, newestWhileAway: newestWhileAway)
        add(arrival(group.id, age, group.isExact))
      }
    }
  }
}

/// Acknowledgements that no home has stored as far as is known.
struct KeptBatch: Sendable {
  let app: AppID
  let locations: [StoredAcknowledgements]
  let batch: AcknowledgementBatch
}

/// A late push: homes count them, each for itself.
struct LateKey: Hashable, Sendable {
  let home: Incarnation
  let counter: UInt64
}
