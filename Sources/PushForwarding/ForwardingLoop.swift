import PushBase
import PushHTTP
import PushHTTPServer
import PushNet

/// Passes the requests of one loop on. Made on the loop's thread and never leaves it; every call comes from there.
///
/// A request goes to an idle connection at once. If there is none it waits in order until one is there, or a home is, and
/// no longer than its deadline. After a failure it waits again if it was certainly not carried out: nothing answered, the
/// connection ended before all of it was given to the kernel, or the node says that it is not the home. Otherwise its
/// client is told that it may have been carried out.
public final class ForwardingLoop: LoopDriver {
  let forwarder: RequestForwarder
  unowned let loop: EventLoop
  let local: () -> RequestHandlers?
  private let mailbox: Mailbox<RequestForwarder.Mail>
  private(set) var index: UInt8 = 0
  /// The buffer that the bytes of every connection are read into.
  var buffer = [UInt8](repeating: 0, count: 64 << 10)
  /// The buffer in which small pieces are merged for sending.
  var scratch: [UInt8] = []

  var course: RequestForwarder.Course
  var sockets = Slab<ForwardConnection?>(blank: nil)
  /// Idle connections to the home, the one used last at the end.
  var idle: [ForwardConnection] = []
  /// Connections with more to read than a turn's share.
  var again: [ForwardConnection] = []
  /// Connections that are being opened.
  var opening = 0
  /// Nothing is sent before this time of the loop's clock, since the home does not take it.
  var pausedUntil: UInt64 = 0
  /// No connection is opened before this time, since that has failed.
  var opensAfter: UInt64 = 0
  var pause = ForwardLimits.pause
  /// Failed attempts to connect, which go through the addresses of the host.
  var failures = 0
  private var queue: [ForwardJob] = []
  private var queueStart = 0

  init(
    loop: EventLoop, forwarder: RequestForwarder, mailbox: Mailbox<RequestForwarder.Mail>,
    local: @escaping () -> RequestHandlers?
  ) {
    self.loop = loop
    self.forwarder = forwarder
    self.mailbox = mailbox
    self.local = local
    course = forwarder.currentCourse
    index = loop.add(self)
  }

  deinit {
    // The loop is gone with everything that it watched; only the descriptors are left.
    for slot in 0..<UInt32(sockets.capacity) { sockets[slot]?.connection.cut() }
  }

  // MARK: Requests

  /// Passes a complete request on. `isSecure` says that the client used TLS.
  public func handle(_ request: HTTPRequest, _ exchange: HTTPExchange, isSecure: Bool) {
    let forwarded = ForwardedRequest(
      request, requestID: exchange.requestID,
      client: forwarder.options.proxies.client(of: request, from: exchange.peer), isSecure: isSecure,
      purpose: .serving)
    start(ForwardJob(forwarded, for: .client(exchange), deadline: deadline))
  }

  /// Asks the home whether the body of a request may come, for `HTTPServer.inquire`.
  public func screen(
    _ head: HTTPRequest, requestID: String, peer: IPAddress?, isSecure: Bool, _ inquiry: HTTPInquiry
  ) {
    var head = head
    if !head.body.isEmpty {
      // What has come whole was announced in some way.
      head.headers.removeAll { $0.name == "content-length" }
      head.headers.append("content-length", String(head.body.count))
      head.body = []
    }
    let forwarded = ForwardedRequest(
      head, requestID: requestID, client: forwarder.options.proxies.client(of: head, from: peer),
      isSecure: isSecure, purpose: .screening)
    start(ForwardJob(forwarded, for: .screening(inquiry), deadline: deadline))
  }

  private var deadline: UInt64 {
    loop.now &+ UInt64(clamping: forwarder.options.waitMilliseconds) &* 1_000_000
  }

  private func start(_ job: ForwardJob) {
    if queueStart == queue.count, let connection = takeIdle() { return send(job, over: connection) }
    enqueue(job)
    pump()
  }

  /// Lets a request wait, behind those that do.
  private func enqueue(_ job: ForwardJob) {
    guard hold(job) else { return refuse(job) }
    forwarder.metrics.waits.add()
    queue.append(job)
  }

