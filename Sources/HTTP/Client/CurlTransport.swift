import BorealisBase
import CCurl

/// Sends requests with libcurl's multi interface on a thread of its own. Safe to use from any thread.
final class CurlTransport: Sendable {
  typealias Options = HTTPTransport.Options
  typealias Completion = HTTPTransport.Completion

  struct Job: Sendable {
    let request: OutgoingRequest
    /// Nil for a connection of its own.
    let route: ProxyRoute?
    let completion: Completion
  }

  /// The thread's handle; `@unchecked Sendable`, since only the thread uses it, except for
  /// `curl_multi_wakeup`, which may be called from any thread.
  private final class Multi: @unchecked Sendable {
    let handle: UnsafeMutableRawPointer

    init?() {
      guard Self.isReady, let handle = curl_multi_init() else { return nil }
      self.handle = handle
    }

    deinit { curl_multi_cleanup(handle) }

    private static let isReady = curl_global_init(Int(CURL_GLOBAL_ALL)) == CURLE_OK
  }

  private let inbox: RequestInbox<Job>
  private let multi: Multi
  private let routes: ProxyRoutes?

  /// Starts the thread, whose name has at most 15 bytes; nil if the system cannot start one.
  init?(_ options: Options, thread: String) {
    guard let multi = Multi() else { return nil }
    self.multi = multi
    routes = ProxyRoutes(options)
    inbox = RequestInbox(mostRequests: options.mostRequests) { curl_multi_wakeup(multi.handle) }
    let worker = Worker(transport: self, options: options)
    guard (try? SystemThread.start(thread) { worker.run() }) != nil else { return nil }
  }

  /// Sends a request. `completion` is called on the thread of this object; at once, if the request is not
  /// sent because it is closed or there are too many.
  func send(_ request: OutgoingRequest, completion: @escaping Completion) {
    guard let routes else { return add(Job(request: request, route: nil, completion: completion)) }
    routes.find(request.url) { [self] found in
      switch found {
      case .success(let route): add(Job(request: request, route: route, completion: completion))
      case .failure(let refusal):
        if !inbox.run({ completion(refusal.answer) }) { completion(.closed) }
      }
    }
  }

  private func add(_ job: Job) {
    if let refusal = inbox.add(job) { job.completion(refusal) }
  }

  /// Runs short work, such as making requests, on the thread of this object, where completions are called as
  /// well; not once it is closed.
  func run(_ work: @escaping @Sendable () -> Void) { _ = inbox.run(work) }

  /// Ends the thread; requests in flight complete as closed.
  func close() { inbox.close() }

  /// The thread's own state.
  private final class Worker {
    private let transport: CurlTransport
    private let options: Options
    private var transfers: [UnsafeMutableRawPointer: HTTPTransfer] = [:]

    init(transport: CurlTransport, options: Options) {
      self.transport = transport
      self.options = options
    }

    func run() {
      let multi = transport.multi.handle
      _ = cc_multi_set_number(multi, CURLMOPT_MAXCONNECTS, 64)
      _ = cc_multi_set_number(multi, CURLMOPT_MAX_HOST_CONNECTIONS, options.connectionsPerHost)
      while let jobs = transport.inbox.drain() {
        for job in jobs { start(job, on: multi) }
        var running: Int32 = 0
        curl_multi_perform(multi, &running)
        var result = CURLE_OK
        while let easy = cc_multi_next(multi, &result) {
          curl_multi_remove_handle(multi, easy)
          guard let transfer = transfers.removeValue(forKey: easy) else { continue }
          transport.inbox.release()
          transfer.finish(result)
        }
        // Returns immediately if a job arrived in the meantime.
        curl_multi_poll(multi, nil, 0, 10_000, nil)
      }
      let rest = Array(transfers.values)
      for transfer in rest {
        curl_multi_remove_handle(multi, transfer.easy)
        transfer.completion(.closed)
      }
      transfers = [:]
      for job in transport.inbox.drainRest() { job.completion(.closed) }
    }

    private func start(_ job: Job, on multi: UnsafeMutableRawPointer) {
      guard let transfer = HTTPTransfer(job.request, options, job.route, job.completion),
        curl_multi_add_handle(multi, transfer.easy) == CURLM_OK
      else {
        transport.inbox.release()
        return job.completion(HTTPAnswer(error: "the request cannot be made"))
      }
      transfers[transfer.easy] = transfer
    }
  }
}
