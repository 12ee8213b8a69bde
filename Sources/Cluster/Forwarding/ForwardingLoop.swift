import BorealisBase
import BorealisNet
import HTTP

/// Passes the requests of one loop on. Made on the loop's thread and never leaves it; every call comes from
/// there.
///
/// A request goes to an idle connection to its home at once. If there is none it waits in order until one is
/// there, or a home is, and no longer than its deadline. After a failure it waits again if it was certainly
/// not carried out: nothing answered, the connection ended before all of it was given to the kernel, or the
/// node says that it is not the home, as it also does before it closes an idle connection. Otherwise its
/// client is told that it may have been carried out.
package final class ForwardingLoop: LoopDriver {
  let forwarder: RequestForwarder
  unowned let loop: EventLoop
  let local: () -> RequestHandlers?
  private let mailbox: Mailbox<RequestForwarder.Mail>
  private(set) var index: UInt8 = 0
  /// The buffer that the bytes of every connection are read into.
  var buffer = [UInt8](repeating: 0, count: 64 << 10)
  /// The buffer in which small pieces are merged for sending.
  var scratch: [UInt8] = []

  private var course: RequestForwarder.Course
  /// By home, as far as there is something for it.
  private(set) var lanes: [RequestHomes.Home: ForwardLane] = [:]
  private(set) var places: ForwardPlaces
  /// Requests that their home did not take, though it is the home of others, and when they are tried again.
  private var deferred: [(at: UInt64, job: ForwardJob)] = []
  var sockets = Slab<ForwardConnection?>(blank: nil)
  /// Connections with more to read than a turn's share.
  var again: [ForwardConnection] = []

  init(
    loop: EventLoop, forwarder: RequestForwarder, mailbox: Mailbox<RequestForwarder.Mail>,
    local: @escaping () -> RequestHandlers?
  ) {
    self.loop = loop
    self.forwarder = forwarder
    self.mailbox = mailbox
    self.local = local
    course = forwarder.currentCourse
    places = ForwardPlaces(all: forwarder.options.connections, homes: course.homes.nodes.count)
    index = loop.add(self)
  }

  deinit {
    // The loop is gone with everything that it watched; only the descriptors are left.
    for slot in 0..<UInt32(sockets.capacity) { sockets[slot]?.abandon() }
  }

  // MARK: Requests

  /// Serves a complete request in this process if it is the home, else passes it on. `isSecure` says that the
  /// client used TLS.
  package func handle(_ request: HTTPRequest, _ exchange: HTTPExchange, isSecure: Bool) {
    // Found once: it may be in the body.
    let app = app(of: request)
    if let handlers = handlers(for: app) { return handlers.handle(request, exchange, isSecure) }
    let forwarded = ForwardedRequest(
      request, requestID: exchange.requestID,
      client: forwarder.options.proxies.client(of: request, from: exchange.peer), isSecure: isSecure,
      purpose: .serving)
    start(ForwardJob(forwarded, of: app, for: .client(exchange), deadline: deadline))
  }

  /// Asks the home whether the body of a request may come, for `HTTPServer.inquire`; false if this process is
  /// to say so.
  package func screen(
    _ head: HTTPRequest, requestID: String, peer: IPAddress?, isSecure: Bool, _ inquiry: HTTPInquiry
  ) -> Bool {
    // By the body, too, if it has come.
    let app = app(of: head)
    guard handlers(for: app) == nil else { return false }
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
    start(ForwardJob(forwarded, of: app, for: .screening(inquiry), deadline: deadline))
    return true
  }

  /// What serves a request in this process; nil if it is not its home. `app` was found by the node that
  /// passes it on.
  package func handlers(for request: HTTPRequest, naming app: AppKey?) -> RequestHandlers? {
    handlers(for: app.map { .some($0) } ?? self.app(of: request))
  }

  private func app(of request: HTTPRequest) -> AppKey?? { isDivided ? .some(forwarder.app(request)) : nil }

  private func handlers(for app: AppKey??) -> RequestHandlers? {
    !isDivided || course.homes[app ?? nil] == .here ? local() : nil
  }

  private var deadline: UInt64 {
    loop.now &+ UInt64(clamping: forwarder.options.waitMilliseconds) &* 1_000_000
  }

  private func start(_ job: ForwardJob) {
    let lane = lane(of: job)
    if lane.count == 0, let connection = popIdle(of: lane) { return send(job, over: connection) }
    // It waits, behind those that do.
    guard forwarder.hold(job) else { return forwarder.refuse(job) }
    forwarder.metrics.waits.add()
    lane.append(job)
    pump(lane)
  }

  /// Lets a request that was certainly not carried out wait once more, before all others.
  func requeue(_ job: ForwardJob) {
    guard job.deadline > loop.now, forwarder.hold(job) else { return forwarder.refuse(job) }
    lane(of: job).prepend(job)
  }

  /// Tries a request again after a while that a home of others did not take: its app has another home, which
  /// nobody here knows yet.
  func postpone(_ job: ForwardJob) {
    guard job.deadline > loop.now, forwarder.hold(job) else { return forwarder.refuse(job) }
    let moment = min(loop.now &+ ForwardLimits.pause, job.deadline)
    deferred.append((moment, job))
    loop.wake(by: moment)
  }

  /// Whether each app has a home of its own.
  var isDivided: Bool { course.homes.isDivided }

  /// What there is for the home of a request.
  private func lane(of job: ForwardJob) -> ForwardLane {
    if isDivided { job.findApp(forwarder.app) }
    let home = course.homes[job.app]
    if let known = lanes[home] { return known }
    let new = ForwardLane(home)
    new.addresses = new.node.flatMap { course.addresses[$0] } ?? []
    lanes[home] = new
    return new
  }

  /// Whether requests still go where a connection does.
  func isCurrent(_ lane: ForwardLane) -> Bool { lanes[lane.home] === lane }

  private func popFirst(of lane: ForwardLane) -> ForwardJob? {
    let job = lane.popFirst()
    if let job { forwarder.release(job) }
    return job
  }

  /// Sends what waits for a home, as far as there are connections, and opens more if that helps.
  func pump(_ lane: ForwardLane) {
    guard lane.count > 0 else { return }
    if lane.home == .here || !isDivided, let handlers = local() {
      while let job = popFirst(of: lane) { job.serve(handlers) }
      return
    }
    while lane.count > 0, let connection = popIdle(of: lane) {
      if let job = popFirst(of: lane) { send(job, over: connection) }
    }
    while lane.wantsConnection(at: loop.now), makePlace(for: lane), open(lane) {}
    wakeInTime(lane)
  }

  /// Whether one more connection may be opened for a lane; an idle one of another makes room for it.
  private func makePlace(for lane: ForwardLane) -> Bool {
    guard sockets.count >= places.limit(for: lane, among: lanes.values) else { return true }
    guard let oldest = places.idle(for: lane, among: lanes.values) else { return false }
    remove(oldest)
    return sockets.count < places.limit(for: lane, among: lanes.values)
  }

  func pumpAll() { for lane in lanes.values { pump(lane) } }

  /// Answers requests that have waited long enough. They stand in the order of their deadlines, but for those
  /// that were put back, which come first.
  private func expire() {
    for lane in lanes.values {
      while let first = lane.first, first.deadline <= loop.now, let job = popFirst(of: lane) {
        forwarder.refuse(job)
      }
    }
    while let (moment, job) = deferred.first, moment <= loop.now {
      deferred.removeFirst()
      forwarder.release(job)
      requeue(job)
    }
  }

  private func wakeInTime(_ lane: ForwardLane) {
    guard let first = lane.first else { return }
    loop.wake(by: first.deadline)
    for moment in [lane.pausedUntil, lane.opensAfter] where moment > loop.now { loop.wake(by: moment) }
  }

  /// Homes have changed: what waits goes to those that requests have now.
  private func change(to new: RequestForwarder.Course) {
    let before = course
    course = new
    var moved = deferred.map(\.job)
    deferred = []
    // Nobody has asked yet which apps requests name.
    let divides = new.homes.isDivided && !before.homes.isDivided
    for lane in lanes.values { moved += lane.removeOthers { !divides && new.homes[$0.app] == lane.home } }
    let nodes = new.homes.nodes
    places.homes = nodes.count
    for (home, lane) in lanes {
      guard let node = lane.node else { continue }
      if !nodes.contains(node) {
        lanes[home] = nil
      } else if !isDivided || before.addresses[node] != new.addresses[node] {
        lane.reset(new.addresses[node] ?? [])
      }
    }
    dropOthers()
    // In the order in which they came, before those that came later for the same home.
    for job in moved.sorted(by: { $0.deadline > $1.deadline }) { lane(of: job).prepend(job) }
  }

  // MARK: The loop's calls

  /// A socket is ready.
  package func ready(_ token: ConnectionToken, _ readiness: Readiness) {
    guard sockets.isCurrent(token.slot, token.generation), let connection = sockets[token.slot] else {
      return
    }
    advance(connection, readiness)
  }

  /// The home has changed, or a node is dead.
  package func drainMail() {
    let mail = mailbox.drain()
    guard !mail.isEmpty else { return }
    for case .abandoned(let node) in mail { cut(allTo: node) }
    let new = forwarder.currentCourse
    if new.number != course.number { change(to: new) }
    for case .passOn(let request, let exchange, let isSecure) in mail {
      handle(request, exchange, isSecure: isSecure)
    }
    pumpAll()
  }

  /// The process has stood still: the clients of requests that wait may have given up, and asked for
  /// something else elsewhere.
  package func stoodStill() {
    let waiting = deferred.map(\.job) + lanes.values.flatMap { $0.removeOthers { _ in false } }
    deferred = []
    for job in waiting {
      forwarder.release(job)
      forwarder.refuse(job)
    }
    cutUnsent()
  }

  /// Checks deadlines.
  package func tick() {
    expireConnections()
    for (node, addresses) in course.addresses where addresses.isEmpty { forwarder.lookUp(node) }
    pumpAll()
  }

  /// Ends what has waited long enough.
  package func endTurn() -> Bool {
    readOn()
    expire()
    for lane in lanes.values {
      pump(lane)
      wakeInTime(lane)
    }
    return !again.isEmpty
  }
}
