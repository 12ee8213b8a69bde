import BorealisBase
import Model
import Storage

/// A push to those who have got nothing when something started: the winner of an A/B test, or the rest after
/// a canary. The push and the end of what started are one commit, so that nobody gets it twice
/// (Docs/decisions/0105, 0113).
struct RestAcceptance<Outcome: Sendable>: AcceptanceKind {
  /// What came of it.
  enum Result: Sendable {
    case sent(MessageID)
    /// Nobody of the rest is left.
    case nobody
    case refused(APIError)
  }

  let app: AppID
  /// What it was to end has ended, or was decided by another look: the answer then; else nil.
  let stale: @Sendable (WriteTransaction) throws(StorageError) -> Outcome?
  /// Stores the end.
  let end: @Sendable (Result, WriteTransaction) throws(StorageError) -> Outcome

  var isNamed: Bool { false }
  var keepsRefusals: Bool { true }
  var isPaidAfterwards: Bool { true }

  func speed(for audience: Recipients) -> Int? { nil }

  func first(in reading: ReadTransaction) throws(StorageError) -> Outcome? { nil }

  func store(
    _ parts: inout [AcceptancePart], by acceptance: Acceptance, in transaction: WriteTransaction
  ) throws(StorageError) -> Swift.Result<Outcome, APIError> {
    try transaction.expectHome(of: app)
    if let outcome = try stale(transaction) { return .success(outcome) }
    for index in parts.indices { try acceptance.store(&parts[index], in: transaction) }
    var result = Result.nobody
    if let part = parts.first {
      if let accepted = part.accepted {
        result = .sent(accepted.id)
      } else {
        // Also if limits for a day or quiet hours keep it from all of them: they are there.
        result = .refused(part.refusal ?? .internalError)
      }
    }
    return .success(try end(result, transaction))
  }

  func note(_ failure: StorageError, in log: Log, trace: String?) {
    log.error(
      "push to the rest of an audience not stored",
      ["app": .number(Int64(app.rawValue)), "reason": .text("\(failure.kind)")], trace: trace)
  }
}

extension Acceptance {
  /// The part with a push to those of a rest that are still there; empty if nobody is.
  func parts(_ request: AcceptRequest, to rest: NumberSet, in app: App) -> [AcceptancePart] {
    let present = app.directory.resolve(.all, platforms: request.push.platforms) ?? .few([])
    let audience = admissible(present.intersection(rest), request, in: app)
    guard !audience.recipients.isEmpty else { return [] }
    var part = AcceptancePart(app, request)
    part.fix(audience)
    return [part]
  }

  /// Why the push to a rest does not go now: the app is disabled, or the moment was missed by too much, as
  /// that of a schedule would be.
  func lateFault(of push: PushRequest, due: Timestamp, in app: App) -> APIError? {
    guard !app.isDisabled else { return .blacklisted }
    let grace = max(Self.punctual, min(Int64(push.options.timeToLive), options.scheduleGrace))
    return time.now() <= due.adding(seconds: grace) ? nil : Self.tooLate
  }
}
