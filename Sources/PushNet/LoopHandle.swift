import CLinux
import Glibc
import Synchronization

/// A failed system call.
public struct SystemError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The call's name.
  public let call: String
  /// The errno value.
  public let number: Int32

  /// Describes a failed call.
  public init(call: String, number: Int32) {
    self.call = call
    self.number = number
  }

  /// The system's reason, for people.
  public var description: String { strerror(number).map { String(cString: $0) } ?? "error \(number)" }

  /// Passes a C shim's result on, or throws the errno that it carries negated.
  @discardableResult
  public static func check(_ result: Int32, _ call: String) throws(SystemError) -> Int32 {
    guard result >= 0 else { throw SystemError(call: call, number: -result) }
    return result
  }
}

/// Reaches an event loop from any thread.
public final class LoopHandle: Sendable {
  /// Which of the process' loops this is, from 0.
  public let index: Int

  let wakeDescriptor: Int32
  private let isSignalled = Atomic<Bool>(false)
  private let work = Mutex<[@Sendable (EventLoop) -> Void]>([])

  /// Makes the handle before its loop starts.
  public init(index: Int) throws(SystemError) {
    self.index = index
    wakeDescriptor = try SystemError.check(cl_eventfd(), "eventfd")
  }

  deinit { _ = cl_close(wakeDescriptor) }

  /// Starts a thread that makes the loop, lets `setUp` add drivers and listeners to it, and runs it. When the loop
  /// cannot be made or `setUp` throws, `failed` is called on that thread instead, and the thread ends.
  public func start(
    _ setUp: @escaping @Sendable (EventLoop) throws(SystemError) -> Void,
    failed: @escaping @Sendable (SystemError) -> Void
  ) throws(SystemError) {
    let start = ThreadStart { [self] in
      do throws(SystemError) {
        let loop = try EventLoop(handle: self)
        try setUp(loop)
        loop.run()
      } catch {
        failed(error)
      }
    }
    try start.run(name: "loop-\(index)")
  }

  /// Lets the calling thread yield the processor to others of the process: 0 to 19, as in nice(2).
  public static func yieldToOthers(_ niceness: Int32) { cl_thread_yield_to_others(niceness) }

  /// Runs a piece of work on the loop's thread, after what was posted before it.
  public func post(_ piece: @escaping @Sendable (EventLoop) -> Void) {
    work.withLock { $0.append(piece) }
    wake()
  }

  /// Makes the loop look at its mailboxes. Many calls before it looks cost one system call.
  public func wake() {
    if !isSignalled.exchange(true, ordering: .acquiringAndReleasing) { _ = cl_eventfd_signal(wakeDescriptor) }
  }

  var hasMail: Bool { isSignalled.load(ordering: .acquiring) }

  /// Clears the signal before the mailboxes are read, so that mail arriving meanwhile signals anew.
  func takeMail() -> Bool { isSignalled.exchange(false, ordering: .acquiringAndReleasing) }

  func takeWork() -> [@Sendable (EventLoop) -> Void] {
    work.withLock { pieces in
      defer { pieces = [] }
      return pieces
    }
  }
}

/// A queue of messages to one driver on one loop. Any thread posts, the loop's thread drains.
public final class Mailbox<Message: Sendable>: Sendable {
  @usableFromInline let handle: LoopHandle
  @usableFromInline let messages = Mutex<[Message]>([])

  /// Makes a mailbox of the loop behind `handle`.
  @inlinable
  public init(of handle: LoopHandle) { self.handle = handle }

  /// Adds a message; the loop wakes only if the box was empty.
  @inlinable
  public func post(_ message: Message) {
    let isFirst = messages.withLock { queue in
      queue.append(message)
      return queue.count == 1
    }
    if isFirst { handle.wake() }
  }

  /// Takes all messages, in the order they were posted.
  @inlinable
  public func drain() -> [Message] {
    messages.withLock { queue in
      defer { queue = [] }
      return queue
    }
  }
}

/// Hands a closure to a new thread through C.
struct ThreadStart {
  private let body: @Sendable () -> Void

  init(_ body: @escaping @Sendable () -> Void) { self.body = body }

  func run(name: String, stackBytes: Int = 512 * 1024) throws(SystemError) {
    let box = Unmanaged.passRetained(Box(body))
    let status = cl_thread_start(
      name, stackBytes,
      { context in
        guard let context else { return }
        Unmanaged<Box>.fromOpaque(context).takeRetainedValue().body()
      }, box.toOpaque())
    if status < 0 {
      box.release()
      throw SystemError(call: "pthread_create", number: -status)
    }
  }

  private final class Box: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }
}
