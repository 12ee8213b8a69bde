import BorealisBase
import Model
import Storage
import Synchronization

/// Something that became of a push, for some of its targets.
package struct DeliveryEvent: Sendable {
  /// What it is.
  package enum What: Sendable {
    /// It reached these: they acknowledged it over our connection, or a channel's service took it for them.
    case delivered([RegistrationNumber], ChannelID)
    /// What these said shows that they have it, by which channel: an acknowledgement that nothing waited for
    /// any more, or that they showed it before they acknowledged it, or before the service's answer came.
    case proven([RegistrationNumber], ChannelID)
    /// A channel's service, or we ourselves on the way there, have a final reason why it does not reach
    /// these.
    case refused([RegistrationNumber], ChannelID, reason: String)
    /// These are known to have it by what a channel brought: they showed it, or the channel's service sent a
    /// receipt. Each once, after `delivered` or `proven`, or with it.
    case arrived([RegistrationNumber], ChannelID)
    /// A channel's service took it for these, and then said that it did not arrive.
    case denied([RegistrationNumber], ChannelID, ReceiptReason)
    /// Those of `denied` that are known to have it after all.
    case confirmed([RegistrationNumber], ChannelID)
    /// These reported that it was shown; each does once.
    case shown([RegistrationNumber])
    /// The users of these tapped it.
    case tapped([RegistrationNumber])
    /// No device waits for it on the direct connection any more; `lastly` is the last device that
    /// acknowledged it, unless it was known before that the device has it.
    case ended(OutcomeStatus, lastly: RegistrationNumber?)

    /// The registrations concerned.
    var numbers: [RegistrationNumber] {
      switch self {
      case .delivered(let numbers, _), .proven(let numbers, _), .refused(let numbers, _, _),
        .arrived(let numbers, _), .denied(let numbers, _, _), .confirmed(let numbers, _), .shown(let numbers),
        .tapped(let numbers):
        numbers
      case .ended(_, let lastly): lastly.map { [$0] } ?? []
      }
    }
  }

  package let push: MessageID
  package let app: AppID
  /// What became of it.
  package let what: What
  /// When; of several, when it was true for all of them.
  package let at: Timestamp
  /// When it was true for each of them, in their order; empty if `at` is all that is known.
  private let moments: [Timestamp]

  package init(push: MessageID, app: AppID, what: What, at: Timestamp, moments: [Timestamp] = []) {
    self.push = push
    self.app = app
    self.what = what
    self.at = at
    self.moments = moments
  }

  /// When it was true for the one at a place among them.
  package func moment(_ index: Int) -> Timestamp { moments.indices.contains(index) ? moments[index] : at }

  init(_ ended: EndedPush, app: AppID, at: Timestamp) {
    self.init(push: ended.id, app: app, what: .ended(ended.status, lastly: ended.acknowledger), at: at)
  }
}

/// The listeners for events of pushes.
package protocol DeliveryObserver: AnyObject, Sendable {
  /// Called on the writer's thread, in the transaction that stores these events: what is written here is
  /// stored with them, or neither is. A job that fails is run again later with the same events: what changes
  /// in memory waits for `whenCommitted`.
  func stored(_ events: [DeliveryEvent], in transaction: WriteTransaction) throws(StorageError)
}

/// The one place that everything passes that becomes of pushes, whatever the channel, in the commit that
/// stores it.
package final class DeliveryJournal: Sendable {
  private let observers = Mutex<[any DeliveryObserver]>([])

  init() {}

  /// Adds an observer; before the first push.
  package func add(_ observer: any DeliveryObserver) { observers.withLock { $0.append(observer) } }

  func removeAll() { observers.withLock { $0 = [] } }

  func stored(_ events: [DeliveryEvent], in transaction: WriteTransaction) throws(StorageError) {
    guard !events.isEmpty else { return }
    for observer in observers.withLock({ $0 }) { try observer.stored(events, in: transaction) }
  }
}