  /// Lets a request that was certainly not carried out wait once more, before all others.
  func requeue(_ job: ForwardJob) {
    guard job.deadline > loop.now, hold(job) else { return refuse(job) }
    if queueStart > 0 {
      queueStart -= 1
      queue[queueStart] = job
    } else {
      queue.insert(job, at: 0)
    }
  }

  private func hold(_ job: ForwardJob) -> Bool {
    let client = job.forwarded.client
    let isExempt = client.map { client in forwarder.options.exempt.contains { $0.contains(client) } } ?? false
    let network = isExempt ? nil : client.map { PeerNetwork(of: $0) } ?? PeerNetwork(rawValue: 0)
    let share = forwarder.waiting.share(for: network, isKnown: job.isKnown)
    guard share.hold(job.cost) else { return false }
    job.waiting = share
    forwarder.metrics.waiting.add(1)
    return true
  }

  private func release(_ job: ForwardJob) {
    guard job.waiting != nil else { return }
    job.waiting = nil
    forwarder.metrics.waiting.add(-1)
  }

  /// Answers a request that was certainly not carried out.
  private func refuse(_ job: ForwardJob) {
    forwarder.metrics.refused.add()
    var response = forwarder.refusal(.unserved, job.forwarded.request.target)
    response.headers.append("Retry-After", "2")
    job.refuse(response)
  }

  /// Answers a request that may have been carried out.
  func giveUp(_ job: ForwardJob) {
    forwarder.metrics.unknown.add()
    job.refuse(forwarder.refusal(.unanswered, job.forwarded.request.target))
  }

  private func takeFirst() -> ForwardJob? {
    guard queueStart < queue.count else { return nil }
    let job = queue[queueStart]
    queueStart += 1
    if queueStart == queue.count {
      queue.removeAll(keepingCapacity: queueStart <= 1024)
      queueStart = 0
    } else if queueStart > 1024, queueStart > queue.count / 2 {
      queue.removeFirst(queueStart)
      queueStart = 0
    }
    release(job)
    return job
  }

  /// Sends what waits, as far as there are connections, and opens more if that helps.
  func pump() {
    guard queueStart < queue.count else { return }
    if let handlers = local() {
      while let job = takeFirst() { job.serve(handlers) }
      return
    }
    while queueStart < queue.count, let connection = takeIdle() {
      if let job = takeFirst() { send(job, over: connection) }
    }
    let waiting = queue.count - queueStart
    while opening < min(waiting, ForwardLimits.opening), sockets.count < forwarder.options.connections,
      open()
    {}
    wakeInTime()
  }

  /// Answers requests that have waited long enough. They stand in the order of their deadlines, but for those that were put
  /// back, which come first.
  private func expire() {
    while queueStart < queue.count, queue[queueStart].deadline <= loop.now, let job = takeFirst() {
      refuse(job)
    }
  }

  private func wakeInTime() {
    guard queueStart < queue.count else { return }
    loop.wake(by: queue[queueStart].deadline)
    for moment in [pausedUntil, opensAfter] where moment > loop.now { loop.wake(by: moment) }
  }

  // MARK: The loop's calls

  /// A socket is ready.
  public func ready(_ token: ConnectionToken, _ readiness: Readiness) {
    guard sockets.isCurrent(token.slot, token.generation), let connection = sockets[token.slot] else {
      return
    }
    advance(connection, readiness)
  }

  /// The home has changed, or a node is dead.
  public func drainMail() {
    let mail = mailbox.drain()
    guard !mail.isEmpty else { return }
    for case .abandoned(let node) in mail { cut(allTo: node) }
    let new = forwarder.currentCourse
    if new.number != course.number {
      course = new
      (pausedUntil, opensAfter, pause, failures) = (0, 0, ForwardLimits.pause, 0)
      dropOthers(than: new.home)
    }
    pump()
  }

  /// Checks deadlines.
  public func tick() {
    expireConnections()
    if let home = course.home, course.addresses.isEmpty { forwarder.lookUp(home) }
    pump()
  }

  /// Ends what has waited long enough.
  public func endTurn() -> Bool {
    readOn()
    expire()
    pump()
    wakeInTime()
    return !again.isEmpty
  }
}
