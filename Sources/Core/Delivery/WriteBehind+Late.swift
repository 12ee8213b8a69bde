import BorealisBase
import Model
import Storage

extension WriteBehind {
  /// Stores who acknowledged a push that was recalled or handed over while they did: its end is stored, and
  /// knows nothing of them.
  static func keep(
    _ numbers: [RegistrationNumber], of id: MessageID, at now: Timestamp, in transaction: WriteTransaction
  ) throws(StorageError) {
    if try !transaction.deliveries.isPending(id), try isOverOtherwise(id, in: transaction) {
      let stored = try transaction.deliveries.receipts(of: id, .acknowledgedLate)
      let late = stored.flatMap { NumberSet(serialized: $0) } ?? NumberSet()
      let all = late.union(NumberSet(numbers))
      try transaction.deliveries.saveReceipts(id: id, .acknowledgedLate, targets: all.serialized())
    }
    // The others may have it by something else than an acknowledgement.
    if try transaction.deliveries.hasOtherEvidence(id) { try transaction.reckon(id, at: now) }
  }

  /// Whether a push of which nothing waits over our connection has ended there without being delivered to
  /// all, or by being handed over to a vendor's channel.
  private static func isOverOtherwise(
    _ id: MessageID, in transaction: WriteTransaction
  ) throws(StorageError) -> Bool {
    switch try transaction.deliveries.outcome(of: id)?.status ?? .open {
    case .delivered: false
    case .open: try transaction.deliveries.dropped(id)[LossReason.handedOver.rawValue] != nil
    default: true
    }
  }
}
