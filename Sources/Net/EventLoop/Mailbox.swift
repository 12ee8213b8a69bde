import Synchronization

/// A queue of messages to one driver on one loop. Any thread posts, the loop's thread drains.
///
/// The queue is bounded. `offer` is for messages that any client can cause at any rate: it fails when the box
/// is full, and the driver learns of that with the next mail, behind everything that came before; it must be
/// able to find out by itself what it missed. `post` always succeeds: it is for answers and the like, of
/// which there are never more than the driver itself has asked for or than others may have under way.
public final class Mailbox<Message: Sendable>: Sendable {
  @usableFromInline
  struct State: Sendable {
    @usableFromInline var messages: [Message] = []
    @usableFromInline var hasRefused = false

    @inlinable init() {}
  }

  /// Messages from which on none is taken by `offer`.
  public let capacity: Int
  @usableFromInline let handle: LoopHandle
  @usableFromInline let state = Mutex(State())

  /// Makes a mailbox of the loop behind `handle`.
  @inlinable
  public init(of handle: LoopHandle, capacity: Int = 1 << 16) {
    self.handle = handle
    self.capacity = capacity
  }

  /// Adds a message; the loop wakes only if the box was empty.
  @inlinable
  public func post(_ message: Message) {
    let isFirst = state.withLock { state in
      state.messages.append(message)
      return state.messages.count == 1
    }
    if isFirst { handle.wake() }
  }

  /// Adds a message unless the box is full.
  @inlinable
  public func offer(_ message: Message) {
    let isFirst = state.withLock { state in
      guard state.messages.count < capacity else {
        state.hasRefused = true
        return false
      }
      state.messages.append(message)
      return state.messages.count == 1
    }
    if isFirst { handle.wake() }
  }

  /// Removes and returns all messages, in the order they were posted.
  @inlinable
  public func drain() -> [Message] { drainReportingRefusal().messages }

  /// Removes and returns all messages, in the order they were posted, and whether some were refused after
  /// them.
  @inlinable
  public func drainReportingRefusal() -> (messages: [Message], hasRefused: Bool) {
    state.withLock { state in
      defer { state = State() }
      return (state.messages, state.hasRefused)
    }
  }
}
