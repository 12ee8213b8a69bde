import CLinux

/// Counts what arrives at each receiver and knows how many messages all of them have.
final class ArrivalBoard {
  /// Messages that arrived, at all receivers together.
  private(set) var arrivals = 0
  /// Messages that every receiver has.
  private(set) var completed = 0
  /// From sending to arrival; filled while `recordsLatency` is set.
  var latencies = Latencies()
  var recordsLatency = false

  /// Messages of each publisher that arrived, at all receivers together; empty for not counting them.
  var byPublisher: [Int] = []

  private let receivers: Int
  private var counts: [Int32]
  /// How many receivers have more than this many messages.
  private var reached: [Int32] = []

  init(receivers: Int) {
    self.receivers = receivers
    counts = [Int32](repeating: 0, count: receivers)
  }

  /// Counts a message whose content is in `range`.
  func arrived(at receiver: Int, _ bytes: Span<UInt8>, _ range: Range<Int>) {
    if recordsLatency, let sent = Payload.time(in: bytes, range) {
      latencies.add(cl_monotonic_ns() &- sent)
    }
    if !byPublisher.isEmpty, let publisher = Payload.publisher(in: bytes, range),
      publisher < byPublisher.count
    {
      byPublisher[publisher] += 1
    }
    arrivals += 1
    let before = Int(counts[receiver])
    counts[receiver] += 1
    if before >= reached.count { reached.append(0) }
    reached[before] += 1
    while completed < reached.count, reached[completed] == receivers { completed += 1 }
  }
}
