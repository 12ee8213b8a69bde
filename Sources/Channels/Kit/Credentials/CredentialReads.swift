import BorealisBase
import Storage
import Synchronization

/// When the credentials of all apps are read, which `borealis app` changes in another process. There is one
/// read at a time: who asks during a read, which may have begun before their change, is served by the next.
/// Safe to use from any thread.
package final class CredentialReads: Sendable {
  /// Called when everything committed before the call for a read is known.
  package typealias Done = @Sendable (Result<Void, StorageError>) -> Void

  private struct State: Sendable {
    var isReading = false
    var waiting: [Done] = []
    var begun = 0
    var ticks = 0

    mutating func begin() -> Int {
      isReading = true
      begun += 1
      return begun
    }
  }

  /// The interval between two reads is a second per this many credentials, at most five.
  private static let credentialsInSecond = 250
  private let state = Mutex(State())

  /// None has begun.
  package init() {}

  /// How many have begun. A read with a larger number sees what was committed by now.
  package var begun: Int { state.withLock { $0.begun } }

  /// Whether the next read is due by the number of credentials, and for how many seconds this was called.
  /// Call it once a second.
  package func tick(_ count: Int) -> (isDue: Bool, seconds: Int) {
    let ticks = state.withLock { state in
      state.ticks &+= 1
      return state.ticks
    }
    return (ticks % min(count / Self.credentialsInSecond + 1, 5) == 0, ticks)
  }

  /// Has `read` run with the number of the read, which is over when its second argument is called.
  package func run(_ done: Done?, read: @escaping @Sendable (_ number: Int, _ ended: @escaping Done) -> Void)
  {
    let number = state.withLock { state -> Int? in
      guard !state.isReading else {
        if let done { state.waiting.append(done) }
        return nil
      }
      return state.begin()
    }
    if let number { run(number, for: done.map { [$0] } ?? [], read) }
  }

  private func run(
    _ number: Int, for callers: [Done], _ read: @escaping @Sendable (Int, @escaping Done) -> Void
  ) {
    read(number) { [self] result in
      for done in callers { done(result) }
      let (next, waiting) = state.withLock { state in
        let waiting = state.waiting
        (state.isReading, state.waiting) = (false, [])
        return (waiting.isEmpty ? nil : state.begin(), waiting)
      }
      if let next { run(next, for: waiting, read) }
    }
  }
}
