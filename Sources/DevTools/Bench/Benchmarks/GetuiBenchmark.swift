import BorealisBase
import CLinux
import Glibc

/// The same work over JPush's API and over Getui's, in turn against one server: what the second API costs.
enum GetuiBenchmark {
  static let jpush = "JPush's API"

  /// HTTP connections, each of which posts its next request when the last one is answered.
  private static let publishers = 16
  private static let rounds = 5
  /// The most CIDs that a list may have.
  private static let listed = 1000

  /// A kind of work.
  private struct Work {
    let name: String
    /// Makes the requests of each API anew for every round.
    let jpush: () throws(BenchError) -> RequestCycle
    let getui: () throws(BenchError) -> RequestCycle
    /// Messages that arrive for each request.
    var arrivals = 0
  }

  static func run(_ environment: BenchEnvironment, _ report: Report) throws(BenchError) {
    guard !environment.options.onlyPeers else { return }
    let population = Population(count: listed)
    var secret = ""
    // More calls with a token than an app may make in a minute are what is measured.
    let unlimited = ["--device-calls", "1000000000"]
    let server = try BorealisServer(environment, arguments: unlimited) { app throws(BenchError) in
      try population.write(app)
      secret = try GetuiSender.enable(app, environment)
    }
    let system = BorealisSystem(server, receivers: listed, senders: publishers)
    let client = try LoadClient()
    try system.connect(0..<listed, client)
    try system.connectSender(client)
    let getui = try GetuiSender(server, secret: secret)
    let online = (0..<listed).compactMap { system.devices.registration(of: $0) }
    let offline = (0..<listed).map { population.id($0) }
    for work in works(system.sender, getui, server.appKey, online: online, offline: offline) {
      try compare(work, system, client, seconds: environment.options.seconds, report)
    }
    try measureTokens(getui, system, client, seconds: environment.options.seconds, report)
    system.stop()
  }

  private static func works(
    _ sender: LoadSender, _ getui: GetuiSender, _ key: AppKey, online: [RegistrationID],
    offline: [RegistrationID]
  ) -> [Work] {
    let payload = Payload.make(size: BroadcastBenchmark.payloadSize, time: cl_monotonic_ns())
    let names = online.map(\.text)
    func list(_ ids: [RegistrationID], timeToLive: Int) -> RequestCycle {
      let audience = "{\"registration_id\":[\(GetuiSender.list(ids.map(\.text)))]}"
      return RequestCycle([sender.request(to: audience, payload, timeToLive: timeToLive)])
    }
    func getuiList(
      _ ids: [RegistrationID], timeToLive: Int, isAsync: Bool = false
    ) throws(BenchError) -> RequestCycle {
      let task = try getui.storeMessage(payload, timeToLive: timeToLive)
      return RequestCycle([getui.request(to: ids.map(\.text), task: task, isAsync: isAsync)])
    }
    return [
      Work(
        name: "single push",
        jpush: {
          RequestCycle(online.map { sender.request(to: LoadSender.audience(registration: $0), payload) })
        },
        getui: { RequestCycle(names.map { getui.request(to: $0, payload) }) }, arrivals: 1),
      Work(
        name: "single push, each with a cid at JPush",
        jpush: {
          RequestCycle(
            online.map {
              sender.request(
                to: LoadSender.audience(registration: $0), payload,
                cid: "\(key.text)-\(RequestCycle.numberPlace)")
            })
        },
        getui: { RequestCycle(names.map { getui.request(to: $0, payload) }) }, arrivals: 1),
      Work(
        name: "push to a list of 1,000 that are connected", jpush: { list(online, timeToLive: 86_400) },
        getui: { () throws(BenchError) in try getuiList(online, timeToLive: 86_400) }, arrivals: listed),
      Work(
        name: "push to a list of 1,000 that are away, not kept", jpush: { list(offline, timeToLive: 0) },
        getui: { () throws(BenchError) in try getuiList(offline, timeToLive: 0) }),
      Work(
        name: "the same, is_async", jpush: { list(offline, timeToLive: 0) },
        getui: { () throws(BenchError) in try getuiList(offline, timeToLive: 0, isAsync: true) }),
    ]
  }

