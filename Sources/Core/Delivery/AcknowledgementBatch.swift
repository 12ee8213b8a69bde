import BorealisBase

/// Acknowledgements of several devices of an app, so that they are taken together: what costs a lock or a
/// look into a table is done once for all of them.
package struct AcknowledgementBatch: Sendable {
  /// Whose they are.
  package struct Sender: Sendable {
    /// The device's registration.
    package let number: RegistrationNumber
    /// The connection that sent them, which is notified when they are stored; nil for none.
    package let location: Location?
    /// Pushes after this one were accepted while the device was in reach: their latencies are counted.
    package let newestWhileAway: MessageID
    /// Their range in `arrivals`.
    package fileprivate(set) var places: Range<Int>

    /// How many they are.
    package var count: Int { places.count }
  }

  /// In the order in which they came.
  package private(set) var senders: [Sender] = []
  /// Of the first sender, then of the next.
  package private(set) var arrivals: [Arrival] = []

  /// Starts empty.
  package init() {}

  /// Whether there are no acknowledgements.
  package var isEmpty: Bool { senders.isEmpty }

  /// How many acknowledgements there are.
  package var count: Int { arrivals.count }

  /// Begins with those of a device.
  package mutating func add(
    by number: RegistrationNumber, at location: Location?, newestWhileAway: MessageID
  ) {
    senders.append(
      Sender(
        number: number, location: location, newestWhileAway: newestWhileAway,
        places: arrivals.count..<arrivals.count))
  }

  /// Adds one of the device that was added last.
  package mutating func add(_ arrival: Arrival) {
    arrivals.append(arrival)
    senders[senders.count - 1].places = senders[senders.count - 1].places.lowerBound..<arrivals.count
  }

  /// Clears them and keeps the capacity.
  package mutating func removeAll() {
    senders.removeAll(keepingCapacity: true)
    arrivals.removeAll(keepingCapacity: true)
  }
}

/// The result of acknowledgements.
struct AppliedAcknowledgements: Sendable {
  /// An acknowledgement's place in the batch, and its sender's.
  typealias Place = (place: Int, sender: Int)

  var change = DeliveryChange()
  /// Those that were awaited.
  private(set) var awaited: [Place] = []
  /// Those of pushes that did not wait for them: unknown ones, other devices', those over.
  private(set) var late: [Place] = []
  /// Of each push in `change.partly` and `change.ended`, the place of the acknowledgement.
  private var partlyPlaces: [Place] = []
  private(set) var endPlaces: [Int] = []
  /// How many pushes waited for each sender.
  private(set) var counts: [Int]

  init(of batch: AcknowledgementBatch) {
    counts = Array(repeating: 0, count: batch.senders.count)
    awaited.reserveCapacity(batch.count)
  }

  /// Records an acknowledgement that has just changed `change`.
  mutating func noteAwaited(_ place: Int, of sender: Int) {
    awaited.append((place, sender))
    counts[sender] += 1
    if change.partly.count > partlyPlaces.count {
      partlyPlaces.append((place, sender))
    } else {
      endPlaces.append(place)
    }
  }

  /// Records an acknowledgement that has changed nothing.
  mutating func noteLate(_ place: Int, of sender: Int) { late.append((place, sender)) }

  /// Who acknowledged each push that others wait for still, and when it reached them. Devices acknowledge the
  /// same pushes in the same order, so each is looked for behind the one before it.
  func acknowledgers(
    _ batch: AcknowledgementBatch
  ) -> [(id: MessageID, numbers: [RegistrationNumber], moments: [Timestamp])] {
    var found: [(id: MessageID, numbers: [RegistrationNumber], moments: [Timestamp])] = []
    var last = -1
    for (place, sender) in partlyPlaces {
      let arrival = batch.arrivals[place]
      var index = found.isEmpty ? 0 : (last + 1) % found.count
      var looks = 0
      while looks < found.count, found[index].id != arrival.id {
        index = (index + 1) % found.count
        looks += 1
      }
      if looks == found.count {
        index = found.count
        found.append((arrival.id, [], []))
      }
      found[index].numbers.append(batch.senders[sender].number)
      found[index].moments.append(arrival.at)
      last = index
    }
    return found
  }
}
