import PushBase

/// Acknowledgements of several devices of an app, so that they are taken together: what costs a lock or a look into a table
/// is done once for all of them.
public struct AcknowledgementBatch: Sendable {
  /// Whose they are.
  public struct Sender: Sendable {
    /// The device's registration.
    public let number: RegistrationNumber
    /// The connection that sent them, which is notified when they are stored; nil for none.
    public let location: Location?
    /// Pushes after this one were accepted while the device was in reach: their latencies are counted.
    public let newestWhileAway: MessageID
    /// Their range in `arrivals`.
    public fileprivate(set) var places: Range<Int>

    /// How many they are.
    public var count: Int { places.count }
  }

  /// In the order in which they came.
  public private(set) var senders: [Sender] = []
  /// Of the first sender, then of the next.
  public private(set) var arrivals: [Arrival] = []

  /// Starts empty.
  public init() {}

  /// Whether there are no acknowledgements.
  public var isEmpty: Bool { senders.isEmpty }

  /// How many acknowledgements there are.
  public var count: Int { arrivals.count }

  /// Begins with those of a device.
  public mutating func add(
    by number: RegistrationNumber, at location: Location?, newestWhileAway: MessageID
  ) {
    senders.append(
      Sender(
        number: number, location: location, newestWhileAway: newestWhileAway,
        places: arrivals.count..<arrivals.count))
  }

  /// Adds one of the device that was added last.
  public mutating func add(_ arrival: Arrival) {
    arrivals.append(arrival)
    senders[senders.count - 1].places = senders[senders.count - 1].places.lowerBound..<arrivals.count
  }

  /// Clears them and keeps the capacity.
  public mutating func removeAll() {
    senders.removeAll(keepingCapacity: true)
    arrivals.removeAll(keepingCapacity: true)
  }
}

/// The result of acknowledgements.
struct TakenAcknowledgements: Sendable {
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

  /// Who acknowledged each push that others wait for still, and when it reached them. Devices acknowledge the same pushes in
  /// the same order, so each is looked for behind the one before it.
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