  private static func compare(
    _ work: Work, _ system: BorealisSystem, _ client: LoadClient, seconds: Int, _ report: Report
  ) throws(BenchError) {
    var (costs, rates): ([[Double]], [[Double]]) = ([[], []], [[], []])
    for _ in 0..<rounds {
      for (index, make) in [work.jpush, work.getui].enumerated() {
        let requests = try make()
        let load = try post(requests, system, client, seconds: seconds, arrivals: work.arrivals)
        costs[index].append(load.cost)
        rates[index].append(load.rate)
      }
    }
    let cost = "\(work.name), processor time of the server for each"
    for (index, name) in [jpush, Report.own].enumerated() {
      report.add(cost, name, median(costs[index]), "us")
      report.add("\(work.name), accepted", name, median(rates[index]), "pushes/s")
    }
    let ratio = median(zip(costs[1], costs[0]).map { $0 / $1 })
    report.goal("\(work.name): Getui's API <= 1.1 x JPush's, median of the rounds", ratio: ratio, atMost: 1.1)
  }

  private static func measureTokens(
    _ getui: GetuiSender, _ system: BorealisSystem, _ client: LoadClient, seconds: Int, _ report: Report
  ) throws(BenchError) {
    var costs: [Double] = []
    for _ in 0..<rounds {
      costs.append(
        try post(RequestCycle([getui.check()]), system, client, seconds: seconds, arrivals: 0).cost)
    }
    let metric = "calls with a token, for a second of processor time"
    report.add(metric, Report.own, 1_000_000 / median(costs), "calls/s")
    report.goal("tokens checked for a second of processor time >= 20,000", metric, atLeast: 20_000)
  }

  /// Posts requests in turn; returns the processor time for each in microseconds, and how many were answered
  /// in a second.
  private static func post(
    _ requests: RequestCycle, _ system: BorealisSystem, _ client: LoadClient, seconds: Int, arrivals: Int
  ) throws(BenchError) -> (cost: Double, rate: Double) {
    var requests = requests
    let sender = system.sender
    let before = (posted: sender.acceptedCount, arrived: system.devices.board.arrivals)
    var posted = 0
    let used = try ProcessUsage.processorTime(system.server.identifier)
    let start = cl_monotonic_ns()
    let end = start + UInt64(seconds) * 1_000_000_000
    func post(_ client: LoadClient) {
      sender.post(requests.next(), client)
      posted += 1
    }
    sender.onReply = { _, _, client in
      if cl_monotonic_ns() < end { post(client) }
    }
    for _ in 0..<publishers { post(client) }
    while cl_monotonic_ns() < end { client.poll(until: end) }
    let rate = Double(sender.acceptedCount - before.posted) / (Double(cl_monotonic_ns() - start) / 1e9)
    try system.poll(client, "all accepted pushes arrive", seconds: 60) {
      sender.acceptedCount - before.posted == posted
        && system.devices.board.arrivals - before.arrived == posted * arrivals
    }
    sender.onReply = nil
    try system.check()
    // Acknowledgements come up to a second later.
    if arrivals > 0 { client.rest(seconds: 1.5) }
    let time = try ProcessUsage.processorTime(system.server.identifier) - used
    return (Double(time) / 1000 / Double(posted), rate)
  }

  private static func median(_ values: [Double]) -> Double {
    let sorted = values.sorted()
    return sorted.isEmpty ? 0 : sorted[sorted.count / 2]
  }
}

/// Requests that are posted in turn. Where they have `numberPlace`, each gets a number of its own.
struct RequestCycle {
  /// What a number takes the place of.
  static let numberPlace = "00000000000000000000"

  private var requests: [[UInt8]]
  private let places: [Int?]
  private var count = 0
  /// No two cycles have numbers in common.
  private var number = cl_monotonic_ns()

  init(_ requests: [[UInt8]]) {
    self.requests = requests
    let mark = Array(Self.numberPlace.utf8)
    places = requests.map { $0.firstRange(of: mark)?.lowerBound }
  }

  /// The bytes of the next request.
  mutating func next() -> [UInt8] {
    let index = count % requests.count
    count += 1
    guard let place = places[index] else { return requests[index] }
    number += 1
    var rest = number
    for digit in (0..<Self.numberPlace.utf8.count).reversed() {
      requests[index][place + digit] = UInt8(48 + rest % 10)
      rest /= 10
    }
    return requests[index]
  }
}
