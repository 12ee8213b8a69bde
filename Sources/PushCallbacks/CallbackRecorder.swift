import PushBase
import PushDomain
import PushRouter
import PushStorage
import Synchronization

/// Writes what app servers are to be told, in the transaction that stores the fact. What is told of many at a time is left
/// to `BulkTeller`.
final class CallbackRecorder: DeliveryObserver {
  /// Pushes whose terms are remembered; beyond, all are forgotten.
  private static let remembered = 4096
  /// The most registrations of one event whose telling may hold up the writer.
  private static let atOnce = 100

  private let router: Router
  /// What is told of pushes; `.some(nil)` for nothing.
  private let terms = Mutex<[MessageID: PushCallbackRow?]>([:])

  init(router: Router) { self.router = router }

  func stored(_ events: [DeliveryEvent], in transaction: WriteTransaction) throws(StorageError) {
    guard router.tellsAnybody else { return }
    var batches = EventBatches()
    for event in events where router.tells(event.app) {
      guard let row = try terms(of: event.push, in: transaction) else { continue }
      try tell(event, row, in: transaction, &batches)
      if row.types.contains(.notDelivered), try isOver(after: event, in: transaction) {
        try transaction.insertCallbackBulk(
          CallbackBulkRow(push: event.push, app: event.app, at: event.at, types: .notDelivered))
      }
    }
    if let now = events.first?.at { try batches.store(at: now, in: transaction) }
  }

  private func terms(
    of id: MessageID, in transaction: WriteTransaction
  ) throws(StorageError) -> PushCallbackRow? {
    if let known = terms.withLock({ $0[id] }) { return known }
    let row = try transaction.reading.pushCallback(of: id)
    terms.withLock { terms in
      if terms.count >= Self.remembered { terms = [:] }
      terms[id] = .some(row)
    }
    return row
  }

  private func tell(
    _ event: DeliveryEvent, _ row: PushCallbackRow, in transaction: WriteTransaction,
    _ batches: inout EventBatches
  ) throws(StorageError) {
    let arrived: CallbackTypes = [.handedOver, .delivered]
    let (types, numbers, channel): (CallbackTypes, [RegistrationNumber], Channel?) =
      switch event.what {
      case .delivered(let numbers, let channel): (arrived, numbers, channel)
      case .ended(.delivered, let lastly?): (arrived, [lastly], .passthrough)
      case .tapped(let numbers): (.clicked, numbers, nil)
      case .shown, .refused, .ended: ([], [], nil)
      }
    let told = types.intersection(row.types)
    guard !told.isEmpty, !numbers.isEmpty else { return }
    guard numbers.count <= Self.atOnce else {
      try transaction.insertCallbackBulk(
        CallbackBulkRow(
          push: event.push, app: event.app, at: event.at, types: told, channel: channel,
          targets: NumberSet(numbers).serialized()))
      return
    }
    let app = router.app(event.app)
    for number in numbers {
      for (type, _) in CallbackTypes.names where told.contains(type) {
        var one = CallbackEvent(type, of: event.push, to: number, over: channel, at: event.at)
        one.identify(number, in: app)
        batches.add(one, of: event.app, row)
      }
    }
  }

  /// Whether an event was the last thing that could become of its push, and others than its device may lack it.
  private func isOver(
    after event: DeliveryEvent, in transaction: WriteTransaction
  ) throws(StorageError) -> Bool {
    switch event.what {
    case .shown, .tapped, .delivered(_, .passthrough): return false
    case .ended(.delivered, _?): if try transaction.reading.isToOne(event.push) { return false }
    case .ended, .refused, .delivered(_, .apns): break
    }
    return try transaction.reading.isOver(event.push, app: event.app)
  }
}

extension CallbackEvent {
  /// Names the device, if the server still knows it.
  mutating func identify(_ number: RegistrationNumber, in app: App?) {
    guard let identity = app?.directory.identity(number) else { return }
    (device, platform) = (identity.id, identity.platform)
  }
}
