import BorealisBase
import Model
import Storage
import Synchronization

/// Who gets a push of those that its audience names.
struct Admitted: Sendable {
  let recipients: Recipients
  /// Those who are left out since their devices show no notifications.
  var leftOut = NumberSet()
  /// How many have their turn now or at another time, for a schedule that follows the clocks of devices; 0
  /// for other pushes.
  let all: Int
}

/// The part of one app in acceptance.
struct AcceptancePart: Sendable {
  /// How far it has come.
  enum State: Sendable {
    case asked
    /// Who gets it.
    case resolved(Recipients)
    /// It with the routes of all who get it, ready to be stored.
    indirect case routed(NewPush)
    /// It is stored as this.
    indirect case accepted(AcceptedPush, NewPush)
    /// The `cid` was used before.
    case repeated(AcceptedPush)
    /// Nothing was changed.
    case refused(APIError)
  }

  let app: App
  var request: AcceptRequest
  /// Whose files an audience may name: the app's, or its group's.
  let fileOwner: AppKey
  var state = State.asked
  /// Members of its audience that it leaves out, since their devices show no notifications.
  var leftOut = NumberSet()
  /// How many have their turn now or at another time; 0 if all get it now.
  var reach = 0
  /// For how many devices the app's plan has given speed.
  var paid = 0

  init(_ app: App, _ request: AcceptRequest, filesOf owner: AppKey? = nil) {
    self.app = app
    self.request = request
    fileOwner = owner ?? app.key
  }

  /// Fixes who gets it.
  mutating func fix(_ audience: Admitted) {
    (state, leftOut, reach) = (.resolved(audience.recipients), audience.leftOut, audience.all)
  }

  /// Why it is not sent.
  var refusal: APIError? { if case .refused(let error) = state { error } else { nil } }

  /// It as it was sent.
  var accepted: AcceptedPush? { if case .accepted(let push, _) = state { push } else { nil } }
}

/// What differs between a push of one app, of a group and of a schedule: when it is paid for, and what is
/// stored beside it.
protocol AcceptanceKind: Sendable {
  associatedtype Answer: Sendable
  /// Whether it has a name, under which the first request's answer is given again.
  var isNamed: Bool { get }
  /// Whether why a part is not sent is stored, and answered, as what became of it. Else it is the answer to
  /// the whole.
  var keepsRefusals: Bool { get }
  /// Whether plans are charged when the push is stored, without making it wait.
  var isPaidAfterwards: Bool { get }
  /// For how many devices a plan has to have speed before the push is stored; nil for none.
  func speed(for audience: Recipients) -> Int?
  /// What the first request of the same name was answered; nil if there is none.
  func first(in reading: ReadTransaction) throws(StorageError) -> Answer?
  /// Stores parts, and their additional rows, in one transaction.
  func store(
    _ parts: inout [AcceptancePart], by acceptance: Acceptance, in transaction: WriteTransaction
  ) throws(StorageError) -> Result<Answer, APIError>
  /// Records that nothing could be stored.
  func note(_ failure: StorageError, in log: Log, trace: String?)
}

/// Parts of a push whose apps may have to wait for speed; calls back when all know whether they may go.
final class SpeedAdmission: Sendable {
  private struct State: Sendable {
    var parts: [AcceptancePart]
    var undecided: Int
    var hasWaited = false
  }

  private let state: Mutex<State>
  private let done: @Sendable ([AcceptancePart], _ hasWaited: Bool) -> Void

  init(
    _ parts: [AcceptancePart], done: @escaping @Sendable ([AcceptancePart], _ hasWaited: Bool) -> Void
  ) {
    state = Mutex(State(parts: parts, undecided: parts.count))
    self.done = done
  }

  /// Records that a part may go, with its charge, or why it may not; once for each.
  func decide(_ index: Int, paid: Int = 0, _ refusal: APIError? = nil, hasWaited: Bool = false) {
    let complete = state.withLock { state -> State? in
      state.parts[index].paid = paid
      if let refusal { state.parts[index].state = .refused(refusal) }
      if hasWaited { state.hasWaited = true }
      state.undecided -= 1
      return state.undecided == 0 ? state : nil
    }
    if let complete { done(complete.parts, complete.hasWaited) }
  }
}
