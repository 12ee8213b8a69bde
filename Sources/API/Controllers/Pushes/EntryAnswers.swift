import BorealisBase
import Model
import Synchronization

/// Collects the outcomes of the entries of one request, in their order, and answers when all are complete.
final class EntryAnswers<Value: Sendable>: Sendable {
  typealias Outcome = Result<Value, APIError>

  private struct State: Sendable {
    var outcomes: [Outcome?]
    var missing: Int
    var ignored: [String] = []
  }

  private let state: Mutex<State>
  private let answer: @Sendable (_ outcomes: [Outcome], _ ignored: [String]) -> Void

  init(_ count: Int, answer: @escaping @Sendable ([Outcome], [String]) -> Void) {
    self.answer = answer
    state = Mutex(State(outcomes: Array(repeating: nil, count: count), missing: count))
  }

  /// Adds members of an entry that have no effect, before the entry's outcome is set.
  func ignore(_ names: [String]) {
    guard !names.isEmpty else { return }
    state.withLock { state in
      for name in names where state.ignored.count < IgnoredMembers.most && !state.ignored.contains(name) {
        state.ignored.append(name)
      }
    }
  }

  /// Sets one, from any thread; each once.
  func set(_ index: Int, _ outcome: Outcome) {
    let complete = state.withLock { state -> State? in
      state.outcomes[index] = outcome
      state.missing -= 1
      return state.missing == 0 ? state : nil
    }
    if let complete { answer(complete.outcomes.compactMap { $0 }, complete.ignored) }
  }
}
