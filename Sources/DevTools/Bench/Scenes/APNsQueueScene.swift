import BorealisBase
import BorealisCrypto
import CLinux
import Glibc

/// A server with two apps of one team: one that has a queue to Apple, and another one whose pushes are timed.
final class APNsQueueScene {
  /// What was seen for a while.
  struct Sample {
    /// How long pushes to a device on the direct connection took, and those to Apple.
    var own = Latencies()
    var apple = Latencies()
    /// The most memory that the server had, in MiB.
    var memory = 0.0
    /// Notifications per second that the simulated APNs accepted in that time.
    var rate = 0.0
  }

  private static let topic = "com.example.queue"
  private static let otherTopic = "com.example.other"
  /// Pushes of the other app a second, on both ways together.
  private static let pushesPerSecond: UInt64 = 200

  let gate: APNsGate
  private let server: BorealisServer
  private let population: Population
  private let client: LoadClient
  private let queueSender: LoadSender
  private let sender: LoadSender
  private let device: BorealisDriver
  private let system: SystemUnderTest
  private let phone: RegistrationID

  /// Starts the server with this many devices of the first app with tokens.
  init(_ environment: BenchEnvironment, queue count: Int) throws(BenchError) {
    let files = try APNsFiles(environment)
    gate = try APNsGate(topic: Self.topic, certificate: files.certificate, key: files.key)
    let population = Population(count: count, haveTokens: true)
    self.population = population
    let phones = Population(count: 1, haveTokens: true, seed: UInt64(count) + 1)
    var other: BorealisApp?
    server = try BorealisServer(
      environment, folder: "data-apns",
      arguments: [
        "--apns-production", "127.0.0.1:\(gate.port)", "--apns-sandbox", "127.0.0.1:1", "--apns-ca",
        files.certificate,
      ]
    ) { app throws(BenchError) in
      try population.write(app)
      try files.setCredential(of: app, topic: Self.topic, environment)
      let second = try BorealisApp.create(environment, folder: app.folder)
      try phones.write(second)
      try files.setCredential(of: second, topic: Self.otherTopic, environment)
      other = second
    }
    guard let other else { throw .unexpected("the second app is missing") }
    phone = phones.id(0)
    client = try LoadClient()
    queueSender = LoadSender(appKey: server.appKey, secret: server.secret)
    sender = LoadSender(appKey: other.key, secret: other.secret)
    device = BorealisDriver(receivers: 1, appKey: other.key, sender: sender)
    system = SystemUnderTest(
      name: Report.own, server: server.process, endpoint: server.devicePlain, driver: device)
    try system.connect(0..<1, client)
    try sender.connect(4, to: server.http, client)
    try queueSender.connect(64, to: server.http, client)
    device.board.recordsLatency = true
    device.aim(at: 0)
    try warmUp()
  }

  /// The first push to Apple waits for the connection.
  private func warmUp() throws(BenchError) {
    postToApple()
    try system.poll(client, "a push comes to Apple", seconds: 30) { gate.others > 0 }
    _ = gate.drainLatencies()
  }

  func memory() throws(BenchError) -> Double {
    Double(try ProcessUsage.memory(server.process.identifier)) / 1_048_576
  }

  // MARK: The queue

  /// Queues one push to all devices.
  func postBroadcast() throws(BenchError) {
    let before = queueSender.acceptedCount
    queueSender.post(notification(to: LoadSender.all, by: queueSender), client)
    try system.poll(client, "the broadcast is accepted", seconds: 30) { queueSender.acceptedCount > before }
  }

  /// Queues this many pushes to one device each; returns how many per second were accepted.
  func postSingles(_ count: Int) throws(BenchError) -> Double {
    let before = queueSender.acceptedCount
    var next = 0
    func post(_ client: LoadClient) {
      guard next < count else { return }
      let target = LoadSender.audience(registration: population.id(next % population.count))
      next += 1
      queueSender.post(notification(to: target, by: queueSender), client)
    }
    let start = cl_monotonic_ns()
    queueSender.onReply = { _, _, client in post(client) }
    for _ in 0..<64 { post(client) }
    try system.poll(client, "all pushes are accepted", seconds: 120) {
      queueSender.acceptedCount - before + queueSender.refusedCount >= count
    }
    queueSender.onReply = nil
    if let refusal = queueSender.firstRefusal { throw .unexpected("a push was refused: \(refusal)") }
    return Double(count) / (Double(cl_monotonic_ns() - start) / 1e9)
  }

