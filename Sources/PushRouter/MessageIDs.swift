import PushBase
import Synchronization

/// Assigns IDs to pushes, each larger than all earlier ones.
final class MessageIDs: Sendable {
  private let time: any TimeSource
  private let last = Mutex(MessageID(0))

  init(time: any TimeSource) { self.time = time }

  /// Larger than every earlier ID.
  func next() -> MessageID {
    let now = time.now()
    return last.withLock { last in
      let new = last.next(at: now)
      precondition(new > last, "message IDs must grow")
      last = new
      return new
    }
  }

  /// No push has a larger ID.
  var newest: MessageID { last.withLock { $0 } }

  /// IDs from now on are larger than this one.
  func raise(to newest: MessageID) { last.withLock { $0 = max($0, newest) } }
}
