#if DEBUG
  import Glibc

  /// Whether the calling thread is one that nothing may hold up: any value but nil says so.
  private let heldUpByNothing: pthread_key_t = {
    var key = pthread_key_t()
    precondition(pthread_key_create(&key, nil) == 0, "no room for another key of threads")
    return key
  }()
#endif

/// Calls that wait for another process, a disk or another thread. Event loops make none: everybody else waits
/// for them.
public enum BlockingCall {
  /// Lets `assertAllowed` trap on the calling thread from now on, or no more.
  public static func forbid(_ isForbidden: Bool = true) {
    #if DEBUG
      pthread_setspecific(heldUpByNothing, UnsafeRawPointer(bitPattern: isForbidden ? 1 : 0))
    #endif
  }

  /// Traps in a debug build where nothing may block. What may block says so with it; release builds do
  /// nothing here.
  public static func assertAllowed(_ call: StaticString = #function) {
    #if DEBUG
      assert(pthread_getspecific(heldUpByNothing) == nil, "\(call) would block an event loop")
    #endif
  }
}
