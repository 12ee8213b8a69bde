import BorealisBase
import Model
import Storage
import Synchronization

/// Writes callback events in the transaction that stores the fact. Events of many devices at once are left to
/// `BulkNotifier`.
final class CallbackRecorder: DeliveryObserver {
  /// The most pushes whose callback settings are cached; above that, the cache is cleared.
  private static let remembered = 4096
  /// The most registrations of one event that are written on the writer's thread.
  private static let atOnce = 100

  private let router: Router
  /// The callback settings of pushes; `.some(nil)` for none.
  private let terms = Mutex<[Key: PushCallbackRow?]>([:])

  /// A push of an app: what one app's devices make up must not find another app's settings.
  private struct Key: Hashable {
    let app: AppID
    let push: MessageID
  }

  init(router: Router) { self.router = router }

  func stored(_ events: [DeliveryEvent], in transaction: WriteTransaction) throws(StorageError) {
    guard !router.callbacks.isEmpty else { return }
    var batches = EventBatches { [router] in router.apps.loaded($0)?.callbackFormat ?? .borealis }
    for event in events where router.callbacks.contains(event.app) {
      guard let row = try terms(of: event.push, of: event.app, in: transaction) else { continue }
      try record(event, row, in: transaction, &batches)
      if row.types.contains(.notDelivered), try isOver(after: event, in: transaction),
        try !transaction.callbacks.isRestReported(of: event.push)
      {
        try transaction.callbacks.insertBulk(
          CallbackBulkRow(push: event.push, app: event.app, at: event.at, types: .notDelivered))
      }
    }
    if let now = events.first?.at { try batches.store(at: now, in: transaction) }
  }

  private func terms(
    of id: MessageID, of app: AppID, in transaction: WriteTransaction
  ) throws(StorageError) -> PushCallbackRow? {
    let key = Key(app: app, push: id)
    if let known = terms.withLock({ $0[key] }) { return known }
    let row = try transaction.callbacks.push(of: id, app: app)
    terms.withLock { terms in
      if terms.count >= Self.remembered { terms = [:] }
      terms[key] = .some(row)
    }
    return row
  }

  private func record(
    _ event: DeliveryEvent, _ row: PushCallbackRow, in transaction: WriteTransaction,
    _ batches: inout EventBatches
  ) throws(StorageError) {
    let arrived: CallbackTypes = [.handedOver, .delivered]
    let (types, all, channel): (CallbackTypes, [RegistrationNumber], ChannelID?) =
      switch event.what {
      // What a service took that sends receipts arrives later, if it does.
      case .delivered(let numbers, let channel), .proven(let numbers, let channel):
        (sendsReceipts(channel) ? .handedOver : arrived, numbers, channel)
      case .arrived(let numbers, let channel):
        (sendsReceipts(channel) ? .delivered : [], numbers, channel)
      case .denied(let numbers, let channel, _): (.notDelivered, numbers, channel)
      case .ended(.delivered, let lastly?): (arrived, [lastly], .passthrough)
      case .tapped(let numbers): (.clicked, numbers, nil)
      case .shown(let numbers): (.shown, numbers, nil)
      // `arrived` comes with it.
      case .refused, .confirmed, .ended: ([], [], nil)
      }
    let told = types.intersection(row.types)
    var (numbers, reason): ([RegistrationNumber], String?) = (all, nil)
    if !told.isEmpty, case .denied(_, _, let said) = event.what {
      reason = said.rawValue
      numbers = try lacking(all, event, in: transaction)
    }
    guard !told.isEmpty, !numbers.isEmpty else { return }
    // A request with receipts has few; what many write has no place for a reason.
    guard numbers.count <= Self.atOnce || reason != nil else {
      try transaction.callbacks.insertBulk(
        CallbackBulkRow(
          push: event.push, app: event.app, at: event.at, types: told, channel: channel,
          targets: NumberSet(numbers).serialized()))
      return
    }
    let app = router.apps.loaded(event.app)
    let info = channel.map { router.channels.info($0) }
    for (index, number) in numbers.enumerated() {
      for (type, _) in CallbackTypes.names where told.contains(type) {
        var one = CallbackEvent(type, of: event.push, to: number, over: info, at: event.moment(index))
        one.reason = reason
        one.identify(number, in: app)
        batches.add(one, of: event.app, row)
      }
    }
  }

  /// Those for whom a push did not arrive over one channel and who do not have it from another.
  private func lacking(
    _ numbers: [RegistrationNumber], _ event: DeliveryEvent, in transaction: WriteTransaction
  ) throws(StorageError) -> [RegistrationNumber] {
    guard let rows = try transaction.deliveries.targets(of: event.push),
      let targets = PushTargets(rows, at: event.at)
    else { return numbers }
    return numbers.filter { !targets.delivered.contains($0) }
  }

  private func sendsReceipts(_ channel: ChannelID) -> Bool {
    router.channels.info(channel).abilities.contains(.sendsReceipts)
  }

  /// Whether an event ended its push, while other devices may not have it.
  private func isOver(
    after event: DeliveryEvent, in transaction: WriteTransaction
  ) throws(StorageError) -> Bool {
    switch event.what {
    case .shown, .tapped, .proven, .arrived, .denied, .confirmed, .delivered(_, .passthrough): return false
    case .ended(.delivered, _?): if try transaction.deliveries.isToOne(event.push) { return false }
    case .ended, .refused, .delivered: break
    }
    return try transaction.deliveries.isOver(event.push, app: event.app)
  }
}

extension CallbackEvent {
  /// Adds the device's registration ID, if the registration still exists.
  mutating func identify(_ number: RegistrationNumber, in app: App?) {
    guard let identity = app?.directory.identity(number) else { return }
    (device, platform) = (identity.id, identity.platform)
  }
}
