import BorealisBase
import Core
import Synchronization

/// The connections of all nodes for a router that leads: those of this process directly, those of others by
/// the link's thread.
final class LinkGateway: DeviceGateway {
  private let local: any DeviceGateway
  private let loops: UInt16
  private let queue: LinkQueue
  private let term: UInt64
  private let isLeading = Atomic<Bool>(true)

  init(local: any DeviceGateway, loops: UInt16, queue: LinkQueue, term: UInt64) {
    self.local = local
    self.loops = loops
    self.queue = queue
    self.term = term
  }

  /// The router leads no more: of what it still says only answers to what it was asked count.
  func retire() { isLeading.store(false, ordering: .releasing) }

  func send(_ message: HomeMessage, to loop: UInt16) {
    if isLeading.load(ordering: .acquiring) {
      if loop < loops {
        local.send(message, to: loop)
      } else {
        queue.add(.toLoop(message, loop, term: term))
      }
    } else if loop < loops, message.isAnswerToDevice {
      local.send(message, to: loop)
    }
  }

  func sendToAll(_ message: HomeMessage) {
    guard isLeading.load(ordering: .acquiring) else { return }
    local.sendToAll(message)
    queue.add(.toAll(message, term: term))
  }

  func confirmRecall(
    _ id: MessageID, of app: AppID, done: @escaping @Sendable (_ unconfirmed: Int) -> Void
  ) {
    // Behind the recall.
    queue.add(.recallWait(RecallKey(app: app, id: id), term: term, done))
  }
}

extension HomeMessage {
  /// Whether a device waits for it that nobody else will answer.
  fileprivate var isAnswerToDevice: Bool {
    switch self {
    case .result, .registerResult: true
    default: false
    }
  }
}
