import PushBase
import PushCluster
import PushRouter

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

  /// What a home is told, at a moment.
  func cluster(at now: Timestamp) -> [AckBatch.Sender] {
    senders.map { sender in
      AckBatch.Sender(
        sender.number, newestWhileAway: sender.newestWhileAway,
        arrivals: sender.places.map { place in
          let arrival = arrivals[place]
          let age = UInt32(clamping: now.milliseconds - arrival.at.milliseconds)
          return AckBatch.Arrival(arrival.id, age: age, isExact: arrival.isExact)
        })
    }
  }

  /// What a gateway has told, as all of one connection that stands for the batch, at a moment.
  init(_ batch: AckBatch, at location: Location, now: Timestamp) {
    self.init()
    for sender in batch.senders {
      add(by: sender.number, at: location, newestWhileAway: sender.newestWhileAway)
      for arrival in sender.arrivals {
        let (age, isOver) = arrival.age.addingReportingOverflow(batch.held)
        let whole = isOver ? .max : age
        add(
          arrival.isExact
            ? Arrival(arrival.id, acknowledgedAt: now, age: whole == .max ? .max - 1 : whole)
            : Arrival(
              arrival.id,
              acknowledgedAt: Timestamp(milliseconds: now.milliseconds - Int64(whole))))
      }
    }
  }
}

/// Acknowledgements that no home has stored as far as is known.
struct KeptBatch: Sendable {
  let app: AppID
  let made: UInt64
  let locations: [StoredAcknowledgements]
  let batch: AcknowledgementBatch
}

/// A late push: homes count them, each for itself.
struct LateKey: Hashable, Sendable {
  let home: Incarnation
  let counter: UInt64
}
