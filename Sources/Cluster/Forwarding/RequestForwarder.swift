import BorealisBase
import BorealisNet
import HTTP
import Synchronization

/// Passes requests on to their homes, whichever nodes those are, and their answers back. One for a process;
/// safe to use from any thread. The work is done on the event loops, see `ForwardingLoop`.
package final class RequestForwarder: Sendable {
  /// What requests may cost and how long they may take.
  package struct Options: Sendable {
    /// Milliseconds that a request waits for a home, or for a connection to it.
    package var waitMilliseconds = 5000
    /// Bytes of all requests that wait; a network has a quarter, and unauthenticated clients half of both.
    package var waitingBytes = 64 << 20
    /// Seconds that the home may take for its answer.
    package var answerSeconds = 60
    /// Connections of each loop, as many as it may have clients.
    package var connections = 1024
    package var answerBytes = 64 << 20
    /// The proxies whose `X-Forwarded-For` this node trusts.
    package var proxies = TrustedProxies([])
    /// The networks of these proxies, which stand for no client of their own.
    package var exempt: [IPNetwork] = IPNetwork.loopback

    /// The defaults.
    package init() {}
  }

  /// Where requests go.
  struct Course: Sendable {
    var homes = RequestHomes(nil)
    /// Counts the changes.
    var number: UInt64 = 0
    /// The addresses of the homes' hosts, best first; none while they are looked up.
    var addresses: [NodeAddress: [String]] = [:]
  }

  enum Mail: Sendable {
    /// The course has changed.
    case changed
    /// A node is dead: it answers nothing that it was sent.
    case abandoned(NodeAddress)
    /// A handler of this process has found whose request it is.
    case passOn(HTTPRequest, HTTPExchange, isSecure: Bool)
  }

  let options: Options
  let tls: NodeTLS?
  let refusal: @Sendable (HTTPFault, _ target: String) -> HTTPResponse
  /// The app that a request names, or the group of apps, whether there is one or not.
  let app: @Sendable (HTTPRequest) -> AppKey?
  /// Holds the answers that come in.
  let memory: HTTPMemory
  /// Holds the requests that wait.
  let waiting: HTTPMemory
  let metrics: ForwardMetrics
  let log: Log
  private let resolver = NameResolver()
  private let lookedUp = Mutex<Set<NodeAddress>>([])
  private let course = Mutex(Course())
  private let loops = Mutex<[Mailbox<Mail>]>([])
  /// The homes that are out of reach, so that the log says so once.
  private let unreached = Mutex<Set<NodeAddress>>([])

  /// `refusal` makes the answer of a request that is not served, in the form of the API that its target
  /// belongs to; `memory` is that of the HTTP servers, for answers that come in; `app` finds the key of the
  /// app that a request names, nil if it names none. Without TLS only homes on this machine are used.
  package init(
    tls: NodeTLS?, options: Options = Options(),
    refusal: @escaping @Sendable (HTTPFault, _ target: String) -> HTTPResponse,
    app: @escaping @Sendable (HTTPRequest) -> AppKey? = { _ in nil },
    memory: HTTPMemory, metrics: Metrics, log: Log
  ) {
    self.tls = tls
    self.options = options
    self.refusal = refusal
    self.app = app
    self.memory = memory
    waiting = HTTPMemory(bytes: options.waitingBytes, step: 1 << 10)
    self.metrics = ForwardMetrics(metrics)
    self.log = log
  }

  /// Passes requests on to this home of all apps from now on; nil while there is none: requests wait. What an
  /// earlier home has been sent it may still answer.
  package func follow(_ home: NodeAddress?) { follow(RequestHomes(home)) }

  /// Passes each request on to its home from now on. Those that wait go to the homes that they have now.
  package func follow(_ homes: RequestHomes) {
    let new = course.withLock { course -> Set<NodeAddress>? in
      guard course.homes != homes else { return nil }
      course.homes = homes
      course.number &+= 1
      let known = course.addresses
      course.addresses = [:]
      for node in homes.nodes {
        course.addresses[node] = known[node] ?? (NameResolver.isNumeric(node.host) ? [node.host] : [])
      }
      return homes.nodes.subtracting(known.keys)
    }
    guard let new else { return }
    post(.changed)
    for node in new where !NameResolver.isNumeric(node.host) { lookUp(node) }
  }

  /// Gives requests that wait to handlers of this process that have come to be there.
  package func wake() { post(.changed) }

  /// Treats a node as dead: requests that it has not answered get the answer of those that may have been
  /// carried out.
  package func abandon(_ node: NodeAddress) { post(.abandoned(node)) }

  /// Serves a loop, on its thread. `local` returns the handlers of this process if it is the home itself:
  /// then requests that wait are theirs.
  package func add(to loop: EventLoop, local: @escaping () -> RequestHandlers?) -> ForwardingLoop {
    let mailbox = Mailbox<Mail>(of: loop.handle)
    loops.withLock { $0.append(mailbox) }
    return ForwardingLoop(loop: loop, forwarder: self, mailbox: mailbox, local: local)
  }

  /// Has a request served by the home of the app that it names, for an exchange that a handler of this
  /// process was given with a request that named none. Whoever serves it must not do the same with it: it
  /// would go in a circle.
  package func passOn(_ request: HTTPRequest, _ exchange: HTTPExchange, isSecure: Bool) {
    loops.withLock(\.first)?.post(.passOn(request, exchange, isSecure: isSecure))
  }

  var currentCourse: Course { course.withLock { $0 } }

  /// Looks a home's host up once more, since nothing answers at the addresses that are known.
  func lookUp(_ home: NodeAddress) {
    guard !NameResolver.isNumeric(home.host), lookedUp.withLock({ $0.insert(home).inserted }) else {
      return
    }
    resolver.resolve(home.host) { [weak self] addresses in
      guard let self else { return }
      lookedUp.withLock { _ = $0.remove(home) }
      guard !addresses.isEmpty else { return }
      let isNew = course.withLock { course in
        guard let known = course.addresses[home], known != addresses else { return false }
        course.addresses[home] = addresses
        course.number &+= 1
        return true
      }
      if isNew { post(.changed) }
    }
  }

  private func post(_ mail: Mail) {
    for mailbox in loops.withLock({ $0 }) { mailbox.post(mail) }
  }

  // MARK: The log

  func noteUnreached(_ home: NodeAddress, _ reason: String) {
    guard unreached.withLock({ $0.insert(home).inserted }) else { return }
    log.warning(
      "cannot reach the home for requests",
      ["node": .text(home.name), "address": .text("\(home.host):\(home.port)"), "reason": .text(reason)])
  }

  func noteReached(_ home: NodeAddress) {
    // One home of all apps takes the place of another.
    let isOne = !course.withLock { $0.homes.isDivided }
    let wasUnreached = unreached.withLock { unreached in
      guard isOne else { return unreached.remove(home) != nil }
      defer { unreached = [] }
      return !unreached.isEmpty
    }
    if wasUnreached { log.info("home reachable for requests", ["node": .text(home.name)]) }
  }
}
