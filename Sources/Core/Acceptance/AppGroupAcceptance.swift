import BorealisBase
import Model
import Storage

/// The result of an app group push.
package struct AcceptedAppGroupPush: Sendable, Equatable {
  /// Its number as a whole.
  package let id: MessageID
  /// The label of the first request with this `cid`.
  package let sendno: Int64
  /// For each app its push, or why there is none, by key.
  package let members: [(app: AppKey, result: Result<MessageID, APIError>)]

  init(_ row: AppGroupPushRow) {
    id = row.id
    sendno = row.sendno
    members = row.members.map { ($0.app, $0.result) }
  }

  /// Whether all is the same.
  package static func == (left: Self, right: Self) -> Bool {
    left.id == right.id && left.sendno == right.sendno
      && left.members.elementsEqual(right.members) { $0.app == $1.app && $0.result == $1.result }
  }
}

/// A push to all apps of a group. The request's `cid` is one of the group.
private struct AppGroupAcceptance: AcceptanceKind {
  let group: AppGroup
  let cid: String?
  let sendno: Int64
  /// Seconds for which a `cid` returns its first answer.
  let nameLifetime: Int64
  let time: any TimeSource

  var isNamed: Bool { cid != nil }
  var keepsRefusals: Bool { true }
  var isPaidAfterwards: Bool { false }

  func speed(for audience: Recipients) -> Int? { audience.isEmpty ? nil : audience.count }

  func first(in reading: ReadTransaction) throws(StorageError) -> AcceptedAppGroupPush? {
    guard let cid else { return nil }
    let oldest = time.now().adding(seconds: -nameLifetime)
    return try reading.appGroups.lookupCID(group: group.id, cid: cid, after: oldest).map {
      AcceptedAppGroupPush($0)
    }
  }

  func store(
    _ parts: inout [AcceptancePart], by acceptance: Acceptance, in transaction: WriteTransaction
  ) throws(StorageError) -> Result<AcceptedAppGroupPush, APIError> {
    if let first = try first(in: transaction.reading) { return .success(first) }
    var row = AppGroupPushRow(
      id: acceptance.ids.next(), sendno: sendno, createdAt: time.now(), members: [])
    for index in parts.indices {
      try acceptance.store(&parts[index], in: transaction)
      let result: Result<MessageID, APIError> =
        parts[index].accepted.map { .success($0.id) } ?? .failure(parts[index].refusal ?? .internalError)
      row.members.append(AppGroupPushRow.Member(app: parts[index].app.key, result: result))
    }
    try transaction.appGroups.insertPush(row, group: group.id, cid: cid)
    return .success(AcceptedAppGroupPush(row))
  }

  func note(_ failure: StorageError, in log: Log, trace: String?) {
    log.error("app group push not stored", ["reason": .text("\(failure.kind)")], trace: trace)
  }
}

extension Acceptance {
  /// Accepts a push to all apps of a group: each app's audience is fixed, all of it is stored by one commit,
  /// then it is answered and delivered. It waits first for the apps whose plans have no speed left; those
  /// that wait too long are left out, and so are those in `barred`, for a reason. The request's `cid` is one
  /// of the group, its file too; one that is repeated is answered at once, without asking who is barred.
  package func accept(
    _ request: AcceptRequest, for group: AppGroup,
    without barred: @escaping @Sendable () -> [AppKey: APIError] = { [:] },
    reply: @escaping @Sendable (Result<AcceptedAppGroupPush, APIError>) -> Void
  ) {
    trace(request, reply) { request, reply in begin(request, for: group, without: barred, reply) }
  }

  private func begin(
    _ request: AcceptRequest, for group: AppGroup,
    without barred: @escaping @Sendable () -> [AppKey: APIError],
    _ reply: @escaping @Sendable (Result<AcceptedAppGroupPush, APIError>) -> Void
  ) {
    let kind = AppGroupAcceptance(
      group: group, cid: request.push.cid, sendno: request.sendno, nameLifetime: options.cidLifetime,
      time: time)
    @Sendable func goOn() {
      var member = request
      member.push.cid = nil
      let barred = barred()
      let parts = group.apps.map { app in
        var part = AcceptancePart(app, member, filesOf: group.key)
        if let error = app.isDisabled ? .blacklisted : barred[app.key] { part.state = .refused(error) }
        return part
      }
      run(kind, parts, reply)
    }
    guard kind.isNamed else { return goOn() }
    kind.findFirst(in: store) { first in
      if let first { reply(.success(first)) } else { goOn() }
    }
  }
}
