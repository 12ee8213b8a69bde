import BorealisBase
import CLinux
import Glibc
import Synchronization

/// A failed system call.
package struct SystemError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The call's name.
  package let call: String
  /// The errno value.
  package let number: Int32

  /// Describes a failed call.
  package init(call: String, number: Int32) {
    self.call = call
    self.number = number
  }

  /// The system's reason, for people.
  package var description: String { strerror(number).map { String(cString: $0) } ?? "error \(number)" }

  /// Passes a C shim's result on, or throws the errno that it carries negated.
  @discardableResult
  package static func check(_ result: Int32, _ call: String) throws(SystemError) -> Int32 {
    guard result >= 0 else { throw SystemError(call: call, number: -result) }
    return result
  }
}

/// Reaches an event loop from any thread.
public final class LoopHandle: Sendable {
  /// Which of the process' loops this is, from 0.
  package let index: Int

  /// Nanoseconds of a clock that runs while the machine is suspended, so that the loop notices suspension.
  let readClock: @Sendable () -> UInt64
  let wakeDescriptor: Int32
  private let isSignalled = Atomic<Bool>(false)
  private let work = Mutex<[@Sendable (EventLoop) -> Void]>([])

  /// Makes the handle before its loop starts. The clock is another one in tests alone.
  package init(
    index: Int, clock: @escaping @Sendable () -> UInt64 = { cl_boottime_ns() }
  ) throws(SystemError) {
    self.index = index
    readClock = clock
    wakeDescriptor = try SystemError.check(cl_eventfd(), "eventfd")
  }

  deinit { _ = cl_close(wakeDescriptor) }

  /// Starts a thread, whose name has at most 15 bytes, that makes the loop, lets `setUp` add drivers and
  /// listeners to it, and runs it. When the loop cannot be made or `setUp` throws, `failed` is called on that
  /// thread instead, and the thread ends.
  package func start(
    name: String? = nil, _ setUp: @escaping @Sendable (EventLoop) throws(SystemError) -> Void,
    failed: @escaping @Sendable (SystemError) -> Void
  ) throws(SystemError) {
    do throws(SystemThread.Failure) {
      try SystemThread.start(name ?? "loop-\(index)", stackBytes: 512 << 10) { [self] in
        do throws(SystemError) {
          let loop = try EventLoop(handle: self)
          try setUp(loop)
          loop.run()
        } catch {
          failed(error)
        }
      }
    } catch {
      throw SystemError(call: "pthread_create", number: error.number)
    }
  }

  /// Lets the calling thread yield the processor to others of the process: 0 to 19, as in nice(2).
  package static func yieldToOthers(_ niceness: Int32) { cl_thread_yield_to_others(niceness) }

  /// Runs a closure on the loop's thread, after everything posted before it.
  package func post(_ piece: @escaping @Sendable (EventLoop) -> Void) {
    work.withLock { $0.append(piece) }
    wake()
  }

  /// Wakes the loop to read its mailboxes. Several calls before it does cost one system call.
  public func wake() {
    if !isSignalled.exchange(true, ordering: .acquiringAndReleasing) { _ = cl_eventfd_signal(wakeDescriptor) }
  }

  var hasMail: Bool { isSignalled.load(ordering: .acquiring) }

  /// Clears the signal before the mailboxes are read, so that mail that arrives in the meantime signals
  /// again.
  func clearSignal() -> Bool {
    isSignalled.load(ordering: .acquiring) && isSignalled.exchange(false, ordering: .acquiringAndReleasing)
  }

  func drainWork() -> [@Sendable (EventLoop) -> Void] {
    work.withLock { pieces in
      defer { pieces = [] }
      return pieces
    }
  }
}
