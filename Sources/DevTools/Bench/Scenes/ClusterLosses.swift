import BorealisBase
import CLinux

/// Devices that come back after their node was killed. A login that is refused is tried again after a pause.
private final class ReturningDevices {
  /// Logins under way at a time: more would overflow a server's queue of connects.
  private static let window = 1024
  /// Nanoseconds after which a refused login is tried again.
  private static let pause: UInt64 = 100_000_000

  private var waiting: FIFO<(at: UInt64, member: Int)> = FIFO()
  private var isUnderWay: Set<Int> = []
  private(set) var refusedCount = 0

  /// Follows devices that are connected.
  init(_ driver: BorealisDriver) {
    driver.onClosed = { [unowned self] member in
      let wasRefused = isUnderWay.remove(member) != nil
      if wasRefused { refusedCount += 1 }
      waiting.append((wasRefused ? cl_monotonic_ns() + Self.pause : 0, member))
    }
    driver.onReady = { [unowned self] in isUnderWay.remove($0) }
  }

  /// The next one to connect, if it is time.
  func next(_ now: UInt64) -> Int? {
    guard isUnderWay.count < Self.window, let first = waiting.first, first.at <= now else { return nil }
    _ = waiting.popFirst()
    isUnderWay.insert(first.member)
    return first.member
  }
}

/// Nodes that are killed.
extension ClusterScene {
  func measureLostNode() throws(BenchError) {
    let lost = count - 1
    let system = nodes(0..<receivers, posts: [0], senders: 1) { _ in lost }
    try system.connect(0..<receivers, client)
    try system.connectSender(client)
    client.rest(seconds: 1)
    let driver = system.devices
    let returning = ReturningDevices(driver)
    let goal = driver.readyCount + receivers
    var next = 0
    system.place = { [count] _ in
      next += 1
      return next % (count - 1)
    }
    let start = cl_monotonic_ns()
    cluster.kill(lost)
    while driver.readyCount < goal {
      let now = cl_monotonic_ns()
      guard now - start < 60_000_000_000 else {
        throw .timedOut("\(goal - driver.readyCount) devices are back")
      }
      while let member = returning.next(now) { try system.open(member, client) }
      client.poll(until: now + 1_000_000)
    }
    report.add(ClusterBenchmark.back, Report.own, Double(cl_monotonic_ns() - start) / 1e9, "s")
    report.goal(
      "\(receivers) devices back after kill -9 of their node < 5 s", ClusterBenchmark.back, atMost: 5)
    if returning.refusedCount > 0 {
      report.note("\(returning.refusedCount) logins were refused and tried again meanwhile")
    }
    (driver.onClosed, driver.onReady) = (nil, nil)
    driver.forgiveLosses()
    // Each of them is there.
    let before = driver.board.arrivals
    system.devices.broadcast(
      Payload.make(size: BroadcastBenchmark.payloadSize, time: cl_monotonic_ns()), client)
    try system.poll(client, "a broadcast arrives at all that are back", seconds: 10) {
      driver.board.arrivals >= before + receivers
    }
    try close([system])
    if count > 2 { try measureLostHome() }
  }

  private func measureLostHome() throws(BenchError) {
    // Until the node that was killed before is forgotten: a new home waits for what each node knows of its
    // devices.
    client.rest(seconds: 10)
    let sender = LoadSender(apps: cluster.apps)
    try sender.connect(1, to: cluster.nodes[1].http, client)
    let start = cl_monotonic_ns()
    cluster.kill(0)
    for app in cluster.apps.indices {
      let accepted = sender.acceptedCount
      while sender.acceptedCount == accepted {
        guard cl_monotonic_ns() - start < 60_000_000_000 else { throw .timedOut("another node is the home") }
        let refused = sender.refusedCount
        sender.push(
          to: LoadSender.audience(registration: population.id(app)),
          Payload.make(size: BroadcastBenchmark.payloadSize, time: cl_monotonic_ns()), app: app, client)
        try client.poll("a push is answered", seconds: 30) {
          sender.acceptedCount > accepted || sender.refusedCount > refused
        }
      }
    }
    let metric = population.apps > 1 ? ClusterBenchmark.homesBack : ClusterBenchmark.homeBack
    report.add(metric, Report.own, Double(cl_monotonic_ns() - start) / 1e9, "s")
  }
}
