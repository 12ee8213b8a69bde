import BorealisBase
import Model

/// The deliveries to retry: first they wait for their time, then their token is read again.
struct Retries: Sendable {
  /// By the second in which they are due.
  private var later: [Int64: [Delivery]] = [:]
  var laterCount = 0
  private var due = FIFO<Delivery>()

  /// Both kinds together.
  var count: Int { laterCount + due.count }

  /// Whether some are due.
  var hasDue: Bool { !due.isEmpty }

  mutating func add(_ delivery: Delivery, at second: Int64) {
    later[second, default: []].append(delivery)
    laterCount += 1
  }

  /// Adds one that is due.
  mutating func add(_ delivery: Delivery) { due.append(delivery) }

  /// Those whose time has come are due.
  mutating func advance(to second: Int64) {
    for moment in later.keys.filter({ $0 <= second }).sorted() {
      let deliveries = later.removeValue(forKey: moment) ?? []
      laterCount -= deliveries.count
      // Its token may belong to another registration by now.
      for delivery in deliveries { due.append(delivery) }
    }
  }

  /// Removes the first due ones, and returns those whose pushes still exist; nil if there are none.
  mutating func popBatch(of open: [LegKey: ActivePush]) -> [Delivery]? { due.popBatch(of: open) }

  /// The clock was set back.
  mutating func followClock(back seconds: Int64) {
    later = Dictionary(later.map { ($0.key - seconds, $0.value) }, uniquingKeysWith: +)
  }
}
