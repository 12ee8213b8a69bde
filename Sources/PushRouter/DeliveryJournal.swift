import PushBase
import PushDomain
import PushStorage
import Synchronization

/// Something that became of a push, for some of its targets.
public struct DeliveryEvent: Sendable {
  /// What it is.
  public enum What: Sendable {
    /// It reached these: they acknowledged it over our connection, or Apple took it for them.
    case delivered([RegistrationNumber], Channel)
    /// Apple, or we ourselves on the way there, have a final reason why it does not reach these.
    case refused([RegistrationNumber], reason: String)
    /// These reported that it was shown; each does once.
    case shown([RegistrationNumber])
    /// The users of these tapped it.
    case tapped([RegistrationNumber])
    /// Nobody waits for it over our connection any more; `lastly` is who acknowledged it last.
    case ended(OutcomeStatus, lastly: RegistrationNumber?)
  }

  /// The push.
  public let push: MessageID
  /// Its app.
  public let app: AppID
  /// What became of it.
  public let what: What
  /// When.
  public let at: Timestamp

  /// All fields.
  public init(push: MessageID, app: AppID, what: What, at: Timestamp) {
    self.push = push
    self.app = app
    self.what = what
    self.at = at
  }

  init(_ ended: EndedPush, app: AppID, at: Timestamp) {
    self.init(push: ended.id, app: app, what: .ended(ended.status, lastly: ended.acknowledger), at: at)
  }
}

/// Who wants to know what becomes of pushes.
public protocol DeliveryObserver: AnyObject, Sendable {
  /// Called on the writer's thread, in the transaction that stores these events: what is written here is stored with them,
  /// or neither is. A job that fails is run again later with the same events.
  func stored(_ events: [DeliveryEvent], in transaction: WriteTransaction) throws(StorageError)
}

/// The one place that everything passes that becomes of pushes, whatever the channel, in the commit that stores it.
public final class DeliveryJournal: Sendable {
  private let observers = Mutex<[any DeliveryObserver]>([])

  init() {}

  /// Adds an observer; before the first push.
  public func add(_ observer: any DeliveryObserver) { observers.withLock { $0.append(observer) } }

  func stored(_ events: [DeliveryEvent], in transaction: WriteTransaction) throws(StorageError) {
    guard !events.isEmpty else { return }
    for observer in observers.withLock({ $0 }) { try observer.stored(events, in: transaction) }
  }
}
