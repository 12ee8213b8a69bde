import BorealisBase
import CLinux
import Glibc

/// SIGTERM, SIGINT and SIGHUP, as something to wait for. Made before any other thread, which would else be
/// interrupted by them.
struct Signals: ~Copyable {
  enum Request {
    case stop
    case reload
  }

  private let descriptor: Int32

  init() throws(Failure) {
    descriptor = cl_signal_fd()
    guard descriptor >= 0 else {
      throw .failed("cannot listen for signals: \(SystemCalls.reason(-descriptor))")
    }
  }

  deinit { _ = cl_close(descriptor) }

  /// Waits for a signal; nil when none came in time.
  func wait(milliseconds: Int32) -> Request? {
    BlockingCall.assertAllowed()
    var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard Glibc.poll(&poll, 1, milliseconds) > 0 else { return nil }
    switch cl_signal_next(descriptor) {
    case SIGTERM, SIGINT: return .stop
    case SIGHUP: return .reload
    default: return nil
    }
  }

  /// Does something that may take long, and ends the process if it is to stop meanwhile: nothing is served
  /// yet that had to end in an orderly way. SIGHUP has no effect.
  func endingProcess(during body: () throws(Failure) -> Void) throws(Failure) {
    let over = cl_eventfd()
    guard over >= 0 else { throw .failed("cannot start: \(SystemCalls.reason(-over))") }
    defer { _ = cl_close(over) }
    let ended = BorealisBase.Semaphore()
    do throws(SystemThread.Failure) {
      try SystemThread.start("start") { [descriptor] in
        var polls = [descriptor, over].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        while polls[1].revents == 0 {
          guard poll(&polls, 2, -1) > 0, polls[1].revents == 0, polls[0].revents != 0 else { continue }
          guard [SIGTERM, SIGINT].contains(cl_signal_next(descriptor)) else { continue }
          Terminal.complain("borealis: stopped before the server was ready to serve")
          Terminal.flush()
          _exit(0)
        }
        ended.signal()
      }
    } catch {
      throw .failed("cannot start a thread: \(error.number)")
    }
    defer {
      _ = cl_eventfd_signal(over)
      ended.wait()
    }
    try body()
  }

  /// Lets the next signal end the process at once.
  func restoreDefaults() {
    // The kernel keeps signals without a handler from process 1, as in a container.
    if getpid() == 1 { for number in [SIGTERM, SIGINT] { signal(number) { _exit(128 + $0) } } }
    var set = sigset_t()
    sigemptyset(&set)
    sigaddset(&set, SIGTERM)
    sigaddset(&set, SIGINT)
    pthread_sigmask(SIG_UNBLOCK, &set, nil)
  }
}
