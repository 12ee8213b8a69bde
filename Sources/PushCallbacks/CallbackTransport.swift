import CCurl
import PushBase
import Synchronization

/// Sends requests to app servers on its own thread (libcurl's multi interface), so that a slow receiver delays nothing else.
/// Safe to use from any thread.
final class CallbackTransport: Sendable {
  typealias Completion = @Sendable (CallbackAnswer) -> Void

  struct Job: Sendable {
    let post: CallbackPost
    let completion: Completion
  }

  private struct Inbox: Sendable {
    var jobs: [Job] = []
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

  /// Starts the thread; nil if the system cannot start one.
  init?(_ options: CallbackTransfer.Options) {
    guard let multi = Multi() else { return nil }
    self.multi = multi
    let worker = Worker(transport: self, options: options)
    guard (try? SystemThread.start("callbacks") { worker.run() }) != nil else { return nil }
  }

  /// Sends a request; `completion` is called on the thread of this object, unless it is closed before the response.
  func send(_ post: CallbackPost, completion: @escaping Completion) {
    inbox.withLock { $0.jobs.append(Job(post: post, completion: completion)) }
    curl_multi_wakeup(multi.handle)
  }

  /// Ends the thread; requests in flight get no completion.
  func close() {
    inbox.withLock { $0.isClosed = true }
    curl_multi_wakeup(multi.handle)
  }

  private func takeJobs() -> [Job]? {
    inbox.withLock { inbox in
      defer { inbox.jobs = [] }
      return inbox.isClosed ? nil : inbox.jobs
    }
  }

  /// The thread's own state.
  private final class Worker {
    private let transport: CallbackTransport
    private let options: CallbackTransfer.Options
    private var transfers: [UnsafeMutableRawPointer: CallbackTransfer] = [:]

    init(transport: CallbackTransport, options: CallbackTransfer.Options) {
      self.transport = transport
      self.options = options
    }

    func run() {
      let multi = transport.multi.handle
      _ = cc_multi_set_number(multi, CURLMOPT_MAXCONNECTS, 64)
      while let jobs = transport.takeJobs() {
        for job in jobs { start(job, on: multi) }
        var running: Int32 = 0
        curl_multi_perform(multi, &running)
        var result = CURLE_OK
        while let easy = cc_multi_next(multi, &result) {
          curl_multi_remove_handle(multi, easy)
          transfers.removeValue(forKey: easy)?.finish(result)
        }
        // Returns immediately if a job arrived in the meantime.
        curl_multi_poll(multi, nil, 0, 10_000, nil)
      }
      for easy in transfers.keys { curl_multi_remove_handle(multi, easy) }
      transfers = [:]
    }

    private func start(_ job: Job, on multi: UnsafeMutableRawPointer) {
      guard let transfer = CallbackTransfer(job.post, options, job.completion),
        curl_multi_add_handle(multi, transfer.easy) == CURLM_OK
      else { return job.completion(CallbackAnswer(error: "the request cannot be made")) }
      transfers[transfer.easy] = transfer
    }
  }
}
