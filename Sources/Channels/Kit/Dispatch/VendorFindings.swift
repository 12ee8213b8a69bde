import BorealisBase
import Core
import Model
import Storage
import Synchronization

extension AnsweredToken {
  /// The token of a request that has no answer yet.
  init(_ delivery: Delivery) {
    let token = PushToken(delivery.slot, delivery.row.service, delivery.row.token)
    self.init(delivery, token, sentAt: delivery.row.tokenAt, reportedBy: delivery.row.tokenAt)
  }

  /// The token of a request that has its answer. One that the device reports afterwards has priority.
  init(_ completed: CompletedRequest, end: TokenEnd = .byService) {
    let row = completed.delivery.row
    self.init(
      completed.delivery, PushToken(completed.delivery.slot, row.service, row.token),
      sentAt: completed.sentAt, end: end, reportedBy: row.tokenAt)
  }
}

/// The latest pushes that a service took for some device: their content is good.
final class PassedPushes: Sendable {
  private static let most = 1024
  private let state = Mutex<(known: Set<MessageID>, order: FIFO<MessageID>)>(([], FIFO()))

  func note(_ push: MessageID) {
    state.withLock { state in
      guard state.known.insert(push).inserted else { return }
      state.order.append(push)
      if state.known.count > Self.most, let oldest = state.order.popFirst() { state.known.remove(oldest) }
    }
  }

  func contains(_ push: MessageID) -> Bool { state.withLock { $0.known.contains(push) } }
}

extension VendorOutcome {
  /// Whether a token belongs to another project, or the credential does.
  var isForeignToken: Bool { if case .dropForeignToken = self { true } else { false } }
}
