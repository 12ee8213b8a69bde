import CLinux
import Glibc
import PushOps

/// SIGTERM, SIGINT and SIGHUP, as something to wait for. Made before any other thread, which would else be interrupted
/// by them.
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
    var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard Glibc.poll(&poll, 1, milliseconds) > 0 else { return nil }
    switch cl_signal_next(descriptor) {
    case SIGTERM, SIGINT: return .stop
    case SIGHUP: return .reload
    default: return nil
    }
  }

  /// Lets the next signal end the process at once.
  func restoreDefaults() {
    var set = sigset_t()
    sigemptyset(&set)
    sigaddset(&set, SIGTERM)
    sigaddset(&set, SIGINT)
    pthread_sigmask(SIG_UNBLOCK, &set, nil)
  }
}
