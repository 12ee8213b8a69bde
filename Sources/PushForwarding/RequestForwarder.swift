import PushBase
import PushHTTP
import PushHTTPServer
import PushNet
import Synchronization

/// Passes requests on to the home, whichever node that is, and their answers back. One for a process; safe to use from
/// any thread. The work is done on the event loops, see `ForwardingLoop`.
public final class RequestForwarder: Sendable {
  /// What requests may cost and how long they may take.
  public struct Options: Sendable {
    /// Milliseconds that a request waits for a home, or for a connection to it.
    public var waitMilliseconds = 5000
    /// Bytes of all requests that wait; a network has a quarter, and unauthenticated clients half of both.
    public var waitingBytes = 64 << 20
    /// Seconds that the home may take for its answer.
    public var answerSeconds = 60
    /// Connections of each loop, as many as it may have clients.
    public var connections = 1024
    /// Bytes of an answer.
    public var answerBytes = 64 << 20
    /// The proxies whose `X-Forwarded-For` this node trusts.
    public var proxies = TrustedProxies([])
    /// The networks of these proxies, which stand for no client of their own.
    public var exempt: [IPNetwork] = IPNetwork.loopback

    /// The defaults.
    public init() {}
  }

  /// Where requests go.
  struct Course: Sendable {
    var home: NodeAddress?
    /// Counts the changes.
    var number: UInt64 = 0
    /// The addresses of the home's host, best first; none while it is looked up.
    var addresses: [String] = []
  }

  enum Mail: Sendable {
    /// The course has changed.
    case changed
    /// A node is dead: it answers nothing that it was sent.
    case abandoned(NodeAddress)
  }

  let options: Options
  let tls: NodeTLS?
  let refusal: @Sendable (HTTPFault, _ target: String) -> HTTPResponse
  /// Holds the answers that come in.
  let memory: HTTPMemory
  /// Holds the requests that wait.
  let waiting: HTTPMemory
  let metrics: ForwardMetrics
  let log: Log
  private let resolver = NameResolver()
  private let isLookingUp = Atomic<Bool>(false)
  private let course = Mutex(Course())
  private let loops = Mutex<[Mailbox<Mail>]>([])
  /// The home that was out of reach last, so that the log says so once.
  private let unreached = Mutex<NodeAddress?>(nil)

  /// `refusal` makes the answer of a request that is not served, in the form of the API that its target belongs to;
  /// `memory` is that of the HTTP servers, for answers that come in. Without TLS only homes on this machine are used.
  public init(
    tls: NodeTLS?, options: Options = Options(),
    refusal: @escaping @Sendable (HTTPFault, _ target: String) -> HTTPResponse,
    memory: HTTPMemory, metrics: Metrics, log: Log
  ) {
    self.tls = tls
    self.options = options
    self.refusal = refusal
    self.memory = memory
    waiting = HTTPMemory(bytes: options.waitingBytes, step: 1 << 10)
    self.metrics = ForwardMetrics(metrics)
    self.log = log
  }

  /// Passes requests on to this home from now on; nil while there is none: requests wait. What an earlier home has been
  /// sent it may still answer.
  public func follow(_ home: NodeAddress?) {
    let isNew = course.withLock { course in
      guard course.home != home else { return false }
      course.home = home
      course.number &+= 1
      course.addresses = home.map { NameResolver.isNumeric($0.host) ? [$0.host] : [] } ?? []
      return true
    }
    guard isNew else { return }
    post(.changed)
    if let home, !NameResolver.isNumeric(home.host) { lookUp(home) }
  }

  /// Gives requests that wait to handlers of this process that have come to be there.
  public func wake() { post(.changed) }

  /// Treats a node as dead: requests that it has not answered get the answer of those that may have been carried out.
  public func abandon(_ node: NodeAddress) { post(.abandoned(node)) }

  /// Serves a loop, on its thread. `local` returns the handlers of this process if it is the home itself: then requests
  /// that wait are theirs.
  public func add(to loop: EventLoop, local: @escaping () -> RequestHandlers?) -> ForwardingLoop {
    let mailbox = Mailbox<Mail>(of: loop.handle)
    loops.withLock { $0.append(mailbox) }
    return ForwardingLoop(loop: loop, forwarder: self, mailbox: mailbox, local: local)
  }

  var currentCourse: Course { course.withLock { $0 } }

  /// Looks the home's host up once more, since nothing answers at the addresses that are known.
  func lookUp(_ home: NodeAddress) {
    guard !NameResolver.isNumeric(home.host),
      !isLookingUp.exchange(true, ordering: .acquiringAndReleasing)
    else { return }
    resolver.resolve(home.host) { [weak self] addresses in
      guard let self else { return }
      isLookingUp.store(false, ordering: .releasing)
      guard !addresses.isEmpty else { return }
      let isNew = course.withLock { course in
        guard course.home == home, course.addresses != addresses else { return false }
        course.addresses = addresses
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
    let isNew = unreached.withLock { unreached in
      defer { unreached = home }
      return unreached != home
    }
    guard isNew else { return }
    log.warning(
      "cannot reach the home for requests",
      ["node": .text(home.name), "address": .text("\(home.host):\(home.port)"), "reason": .text(reason)])
  }

  func noteReached(_ home: NodeAddress) {
    let wasUnreached = unreached.withLock { unreached in
      guard unreached != nil else { return false }
      unreached = nil
      return true
    }
    if wasUnreached { log.info("the home takes requests", ["node": .text(home.name)]) }
  }
}
