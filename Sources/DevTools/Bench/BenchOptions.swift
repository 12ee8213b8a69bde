/// The requested measurements.
package struct BenchOptions: Sendable {
  /// The benchmarks by name, in the order in which `all` runs them; it leaves `soak` out, which takes long.
  package static let benchmarks = [
    "sqlite", "broadcast", "single", "seal", "connect", "idle", "restart", "million", "callbacks", "getui",
    "apns", "channels", "console", "cluster", "soak",
  ]

  /// A name of `benchmarks`, or `all`.
  package var benchmark: String
  /// How many devices; nil for the benchmark's own number. At most 15,000: a process may have 20,000 open
  /// files.
  package var connections: Int?
  /// Seconds for each measurement.
  package var seconds: Int
  /// Whether to leave Borealis itself out.
  package var onlyPeers: Bool
  /// How many devices wait for Apple in the benchmark `apns`, which then measures what such a queue costs;
  /// nil for its ordinary measurements. In `channels` how many pushes wait for a dead service; nil for its
  /// own number.
  package var queue: Int?
  /// Pushes a second in the benchmark `soak`; nil for its own number.
  package var rate: Int?
  /// Nodes in the benchmark `cluster`; nil for its own number.
  package var nodes: Int?
  /// Devices of all nodes together in the benchmark `cluster`, which then only counts what a crowd costs; nil
  /// for its comparisons.
  package var devices: Int?
  /// Apps among which the benchmark `cluster` divides its devices, each with a home of its own; nil for one.
  package var apps: Int?
  /// The server to measure; nil for `borealis` in the folder of the running program.
  package var program: String?
  /// The addresses of the console's pages with names in braces, for the benchmark `console`.
  package var consolePages: [String] = []
  /// Where to write the results as JSON; nil for nowhere.
  package var json: String?
  /// The folder for temporary files, which decides on which disk is measured; nil for $TMPDIR or /tmp.
  package var folder: String?

  var peers: [Peer]

  /// Checks the values. `peers` is a list with commas of floor, mosquitto, redis and nats, or `none`.
  package init(
    benchmark: String, connections: Int? = nil, seconds: Int = 5,
    peers: String = "floor,mosquitto,redis,nats",
    onlyPeers: Bool = false, queue: Int? = nil, rate: Int? = nil, nodes: Int? = nil, devices: Int? = nil,
    apps: Int? = nil, json: String? = nil, folder: String? = nil
  ) throws(BenchError) {
    guard benchmark == "all" || Self.benchmarks.contains(benchmark) else {
      throw .usage(
        "no benchmark \"\(benchmark)\": there are \(Self.benchmarks.joined(separator: ", ")) and all")
    }
    guard (1...15_000).contains(connections ?? 1) else { throw .usage("connections: 1 to 15000") }
    let longest = benchmark == "soak" ? 86_400 : 60
    guard (1...longest).contains(seconds) else { throw .usage("seconds: 1 to \(longest)") }
    guard rate == nil || benchmark == "soak" else { throw .usage("rate: only for the benchmark soak") }
    guard (1...20_000).contains(rate ?? 1) else { throw .usage("rate: 1 to 20000") }
    guard queue == nil || ["apns", "channels"].contains(benchmark) else {
      throw .usage("queue: only for the benchmarks apns and channels")
    }
    guard (1000...2_000_000).contains(queue ?? 1000) else { throw .usage("queue: 1000 to 2000000") }
    guard nodes == nil && devices == nil || benchmark == "cluster" else {
      throw .usage("nodes, devices: only for the benchmark cluster")
    }
    guard (2...200).contains(nodes ?? 2) else { throw .usage("nodes: 2 to 200") }
    guard (1000...3_000_000).contains(devices ?? 1000) else { throw .usage("devices: 1000 to 3000000") }
    guard apps == nil || benchmark == "cluster" && devices == nil else {
      throw .usage("apps: only for the benchmark cluster, without devices")
    }
    guard (1...64).contains(apps ?? 1) else { throw .usage("apps: 1 to 64") }
    self.benchmark = benchmark
    self.connections = connections
    self.seconds = seconds
    self.onlyPeers = onlyPeers
    self.queue = queue
    self.rate = rate
    self.nodes = nodes
    self.devices = devices
    self.apps = apps
    self.json = json
    self.folder = folder
    self.peers = []
    guard peers != "none" else { return }
    for name in peers.split(separator: ",") {
      guard let peer = Peer(rawValue: String(name)) else { throw .usage("no peer \"\(name)\"") }
      self.peers.append(peer)
    }
  }
}
