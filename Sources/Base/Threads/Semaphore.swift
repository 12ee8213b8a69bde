import Glibc

/// A counting semaphore at which threads wait: the one way in which a thread of ours sleeps until another one
/// is done. Never on an event loop. `@unchecked Sendable`: the count is touched only while `lock` is held,
/// and both pthread objects keep their address for life.
public final class Semaphore: @unchecked Sendable {
  private let lock: UnsafeMutablePointer<pthread_mutex_t>
  private let raised: UnsafeMutablePointer<pthread_cond_t>
  private var count = 0

  /// Starts at zero.
  public init() {
    lock = .allocate(capacity: 1)
    raised = .allocate(capacity: 1)
    pthread_mutex_init(lock, nil)
    var attributes = pthread_condattr_t()
    pthread_condattr_init(&attributes)
    // Deadlines are moments of the clock that never jumps.
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    pthread_cond_init(raised, &attributes)
    pthread_condattr_destroy(&attributes)
  }

  deinit {
    pthread_cond_destroy(raised)
    pthread_mutex_destroy(lock)
    raised.deallocate()
    lock.deallocate()
  }

  /// Lets one thread go on that waits, or that will.
  public func signal() {
    pthread_mutex_lock(lock)
    count += 1
    // While it is locked: the one that goes on may be the last to know this semaphore.
    pthread_cond_signal(raised)
    pthread_mutex_unlock(lock)
  }

  /// Waits for a signal that nobody else has taken.
  public func wait() {
    BlockingCall.assertAllowed()
    pthread_mutex_lock(lock)
    while count == 0 { pthread_cond_wait(raised, lock) }
    count -= 1
    pthread_mutex_unlock(lock)
  }

  /// The same until a moment of `SystemTime.monotonic`, in nanoseconds; false if no signal came. A signal
  /// that is there is taken also after that moment.
  public func wait(until deadline: UInt64) -> Bool {
    BlockingCall.assertAllowed()
    var moment = timespec(
      tv_sec: Int(clamping: deadline / 1_000_000_000), tv_nsec: Int(deadline % 1_000_000_000))
    pthread_mutex_lock(lock)
    defer { pthread_mutex_unlock(lock) }
    while count == 0 {
      guard pthread_cond_timedwait(raised, lock, &moment) == 0 else { break }
    }
    guard count > 0 else { return false }
    count -= 1
    return true
  }
}
