import Glibc

/// A server with the driver that speaks to it.
class SystemUnderTest {
  let name: String
  let driver: any PubSubDriver
  /// The server's process.
  var server: ServerProcess
  private let endpoint: Endpoint
  private let tls: TLSClient?
  private var links: [Link?] = []

  init(
    name: String, server: ServerProcess, endpoint: Endpoint, driver: any PubSubDriver, tls: TLSClient? = nil
  ) {
    self.name = name
    self.server = server
    self.endpoint = endpoint
    self.driver = driver
    self.tls = tls
  }

  /// Connects receivers and waits until all of them are ready. At most `window` are under way at a time: more
  /// would overflow a server's queue of connects and measure the kernel's one-second repeat.
  func connect(_ members: Range<Int>, _ client: LoadClient, window: Int = 256) throws(BenchError) {
    let before = driver.readyCount
    for (count, member) in members.enumerated() {
      try open(member, client)
      guard count + 1 - (driver.readyCount - before) >= window else { continue }
      try poll(client, "devices are let in", seconds: 30) {
        count + 1 - (driver.readyCount - before) < window
      }
    }
    try poll(client, "all devices are let in", seconds: 30) { driver.readyCount - before >= members.count }
  }

  /// Begins to connect one receiver.
  func open(_ member: Int, _ client: LoadClient) throws(BenchError) {
    while links.count <= member { links.append(nil) }
    links[member] = try client.connect(to: endpoint(of: member), driver: driver, member: member, tls: tls)
  }

  /// Where a receiver connects.
  func endpoint(of member: Int) -> Endpoint { endpoint }

  /// Processor time of what is measured, in nanoseconds.
  func processorTime() throws(BenchError) -> UInt64 { try ProcessUsage.processorTime(server.identifier) }

  /// Opens what `PubSubDriver.broadcast` sends on.
  func connectSender(_ client: LoadClient) throws(BenchError) {
    try client.connect(to: endpoint, driver: driver, member: Link.sender)
  }

  /// Lets one receiver say that it is there.
  func beat(_ member: Int, _ client: LoadClient) {
    if let link = links[member] { client.send(link, driver.heartbeat) }
  }

  /// Polls until a condition holds; if it never does, the error says what else went wrong.
  func poll(
    _ client: LoadClient, _ what: String, seconds: Double, until condition: () -> Bool
  ) throws(BenchError) {
    do throws(BenchError) {
      try client.poll("\(name): \(what)", seconds: seconds, until: condition)
    } catch {
      try check()
      throw error
    }
  }

  /// Throws if something happened that spoils a measurement.
  func check() throws(BenchError) {
    if let problem = problem() { throw .unexpected("\(name): \(problem)") }
  }

  /// What went wrong, nil for nothing.
  func problem() -> String? {
    driver.lostCount > 0 ? "\(driver.lostCount) connections were closed" : nil
  }

  /// Stops the server, politely.
  func stop() { server.stop(SIGTERM) }
}
