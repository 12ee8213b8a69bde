import Synchronization

/// Work of several owners, of whom each has one piece under way at a time: however much of it one asks for at once, others wait for no
/// more than that piece of it.
public final class Turns<Owner: Hashable & Sendable>: Sendable {
  /// A piece of work; it calls `done` once at its end, on any thread. The next one begins there.
  public typealias Work = @Sendable (_ done: @escaping @Sendable () -> Void) -> Void

  /// What waits behind the piece that is under way, by owner. Owners without one are not in it.
  private let lines = Mutex<[Owner: FIFO<Work>]>([:])

  /// Nobody has work.
  public init() {}

  /// Pieces of work of an owner that may wait, if nothing else is said.
  public static var mostWaiting: Int { 64 }

  /// Begins a piece of work, at once or when those before it are done; false, and nothing happens, if `limit` pieces of the owner
  /// wait. One that need not be `alone` does not keep others waiting, but it goes behind those that came before it.
  public func run(
    for owner: Owner, alone: Bool = true, waiting limit: Int = Turns.mostWaiting, _ work: @escaping Work
  ) -> Bool {
    let isNext: Bool? = lines.withLock { lines in
      guard let count = lines[owner]?.count else {
        if alone { lines[owner] = FIFO() }
        return true
      }
      guard count < limit else { return nil }
      lines[owner]?.append(work)
      return false
    }
    guard isNext == true else { return isNext != nil }
    if alone { begin(work, of: owner) } else { work {} }
    return true
  }

  private func begin(_ work: Work, of owner: Owner) {
    work { [self] in
      let next = lines.withLock { lines -> Work? in
        guard let next = lines[owner]?.popFirst() else {
          lines[owner] = nil
          return nil
        }
        return next
      }
      if let next { begin(next, of: owner) }
    }
  }
}
