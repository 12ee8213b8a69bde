import Synchronization

/// Bounds the memory for requests with large bodies, which anybody may begin to send. Shared by all loops.
public final class LargeBodies: Sendable {
  /// A body's share of the memory, given back when nobody holds this any more.
  final class Place: Sendable {
    private let bodies: LargeBodies
    private let bytes: Int

    fileprivate init(_ bodies: LargeBodies, _ bytes: Int) {
      self.bodies = bodies
      self.bytes = bytes
    }

    deinit { bodies.left.withLock { $0 += bytes } }
  }

  private let left: Mutex<Int>

  /// Allows so many bytes at a time.
  public init(bytes: Int = 128 << 20) { left = Mutex(bytes) }

  /// A place for a body of at most so many bytes; nil if there is no room.
  func enter(_ bytes: Int) -> Place? {
    let isGranted = left.withLock { left in
      guard left >= bytes else { return false }
      left -= bytes
      return true
    }
    return isGranted ? Place(self, bytes) : nil
  }
}
