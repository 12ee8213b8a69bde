import BorealisBase
import BorealisCrypto
import CLinux
import Glibc

/// A server with two apps: one whose devices have tokens of a vendor that the bench plays, and another one
/// whose pushes over the direct connection are timed.
final class ChannelScene {
  /// Which vendor.
  enum Vendor: String, CaseIterable {
    case fcm, webpush, huawei

    var name: String {
      switch self {
      case .fcm: "FCM"
      case .webpush: "Web Push"
      case .huawei: "Huawei"
      }
    }

    /// Its number among channels, and that of its service, as the database has them.
    fileprivate var numbers: (channel: Int, service: Int) {
      switch self {
      case .fcm: (3, 1)
      case .webpush: (4, 8)
      case .huawei: (5, 1)
      }
    }

    /// What the client of vendors' channels is measured alone with; nil for one with batches.
    var transport: ChannelLoad.Kind? {
      switch self {
      case .fcm: .fcm
      case .webpush: .webpush
      case .huawei: nil
      }
    }

    /// Devices in a request.
    var batch: Int { self == .huawei ? 1000 : 1 }
  }

  static let project = "bench-project"
  static let app = "1001"

  let sink: VendorSink
  /// The file of the certificate that the sink has.
  let authorities: String
  let server: BorealisServer
  let client: LoadClient
  private let population: Population
  private let publisher: LoadSender
  private let other: LoadSender
  private let device: BorealisDriver
  private let system: SystemUnderTest

  /// Publishers of the first app: HTTP connections, each with one request at a time.
  static let publishers = 8
  /// Pushes of the other app a second.
  private static let pushesPerSecond: UInt64 = 200

  init(_ environment: BenchEnvironment, _ vendor: Vendor, devices count: Int) throws(BenchError) {
    let sink = try VendorSink()
    self.sink = sink
    let population = Population(count: count)
    self.population = population
    var second: BorealisApp?
    authorities = try environment.workspace.write("vendors-\(vendor.rawValue).pem", sink.certificate)
    server = try BorealisServer(
      environment, folder: "data-\(vendor.rawValue)",
      arguments: [
        "--fcm-url", sink.url, "--makers-url", sink.url, "--web-push-url", sink.url, "--vendor-ca",
        authorities,
      ]
    ) { app throws(BenchError) in
      try population.write(app)
      try Self.writeTokens(vendor, of: population, app, sink)
      try Self.setCredential(vendor, of: app, sink, environment)
      second = try BorealisApp.create(environment, folder: app.folder)
    }
    guard let second else { throw .unexpected("the second app is missing") }
    client = try LoadClient()
    publisher = LoadSender(appKey: server.appKey, secret: server.secret)
    other = LoadSender(appKey: second.key, secret: second.secret)
    device = BorealisDriver(receivers: 1, appKey: second.key, sender: other)
    system = SystemUnderTest(
      name: Report.own, server: server.process, endpoint: server.devicePlain, driver: device)
    try system.connect(0..<1, client)
    try other.connect(4, to: server.http, client)
    try publisher.connect(64, to: server.http, client)
    device.board.recordsLatency = true
    device.aim(at: 0)
    // The first notification waits for the connection and a token of access.
    post(to: LoadSender.audience(registration: population.id(0)))
    try system.poll(client, "a notification comes to the vendor", seconds: 30) { sink.count > 0 }
  }

  private static func writeTokens(
    _ vendor: Vendor, of population: Population, _ app: BorealisApp, _ sink: VendorSink
  ) throws(BenchError) {
    let database = try BenchDatabase(app.database)
    try database.execute("PRAGMA synchronous = OFF; BEGIN")
    let insert = try database.prepare(
      """
      INSERT INTO channel_token (app_id, number, channel, kind, name, service, token, told_at, since)
      SELECT id, ?, ?, 1, '', ?, ?, 1, 1 FROM app WHERE app_key = ?
      """)
    let browser: (point: String, auth: String)
    do {
      let key = try DevicePrivateKey(.p256).publicKey
      browser = (Base64.encodeURL(key.point), Base64.encodeURL(key.auth))
    } catch {
      throw .unexpected("\(error)")
    }
    for number in 0..<population.count {
      let name = "\(VendorSink.token)\(number)"
      // As the server stores it.
      let token =
        vendor == .webpush
        ? #"{"endpoint":"\#(sink.url)/push/\#(name)","keys":{"p256dh":"\#(browser.point)","auth":"\#(browser.auth)"}}"#
        : name
      try insert.run(
        .integer(number), .integer(vendor.numbers.channel), .integer(vendor.numbers.service),
        .bytes(Array(token.utf8)), .text(app.key.text))
    }
    try database.execute("COMMIT; PRAGMA wal_checkpoint(TRUNCATE)")
  }

