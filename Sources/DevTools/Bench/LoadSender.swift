import BorealisBase
import CLinux

/// An app server: posts pushes over HTTP connections that stay open, one request at a time on each.
final class LoadSender: LoadDriver {
  /// The audience that holds every device.
  static let all = "\"all\""

  /// The outcome of a request: its number, the status, and how long the answer took, in nanoseconds.
  var onReply: ((_ status: Int, _ duration: UInt64, _ client: LoadClient) -> Void)?
  /// Requests that got a 200.
  private(set) var acceptedCount = 0
  /// Requests that got anything else.
  private(set) var refusedCount = 0
  /// The first answer that was no 200.
  private(set) var firstRefusal: String?
  /// Connections that ended although they had a request under way.
  private(set) var lostCount = 0

  /// Whether each request goes to a random one of the idle connections, as behind a load balancer, and not to
  /// the one that was used last.
  var spreads = false

  /// Of each app.
  private let authorizations: [String]
  private var idle: [Link] = []
  private var waiting: [[UInt8]] = []
  private var nextWaiting = 0
  /// When the request under way on each connection was sent.
  private var sentAt: [UInt64] = []

  /// The app server of one app.
  convenience init(appKey: AppKey, secret: String) { self.init([(appKey, secret)]) }

  /// Posts for each of these apps.
  convenience init(apps: [BorealisApp]) { self.init(apps.map { ($0.key, $0.secret) }) }

  private init(_ apps: [(key: AppKey, secret: String)]) {
    authorizations = apps.map { Base64.encode(Array("\($0.key.text):\($0.secret)".utf8)) }
  }

  /// Opens connections.
  func connect(_ count: Int, to endpoint: Endpoint, _ client: LoadClient) throws(BenchError) {
    for _ in 0..<count {
      sentAt.append(0)
      try client.connect(to: endpoint, driver: self, member: sentAt.count - 1)
    }
  }

  /// Drops all connections: the benchmark has stopped the server itself.
  func forgetConnections() {
    idle = []
    lostCount = 0
  }

  static func audience(registration id: RegistrationID) -> String { "{\"registration_id\":[\"\(id.text)\"]}" }

  static func audience(alias: String) -> String { "{\"alias\":[\"\(alias)\"]}" }

  /// The bytes of a request for one of the apps. `audience` is JSON.
  func request(
    to audience: String, _ payload: [UInt8], timeToLive: Int = 86_400, cid: String? = nil, app: Int = 0
  ) -> [UInt8] {
    let name = cid.map { "\"cid\":\"\($0)\"," } ?? ""
    return request(
      "{\(name)\"platform\":\"all\",\"audience\":\(audience),\"message\":{\"msg_content\":\"", payload,
      "\"},\"options\":{\"time_to_live\":\(timeToLive)}}", app: app)
  }

  /// The bytes of a request for a notification to devices of a platform.
  func request(
    notificationTo audience: String, _ payload: [UInt8], platform: String = "ios"
  ) -> [UInt8] {
    request(
      "{\"platform\":[\"\(platform)\"],\"audience\":\(audience),\"notification\":{\"\(platform)\":{\"alert\":\"",
      payload, "\"}}}")
  }

  private func request(
    _ before: String, _ payload: [UInt8], _ after: String, app: Int = 0
  ) -> [UInt8] {
    let head = """
      POST /v3/push HTTP/1.1\r
      Host: 127.0.0.1\r
      Authorization: Basic \(authorizations[app])\r
      Content-Type: application/json\r
      Content-Length: \(before.utf8.count + payload.count + after.utf8.count)\r
      \r\n
      """
    return Array((head + before).utf8) + payload + Array(after.utf8)
  }

  /// Posts a push on an idle connection, or on the first that becomes idle.
  func push(to audience: String, _ payload: [UInt8], app: Int = 0, _ client: LoadClient) {
    post(request(to: audience, payload, app: app), client)
  }

  /// Posts a request made before.
  func post(_ request: [UInt8], _ client: LoadClient) {
    if spreads, let last = idle.indices.last { idle.swapAt(Int.random(in: 0...last), last) }
    if let link = idle.popLast() {
      send(request, link, client)
    } else {
      waiting.append(request)
    }
  }

  private func send(_ request: [UInt8], _ link: Link, _ client: LoadClient) {
    sentAt[link.member] = cl_monotonic_ns()
    client.send(link, request)
  }

  func opened(_ link: Link, _ client: LoadClient) { idle.append(link) }

  func received(_ link: Link, _ bytes: Span<UInt8>, _ client: LoadClient) -> Int {
    var used = 0
    while let reply = HTTPReply.scan(bytes, at: used) {
      used = reply.body.upperBound
      if reply.status == 200 {
        acceptedCount += 1
      } else {
        refusedCount += 1
        if firstRefusal == nil {
          let text = (0..<bytes.count).map { bytes[$0] }
          firstRefusal = String(decoding: text[reply.body], as: UTF8.self)
        }
      }
      let duration = cl_monotonic_ns() - sentAt[link.member]
      next(link, client)
      onReply?(reply.status, duration, client)
    }
    return used
  }

  private func next(_ link: Link, _ client: LoadClient) {
    guard nextWaiting < waiting.count else {
      waiting.removeAll(keepingCapacity: true)
      nextWaiting = 0
      return idle.append(link)
    }
    send(waiting[nextWaiting], link, client)
    nextWaiting += 1
  }

  func closed(_ link: Link, _ client: LoadClient) {
    // The server closes those that the load leaves idle for long.
    if let place = idle.firstIndex(of: link) { idle.remove(at: place) } else { lostCount += 1 }
  }
}
