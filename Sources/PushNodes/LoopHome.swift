import PushRouter
import Synchronization

/// The home of all apps as one loop sees it: this process, when it leads; else another node, which is reached over the bus and answers
/// by mail.
final class LoopHome: AppHome {
  private let queue: LinkQueue
  /// Set while this process leads. Only its loop and a change of the home take this lock.
  private let local = Mutex<LocalHome?>(nil)

  /// Nobody is home yet.
  init(_ queue: LinkQueue) { self.queue = queue }

  /// Takes messages of the loop's connections.
  func take(_ messages: [GatewayMessage], answers: inout [HomeMessage]) {
    let isLocal = local.withLock { home in
      home?.take(messages, answers: &answers)
      return home != nil
    }
    guard !isLocal else { return }
    for case .acknowledgements(_, let batch) in messages {
      // Kept from now on; they are settled when a home has stored them.
      let taken = batch.senders.compactMap { sender in
        sender.location.map {
          TakenFromSender(location: $0, count: sender.count, awaited: sender.count)
        }
      }
      answers.append(.acknowledgementsTaken(taken))
    }
    queue.add(.fromLoop(messages))
  }

  /// Changes the home. `before` runs while the loop can say nothing.
  func change(to home: LocalHome?, before: () -> Void = {}) {
    local.withLock { local in
      before()
      local = home
    }
  }
}
