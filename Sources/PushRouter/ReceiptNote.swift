import PushBase
import PushStorage

/// A device's word that it showed a push or that its user tapped it, on its way to the database.
struct ReceiptNote: Sendable {
  let id: MessageID
  let receipt: WriteTransaction.Receipt
  let number: RegistrationNumber
  let app: AppID
  let at: Timestamp

  private struct Key: Hashable {
    let id: MessageID
    let receipt: WriteTransaction.Receipt
    let app: AppID
  }

  /// Stores receipts, each once, without those for pushes that were not for their device; returns what was new.
  static func store(
    _ notes: [ReceiptNote], in transaction: WriteTransaction
  ) throws(StorageError) -> [DeliveryEvent] {
    var byPush: [Key: [ReceiptNote]] = [:]
    for note in notes {
      byPush[Key(id: note.id, receipt: note.receipt, app: note.app), default: []].append(note)
    }
    var events: [DeliveryEvent] = []
    for (key, notes) in byPush {
      let new = try store(notes, of: key, in: transaction)
      guard let at = notes.first?.at, !new.isEmpty else { continue }
      events.append(
        DeliveryEvent(
          push: key.id, app: key.app, what: key.receipt == .shown ? .shown(new) : .tapped(new), at: at))
    }
    return events
  }

  private static func store(
    _ notes: [ReceiptNote], of key: Key, in transaction: WriteTransaction
  ) throws(StorageError) -> [RegistrationNumber] {
    guard let audience = try transaction.reading.audience(of: key.id), audience.app == key.app else {
      return []
    }
    guard let bytes = audience.targets else {
      var new: [RegistrationNumber] = []
      for note in notes
      where try transaction.markReceipt(
        id: note.id, app: note.app, by: note.number, note.receipt, at: note.at)
      {
        new.append(note.number)
      }
      return new
    }
    guard let targets = NumberSet(serialized: bytes) else { return [] }
    let stored = try transaction.reading.receipts(of: key.id, key.receipt)
    var known = stored.flatMap { NumberSet(serialized: $0) } ?? NumberSet()
    var new: [RegistrationNumber] = []
    for note in notes where targets.contains(note.number) && !known.contains(note.number) {
      known.insert(note.number)
      new.append(note.number)
    }
    if !new.isEmpty { try transaction.saveReceipts(id: key.id, key.receipt, targets: known.serialized()) }
    return new
  }
}
