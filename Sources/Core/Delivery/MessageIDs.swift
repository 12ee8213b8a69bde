import BorealisBase
import Synchronization

/// Assigns IDs to pushes, each larger than all earlier ones. One of several homes gives those of its slot,
/// from above all that are stored when it starts and whenever it takes an app over: so they grow for each
/// app, whoever its home is.
final class MessageIDs: Sendable {
  private let time: any TimeSource
  private let slot: MessageSlot?
  private let last = Mutex(MessageID(0))

  init(time: any TimeSource, slot: MessageSlot?) {
    self.time = time
    self.slot = slot
  }

  /// Larger than every earlier ID.
  func next() -> MessageID {
    let now = time.now()
    return last.withLock { last in
      let new = slot.map { last.next(at: now, in: $0) } ?? last.next(at: now)
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
