import PushBase
import PushChannels
import PushDomain
import PushRouter
import PushStorage
import Synchronization

/// A token that a service rejected.
struct FaultyToken: Sendable, Hashable {
  let number: RegistrationNumber
  let token: PushToken
  /// A token that the device reported after this has priority.
  let toldAt: Timestamp
  /// When the request was sent.
  let sentAt: Timestamp

  init(_ completed: CompletedRequest) {
    number = completed.delivery.row.number
    let row = completed.delivery.row
    token = PushToken(completed.delivery.slot, row.service, row.token)
    toldAt = completed.delivery.row.tokenAt
    sentAt = completed.sentAt
  }

  /// The same token, whenever it was told.
  static func == (left: Self, right: Self) -> Bool {
    left.number == right.number && left.token.bytes == right.token.bytes
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(number)
    hasher.combine(token.bytes)
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
