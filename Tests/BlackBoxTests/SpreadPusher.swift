import BorealisBase
import Dispatch
import Synchronization

/// Pushes to apps, one after the other, until it is stopped.
final class SpreadPusher: Sendable {
  private struct State {
    var ids: [[String]]
    var failures: [String] = []
    var isOver = false
  }

  private let state: Mutex<State>
  private let group = DispatchGroup()

  init(_ node: TestServer, _ apps: [TestServer.App]) {
    state = Mutex(State(ids: apps.map { _ in [] }))
    DispatchQueue.global().async(group: group) { [self] in
      var turn = 0
      while !state.withLock({ $0.isOver }) {
        let index = turn % apps.count
        turn += 1
        let answer = try? node.call(
          "POST", "/v3/push", as: apps[index],
          body: ["platform": "all", "audience": "all", "message": ["msg_content": "x"]])
        state.withLock { state in
          if answer?.status == 200, let id = answer?.document?["msg_id"]?.string {
            state.ids[index].append(id)
          } else {
            state.failures.append("\(answer?.status ?? 0) \(answer?.body ?? "")")
          }
        }
      }
    }
  }

  /// Pushes that were accepted.
  var count: Int { state.withLock { $0.ids.reduce(0) { $0 + $1.count } } }

  /// Ends; the IDs of each app, and what failed.
  func stop() -> (ids: [[String]], failures: [String]) {
    state.withLock { $0.isOver = true }
    group.wait()
    return state.withLock { ($0.ids, $0.failures) }
  }
}
