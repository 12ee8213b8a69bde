import BorealisBase
import Model
import Storage

/// A push of one app: by itself or in a batch, with an audience or a file, from an app server or the console.
private struct SingleAcceptance: AcceptanceKind {
  let app: App
  let cid: String?
  let digest: RequestDigest?

  var isNamed: Bool { cid != nil }
  var keepsRefusals: Bool { false }
  var isPaidAfterwards: Bool { false }

  func speed(for audience: Recipients) -> Int? { audience.count }

  func first(in reading: ReadTransaction) throws(StorageError) -> AcceptedPush? {
    guard let cid, let first = try reading.pushes.lookupCID(app: app.id, cid: cid), first.isSame(as: digest)
    else { return nil }
    return AcceptedPush(first)
  }

  func store(
    _ parts: inout [AcceptancePart], by acceptance: Acceptance, in transaction: WriteTransaction
  ) throws(StorageError) -> Result<AcceptedPush, APIError> {
    try acceptance.store(&parts[0], in: transaction)
    return switch parts[0].state {
    case .accepted(let push, _), .repeated(let push): .success(push)
    case .refused(let error): .failure(error)
    case .asked, .resolved, .routed: .failure(.internalError)
    }
  }

  func note(_ failure: StorageError, in log: Log, trace: String?) {
    log.error(
      "push not stored", ["app": .text(app.key.text), "reason": .text("\(failure.kind)")], trace: trace)
  }
}

extension Acceptance {
  /// Accepts a push: resolves its audience, commits it, answers, delivers. It waits first while the app's
  /// plan has no speed left. 2003 for a disabled app. `reply` is called on the writer's thread, or on another
  /// when the push is refused before it is stored.
  package func accept(
    _ request: AcceptRequest, for app: App,
    reply: @escaping @Sendable (Result<AcceptedPush, APIError>) -> Void
  ) {
    trace(request, reply) { request, reply in begin(request, for: app, reply) }
  }

  private func begin(
    _ request: AcceptRequest, for app: App,
    _ reply: @escaping @Sendable (Result<AcceptedPush, APIError>) -> Void
  ) {
    // A deleted one is unknown: the writer says so.
    guard app.isDeleted || !app.isDisabled else { return reply(.failure(.blacklisted)) }
    let kind = SingleAcceptance(app: app, cid: request.push.cid, digest: request.getui?.digest)
    guard kind.isNamed, app.plan.speed != nil else {
      return run(kind, [AcceptancePart(app, request)], reply)
    }
    kind.findFirst(in: store) { [self] first in
      guard let first else { return run(kind, [AcceptancePart(app, request)], reply) }
      reply(.success(first))
    }
  }
}
