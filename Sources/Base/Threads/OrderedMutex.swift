import Synchronization

#if DEBUG
  import Glibc

  /// The rank of the innermost ordered mutex that a thread holds.
  @usableFromInline let heldRank: pthread_key_t = {
    var key = pthread_key_t()
    precondition(pthread_key_create(&key, nil) == 0, "no room for another key of threads")
    return key
  }()
#endif

/// The order in which a thread may take locks: lower ranks first, and never two of the same rank.
@frozen
public enum LockRank: UInt, Sendable {
  /// Held while work is passed on; other locks may be taken inside.
  case outer = 1
  /// Held for microseconds around plain state: code inside takes no lock and passes no work on.
  case leaf = 2

  /// Traps in a debug build if this thread holds a lock of this rank or a higher one. Does nothing in release
  /// builds.
  @inlinable
  public func assertFree() {
    #if DEBUG
      let held = UInt(bitPattern: pthread_getspecific(heldRank))
      assert(held < rawValue, "a lock of rank \(rawValue) is needed inside one of rank \(held)")
    #endif
  }
}

/// A mutex with a rank, which debug builds check.
@frozen
public struct OrderedMutex<Value: ~Copyable>: ~Copyable, Sendable {
  @usableFromInline let rank: LockRank
  @usableFromInline let mutex: Mutex<Value>

  /// Protects a value.
  @inlinable
  public init(_ initialValue: consuming sending Value, _ rank: LockRank = .leaf) {
    self.rank = rank
    mutex = Mutex(initialValue)
  }

  /// Runs `body` while no other thread does.
  @inlinable
  public func withLock<Result: ~Copyable, E: Error>(
    _ body: (inout sending Value) throws(E) -> sending Result
  ) throws(E) -> sending Result {
    #if DEBUG
      rank.assertFree()
      let before = pthread_getspecific(heldRank)
      pthread_setspecific(heldRank, UnsafeRawPointer(bitPattern: rank.rawValue))
      defer { pthread_setspecific(heldRank, before) }
    #endif
    return try mutex.withLock(body)
  }
}
