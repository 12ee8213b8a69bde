import Glibc

/// Borealis as a system under test: devices over its own protocol, pushes over HTTP.
class PushSystem: SystemUnderTest {
  let devices: BorealisDriver
  let sender: LoadSender

  init(
    name: String, server: ServerProcess, endpoint: Endpoint, devices: BorealisDriver, sender: LoadSender,
    tls: TLSClient? = nil
  ) {
    self.devices = devices
    self.sender = sender
    super.init(name: name, server: server, endpoint: endpoint, driver: devices, tls: tls)
  }

  /// Gives receivers registrations that are in the database already.
  func adopt(_ population: Population, _ numbers: Range<Int>) {
    for (member, number) in numbers.enumerated() {
      devices.adopt(member, population.id(number), population.secret, app: population.app(of: number))
    }
  }

  override func problem() -> String? {
    if let refusal = sender.firstRefusal { return "\(sender.refusedCount) pushes were refused: \(refusal)" }
    if sender.lostCount > 0 { return "HTTP connections were closed" }
    guard let general = super.problem() else { return nil }
    return general + (devices.lastWord.map { ": " + $0 } ?? "")
  }
}

/// One server.
final class BorealisSystem: PushSystem {
  let borealis: BorealisServer
  private let senders: Int

  /// The number of HTTP connections for pushes.
  init(
    _ borealis: BorealisServer, name: String = Report.own, receivers: Int, senders: Int,
    tls: TLSClient? = nil
  ) {
    self.borealis = borealis
    self.senders = senders
    let sender = LoadSender(apps: borealis.apps)
    super.init(
      name: name, server: borealis.process,
      endpoint: tls == nil ? borealis.devicePlain : borealis.device,
      devices: BorealisDriver(receivers: receivers, appKeys: borealis.apps.map(\.key), sender: sender),
      sender: sender,
      tls: tls)
  }

  /// Starts the server again, after it has ended, on the same ports.
  func restart() throws(BenchError) {
    try borealis.restart()
    server = borealis.process
  }

  override func connectSender(_ client: LoadClient) throws(BenchError) {
    try sender.connect(senders, to: borealis.http, client)
  }
}

/// Nodes of a cluster, with devices at some and publishers at some.
final class ClusterSystem: PushSystem {
  private let cluster: BenchCluster
  /// The node of each receiver.
  var place: (Int) -> Int
  private let posts: [Int]
  private let senders: Int

  /// `posts` are the nodes that pushes go to, over so many connections in all.
  init(
    _ cluster: BenchCluster, name: String, receivers: Int, posts: [Int], senders: Int,
    place: @escaping (Int) -> Int
  ) {
    self.cluster = cluster
    self.place = place
    self.posts = posts
    self.senders = senders
    let sender = LoadSender(apps: cluster.apps)
    sender.spreads = cluster.apps.count > 1
    super.init(
      name: name, server: cluster.nodes[0].process, endpoint: cluster.nodes[0].device,
      devices: BorealisDriver(receivers: receivers, appKeys: cluster.apps.map(\.key), sender: sender),
      sender: sender)
  }

  override func endpoint(of member: Int) -> Endpoint { cluster.nodes[place(member)].device }

  override func processorTime() throws(BenchError) -> UInt64 { try cluster.processorTime() }

  override func connectSender(_ client: LoadClient) throws(BenchError) {
    for node in posts {
      try sender.connect((senders + posts.count - 1) / posts.count, to: cluster.nodes[node].http, client)
    }
  }
}
