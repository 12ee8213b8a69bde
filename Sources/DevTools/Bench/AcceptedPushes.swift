import CLinux

/// Single pushes as fast as the publishers' connections take them.
struct AcceptedPushes {
  /// HTTP connections of publishers.
  static let publishers = 64

  /// Pushes accepted in a second.
  let rate: Double
  /// Processor time for each until all have arrived, in microseconds.
  let cost: Double
  /// How long answers took.
  let durations: Latencies

  /// Each connection posts its next push, to the next of the devices, when its last one is answered. All have
  /// arrived at the end.
  init(_ system: PushSystem, _ client: LoadClient, seconds: Int) throws(BenchError) {
    let (sender, board) = (system.sender, system.devices.board)
    let (accepted, arrived) = (sender.acceptedCount, board.arrivals)
    let payload = Payload.make(size: BroadcastBenchmark.payloadSize, time: cl_monotonic_ns())
    let requests = system.devices.requests(payload)
    var posted = 0
    var durations = Latencies()
    let used = try system.processorTime()
    let start = cl_monotonic_ns()
    let end = start + UInt64(seconds) * 1_000_000_000
    func post(_ client: LoadClient) {
      sender.post(requests[posted % requests.count], client)
      posted += 1
    }
    sender.onReply = { _, duration, client in
      durations.add(duration)
      if cl_monotonic_ns() < end { post(client) }
    }
    defer { sender.onReply = nil }
    for _ in 0..<Self.publishers { post(client) }
    while cl_monotonic_ns() < end { client.poll(until: end) }
    rate = Double(sender.acceptedCount - accepted) / (Double(cl_monotonic_ns() - start) / 1e9)
    try system.poll(client, "all accepted pushes arrive", seconds: 20) {
      sender.acceptedCount == accepted + posted && board.arrivals == arrived + posted
    }
    try system.check()
    cost = Double(try system.processorTime() - used) / 1000 / Double(posted)
    self.durations = durations
  }
}
