import CCurl
import PushBase
import Synchronization

/// Sends requests to other servers on its own thread (libcurl's multi interface), so that a slow server delays nothing else.
/// Requests to a server share connections, with HTTP/2 if the server has it. Safe to use from any thread.
public final class HTTPTransport: Sendable {
  /// Called once for each request.
  public typealias Completion = @Sendable (HTTPAnswer) -> Void

  /// What requests may do, and for how long.
  public struct Options: Sendable {
    /// Says which addresses may be connected to; nil for all.
    public var allows: (@Sendable (IPAddress) -> Bool)?
    /// A PEM file of certificates to trust in addition to the system's.
    public var authorities: String?
    /// Whether addresses may begin with `http:`.
    public var allowsPlainHTTP = false
    /// Whether HTTP/2 is used over TLS where the server has it.
    public var usesHTTP2 = true
    /// The connect timeout in milliseconds.
    public var connectMilliseconds = 5000
    /// The total timeout in milliseconds.
    public var totalMilliseconds = 15_000
    /// Bytes of a response's body that are kept.
    public var keptBytes = 2048
    /// Bytes of a response's body after which the rest is not read.
    public var mostBytes = 65_536
    /// The most requests without an outcome; more are not sent.
    public var mostRequests = 16_384
    /// The most connections to one server; 0 for no limit.
    public var connectionsPerHost = 0

    /// The defaults.
    public init() {}
  }

  struct Job: Sendable {
    let post: HTTPPost
    let completion: Completion
  }

  private struct Inbox: Sendable {
    var jobs: [Job] = []
    /// Work of those who make requests.
    var work: [@Sendable () -> Void] = []
    /// Requests without an outcome, also those that the thread has.
    var open = 0
    var isClosed = false
  }

  /// The thread's handle; `@unchecked Sendable`, since only the thread uses it, except for `curl_multi_wakeup`, which may
  /// be called from any thread.
  private final class Multi: @unchecked Sendable {
    let handle: UnsafeMutableRawPointer

    init?() {
      guard Self.isReady, let handle = curl_multi_init() else { return nil }
      self.handle = handle
    }

    deinit { curl_multi_cleanup(handle) }

    private static let isReady = curl_global_init(Int(CURL_GLOBAL_ALL)) == CURLE_OK
  }

  private let inbox = Mutex(Inbox())
  private let multi: Multi
  private let mostRequests: Int

  /// Starts the thread, whose name has at most 15 bytes; nil if the system cannot start one.
  public init?(_ options: Options, thread: String) {
    guard let multi = Multi() else { return nil }
    self.multi = multi
    mostRequests = options.mostRequests
    let worker = Worker(transport: self, options: options)
    guard (try? SystemThread.start(thread) { worker.run() }) != nil else { return nil }
  }

  /// Sends a request. `completion` is called on the thread of this object; at once, if the request is not sent because it is
  /// closed or there are too many.
  public func send(_ post: HTTPPost, completion: @escaping Completion) {
    let (isClosed, isTaken) = inbox.withLock { inbox in
      guard !inbox.isClosed, inbox.open < mostRequests else { return (inbox.isClosed, false) }
      inbox.open += 1
      inbox.jobs.append(Job(post: post, completion: completion))
      return (false, true)
    }
    guard isTaken else {
      completion(isClosed ? Self.closedAnswer : HTTPAnswer(error: "too many requests are under way"))
      return
    }
    curl_multi_wakeup(multi.handle)
  }

  /// Runs short work, such as making requests, on the thread of this object, where completions are called as well; not once it is
  /// closed.
  public func run(_ work: @escaping @Sendable () -> Void) {
    inbox.withLock { inbox in
      if !inbox.isClosed { inbox.work.append(work) }
    }
    curl_multi_wakeup(multi.handle)
  }

  /// Ends the thread; requests in flight complete as closed.
  public func close() {
    inbox.withLock { $0.isClosed = true }
    curl_multi_wakeup(multi.handle)
  }

  private static var closedAnswer: HTTPAnswer {
    var answer = HTTPAnswer(error: "closed")
    answer.isClosed = true
    return answer
  }

  /// Does the work that came, and returns the new jobs; nil if there are no more to come.
  private func takeJobs() -> [Job]? {
    let work = inbox.withLock { inbox in
      defer { inbox.work = [] }
      return inbox.work
    }
    for one in work { one() }
    return inbox.withLock { inbox in
      guard !inbox.isClosed else { return nil }
      defer { inbox.jobs = [] }
      return inbox.jobs
    }
  }

  /// The jobs that came before the end and were not begun.
  private func takeRest() -> [Job] {
    inbox.withLock { inbox in
      defer { inbox.jobs = [] }
      return inbox.jobs
    }
  }

  /// A job has its outcome.
  private func release() { inbox.withLock { $0.open -= 1 } }

  /// The thread's own state.
  private final class Worker {
    private let transport: HTTPTransport
    private let options: Options
    private var transfers: [UnsafeMutableRawPointer: HTTPTransfer] = [:]

    init(transport: HTTPTransport, options: Options) {
      self.transport = transport
      self.options = options
    }

    func run() {
      let multi = transport.multi.handle
      _ = cc_multi_set_number(multi, CURLMOPT_MAXCONNECTS, 64)
      _ = cc_multi_set_number(multi, CURLMOPT_MAX_HOST_CONNECTIONS, options.connectionsPerHost)
      while let jobs = transport.takeJobs() {
        for job in jobs { start(job, on: multi) }
        var running: Int32 = 0
        curl_multi_perform(multi, &running)
        var result = CURLE_OK
        while let easy = cc_multi_next(multi, &result) {
          curl_multi_remove_handle(multi, easy)
          guard let transfer = transfers.removeValue(forKey: easy) else { continue }
          transport.release()
          transfer.finish(result)
        }
        // Returns immediately if a job arrived in the meantime.
        curl_multi_poll(multi, nil, 0, 10_000, nil)
      }
      let rest = Array(transfers.values)
      for transfer in rest {
        curl_multi_remove_handle(multi, transfer.easy)
        transfer.completion(HTTPTransport.closedAnswer)
      }
      transfers = [:]
      for job in transport.takeRest() { job.completion(HTTPTransport.closedAnswer) }
    }

    private func start(_ job: Job, on multi: UnsafeMutableRawPointer) {
      guard let transfer = HTTPTransfer(job.post, options, job.completion),
        curl_multi_add_handle(multi, transfer.easy) == CURLM_OK
      else {
        transport.release()
        return job.completion(HTTPAnswer(error: "the request cannot be made"))
      }
      transfers[transfer.easy] = transfer
    }
  }
}
