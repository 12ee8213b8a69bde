/// The requests in flight on one connection, in the order sent, in reused slots.
struct InFlightTable {
  struct Entry {
    var tag: UInt64 = 0
    var streamID: Int32 = 0
    /// Time of the loop at which the response is overdue.
    var deadline: UInt64 = 0
    /// The status of the response; 0 before it has begun.
    var status = 0
    /// The fields of the response.
    var headers = HTTP2Headers()
    /// The beginning of the response's body.
    var body: [UInt8] = []
    /// Bytes of the body that were received.
    var received = 0
    /// Whether the source has the result; the stream may exist for a moment longer.
    var isReported = false
    fileprivate var before = InFlightTable.none
    fileprivate var after = InFlightTable.none
  }

  fileprivate static let none = UInt32.max
  private var flights: [Entry] = []
  private var free: [UInt32] = []
  private var newest = InFlightTable.none
  /// The slot of the request that was sent first, nil if there is none.
  var oldest: UInt32? { first == Self.none ? nil : first }
  private var first = InFlightTable.none
  /// How many are in flight.
  private(set) var count = 0

  /// Allocates a slot for a request that is sent after all others.
  mutating func insert(tag: UInt64, deadline: UInt64) -> UInt32 {
    let slot = free.popLast() ?? UInt32(flights.count)
    if Int(slot) == flights.count { flights.append(Entry()) }
    flights[Int(slot)] = Entry(tag: tag, deadline: deadline, before: newest)
    if newest == Self.none { first = slot } else { flights[Int(newest)].after = slot }
    newest = slot
    count += 1
    return slot
  }

  /// Frees a slot.
  mutating func remove(_ slot: UInt32) {
    let flight = flights[Int(slot)]
    if flight.before == Self.none {
      first = flight.after
    } else {
      flights[Int(flight.before)].after = flight.after
    }
    if flight.after == Self.none {
      newest = flight.before
    } else {
      flights[Int(flight.after)].before = flight.before
    }
    flights[Int(slot)] = Entry()
    free.append(slot)
    count -= 1
  }

  /// The slot of the request that was sent next after that of another.
  func next(after slot: UInt32) -> UInt32? {
    let next = flights[Int(slot)].after
    return next == Self.none ? nil : next
  }

  /// A request in flight.
  subscript(slot: UInt32) -> Entry {
    _read { yield flights[Int(slot)] }
    _modify { yield &flights[Int(slot)] }
  }
}