  private static func setCredential(
    _ vendor: Vendor, of app: BorealisApp, _ sink: VendorSink, _ environment: BenchEnvironment
  ) throws(BenchError) {
    var words = ["app", "channel", "set", app.key.text, vendor.rawValue, "--data", app.folder]
    switch vendor {
    case .fcm:
      let pem: String
      do { pem = try RSAKey.generate().pem() } catch { throw .unexpected("\(error)") }
      let account: JSONValue = [
        "type": "service_account", "project_id": .string(project), "private_key_id": "bench",
        "private_key": .string(pem), "client_email": "bench@bench-project.iam.gserviceaccount.com",
        "token_uri": .string(sink.url + "/token"),
      ]
      let file = try environment.workspace.write(
        "account.json", String(decoding: JSONWriter.serialize(account), as: UTF8.self))
      words += ["--file", file, "--fcm-url", sink.url]
    case .webpush: words += ["--contact", "mailto:bench@example.com"]
    case .huawei:
      let file = try environment.workspace.write(
        "huawei.json", #"{"app_id":"\#(Self.app)","secret":"bench"}"#)
      words += ["--fields", file, "--makers-url", sink.url]
    }
    _ = try ServerProcess.firstLine(
      environment.server, words, executable: environment.executable,
      log: environment.workspace.path + "/servers.log")
  }

  // MARK: Pushes through the vendor

  /// Posts a notification, which goes through the vendor.
  func post(to audience: String) {
    publisher.post(
      publisher.request(
        notificationTo: audience, Payload.make(size: 64, time: cl_monotonic_ns()), platform: "android"),
      client)
  }

  /// Sends notifications to all devices, a push of each publisher at a time, for so many seconds at least;
  /// gives how many a second the vendor has taken, and the server's processor time for each, in microseconds.
  func measure(seconds: Int) throws(BenchError) -> (rate: Double, cost: Double) {
    let (before, used) = (sink.count, try ProcessUsage.processorTime(server.process.identifier))
    let start = cl_monotonic_ns()
    let end = start + UInt64(seconds) * 1_000_000_000
    var expected = before
    repeat {
      beat()
      for _ in 0..<Self.publishers { post(to: LoadSender.all) }
      expected += Self.publishers * population.count
      try system.poll(client, "the vendor has taken all notifications", seconds: 120) {
        sink.count >= expected
      }
    } while cl_monotonic_ns() < end
    let duration = Double(cl_monotonic_ns() - start) / 1e9
    let time = try ProcessUsage.processorTime(server.process.identifier) - used
    try check()
    let count = Double(expected - before)
    return (count / duration, Double(time) / 1000 / count)
  }

  /// Posts this many pushes to one device each, 64 at a time; returns when all are accepted.
  func postSingles(_ count: Int) throws(BenchError) {
    let before = publisher.acceptedCount
    var next = 0
    func postNext() {
      guard next < count else { return }
      if next % 1000 == 0 { beat() }
      post(to: LoadSender.audience(registration: population.id(next % population.count)))
      next += 1
    }
    publisher.onReply = { _, _, _ in postNext() }
    for _ in 0..<64 { postNext() }
    try system.poll(client, "all pushes are accepted", seconds: 300) {
      publisher.acceptedCount - before + publisher.refusedCount >= count
    }
    publisher.onReply = nil
    try check()
  }

  // MARK: The other app

  /// Keeps the device's connection while it gets nothing.
  func beat() { system.beat(0, client) }

  /// How long pushes over the direct connection take, which are sent for so many seconds.
  func directLatencies(seconds: Int) throws(BenchError) -> Latencies {
    let goal = device.board.arrivals + seconds * Int(Self.pushesPerSecond)
    device.board.latencies = Latencies()
    let start = cl_monotonic_ns()
    for number in 0..<UInt64(seconds) * Self.pushesPerSecond {
      let due = start + number * 1_000_000_000 / Self.pushesPerSecond
      while cl_monotonic_ns() < due { client.poll(until: due) }
      device.broadcast(
        Payload.make(size: BroadcastBenchmark.payloadSize, time: cl_monotonic_ns()), client)
    }
    try system.poll(client, "the other app's pushes arrive", seconds: 30) { device.board.arrivals >= goal }
    try check()
    return device.board.latencies
  }

  /// The server's own memory, in MiB.
  func memory() throws(BenchError) -> Double {
    Double(try ProcessUsage.memory(server.process.identifier)) / 1_048_576
  }

  private func check() throws(BenchError) {
    try system.check()
    for sender in [publisher, other] {
      if let refusal = sender.firstRefusal { throw .unexpected("a push was refused: \(refusal)") }
    }
  }

  func end() {
    client.closeAll(of: device)
    system.stop()
    sink.stop()
  }
}