  // MARK: The other app

  /// Times the other app's pushes while the queue drains; `count` is how many devices were in it.
  func drain(_ count: Int, atMost seconds: Int) throws(BenchError) -> Sample {
    let goal = drained + count
    let (start, before) = (cl_monotonic_ns(), gate.answered)
    drained = goal
    let deadline = start + UInt64(seconds) * 1_000_000_000
    var end: UInt64?
    var sample = try sample(toApple: true) {
      if end == nil, self.gate.answered >= goal { end = cl_monotonic_ns() }
      return end != nil || cl_monotonic_ns() >= deadline
    }
    guard let end else {
      throw .timedOut("the queue drains: \(goal - gate.answered) of \(count) are left")
    }
    sample.rate = Double(gate.answered - before) / (Double(end - start) / 1e9)
    return sample
  }

  /// Devices of all queues so far.
  private var drained = 0

  /// Times the other app's pushes for a while, those to Apple only if Apple answers.
  func sample(seconds: Int, toApple: Bool = true) throws(BenchError) -> Sample {
    let end = cl_monotonic_ns() + UInt64(seconds) * 1_000_000_000
    return try sample(toApple: toApple) { cl_monotonic_ns() >= end }
  }

  private func sample(toApple: Bool, until isOver: () -> Bool) throws(BenchError) -> Sample {
    var sample = Sample()
    device.board.latencies = Latencies()
    var (sentToDevice, sentToApple) = (device.board.arrivals, gate.others)
    let start = cl_monotonic_ns()
    let period = 1_000_000_000 / Self.pushesPerSecond
    var nextLook = start
    for number in 0... {
      // A push that is slow does not hold back the next ones.
      let due = start + UInt64(number) * period
      while cl_monotonic_ns() < due { client.poll(until: due) }
      if isOver() { break }
      if toApple, number % 2 == 1 {
        postToApple()
        sentToApple += 1
      } else {
        device.broadcast(
          Payload.make(size: BroadcastBenchmark.payloadSize, time: cl_monotonic_ns()), client)
        sentToDevice += 1
      }
      if due >= nextLook {
        sample.memory = max(sample.memory, try memory())
        nextLook = due + 1_000_000_000
      }
    }
    try system.poll(client, "the other app's pushes arrive", seconds: 30) {
      device.board.arrivals >= sentToDevice && gate.others >= sentToApple
    }
    try system.check()
    if let refusal = sender.firstRefusal { throw .unexpected("a push was refused: \(refusal)") }
    (sample.own, sample.apple) = (device.board.latencies, gate.drainLatencies())
    return sample
  }

  private func postToApple() {
    sender.post(notification(to: LoadSender.audience(registration: phone), by: sender), client)
  }

  /// A notification that says when it was sent.
  private func notification(to audience: String, by sender: LoadSender) -> [UInt8] {
    sender.request(
      notificationTo: audience, Payload.make(size: Payload.minimum, time: cl_monotonic_ns()))
  }

  func end() throws(BenchError) {
    try system.check()
    client.closeAll(of: device)
    system.stop()
  }
}

/// What server and sink need to trust each other.
private struct APNsFiles {
  let certificate: String
  let key: String
  private let providerKey: String

  init(_ environment: BenchEnvironment) throws(BenchError) {
    do {
      let identity = try SelfSignedCertificate.make(
        commonName: "localhost", dnsNames: ["localhost"], ipAddresses: ["127.0.0.1"], days: 2)
      certificate = try environment.workspace.write("apns.pem", identity.certificatePEM)
      key = try environment.workspace.write("apns.key", identity.keyPEM)
      providerKey = try environment.workspace.write("provider.p8", try ES256Key.generate().pem)
    } catch {
      throw .unexpected("\(error)")
    }
  }

  /// Both apps are of one team and have one key, so that they share connections.
  func setCredential(
    of app: BorealisApp, topic: String, _ environment: BenchEnvironment
  ) throws(BenchError) {
    _ = try ServerProcess.firstLine(
      environment.server,
      [
        "app", "channel", "set", app.key.text, "apns", "--data", app.folder, "--p8", providerKey, "--key-id",
        "BENCHKEY01", "--team-id", "BENCHTEAM1", "--topic", topic, "--environment", "production",
      ], executable: environment.executable, log: environment.workspace.path + "/servers.log")
  }
}
