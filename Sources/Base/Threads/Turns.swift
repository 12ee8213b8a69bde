import Synchronization

/// Work of several owners, of whom each has one piece under way at a time: however much of it one asks for at
/// once, others wait for no more than that piece of it.
public final class Turns<Owner: Hashable & Sendable>: Sendable {
  /// A piece of work; it calls `done` once at its end, on any thread. The next one begins there.
  public typealias Work = @Sendable (_ done: @escaping @Sendable () -> Void) -> Void

  private struct Piece: Sendable {
    /// Whether the next one begins at its end, not at once.
    let isAlone: Bool
    let work: Work
  }

  /// What waits behind the piece that is under way.
  private struct Line: Sendable {
    var pieces = FIFO<Piece>()
    var aloneCount = 0

    func count(alone: Bool) -> Int { alone ? aloneCount : pieces.count - aloneCount }

    mutating func append(_ piece: Piece) {
      pieces.append(piece)
      if piece.isAlone { aloneCount += 1 }
    }

    mutating func popFirst() -> Piece? {
      guard let piece = pieces.popFirst() else { return nil }
      if piece.isAlone { aloneCount -= 1 }
      return piece
    }
  }

  /// Owners with nothing under way are not in it.
  private let lines = Mutex<[Owner: Line]>([:])

  /// Nobody has work.
  public init() {}

  /// Pieces of work of an owner that may wait, if nothing else is said.
  public static var mostWaiting: Int { 64 }

  /// Begins a piece of work, at once or when those before it are done; false, and nothing happens, if `limit`
  /// pieces of the owner that are `alone` as this one, or not, wait. One that need not be `alone` does not
  /// keep others waiting, whenever it is done, but it goes behind those that came before it.
  public func run(
    for owner: Owner, alone: Bool = true, waiting limit: Int = Turns.mostWaiting, _ work: @escaping Work
  ) -> Bool {
    let piece = Piece(isAlone: alone, work: work)
    let isNext: Bool? = lines.withLock { lines in
      guard let count = lines[owner]?.count(alone: alone) else {
        if alone { lines[owner] = Line() }
        return true
      }
      guard count < limit else { return nil }
      lines[owner]?.append(piece)
      return false
    }
    guard isNext == true else { return isNext != nil }
    if alone { begin(piece, of: owner) } else { work {} }
    return true
  }

  /// Begins a piece, and those behind it up to one that is not done when its work returns. A loop: thousands
  /// that are done at once would take more than a thread's stack if each began the next.
  private func begin(_ first: Piece, of owner: Owner) {
    var next: Piece? = first
    while let piece = next {
      if piece.isAlone {
        let end = End()
        piece.work { [self] in
          if end.isSecond(), let next = popNext(of: owner) { begin(next, of: owner) }
        }
        guard end.isSecond() else { return }
      } else {
        piece.work {}
      }
      next = popNext(of: owner)
    }
  }

  private func popNext(of owner: Owner) -> Piece? {
    lines.withLock { lines in
      guard let next = lines[owner]?.popFirst() else {
        lines[owner] = nil
        return nil
      }
      return next
    }
  }

  /// The work of a piece has returned, and it is done: whichever comes second, maybe on another thread, goes
  /// on.
  private final class End: Sendable {
    private let hasFirst = Atomic<Bool>(false)

    func isSecond() -> Bool { hasFirst.exchange(true, ordering: .acquiringAndReleasing) }
  }
}
