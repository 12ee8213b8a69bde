import PushBase
import PushDomain
import PushStorage
import Synchronization

/// What became of a push to the apps of a group.
public struct AcceptedGroupPush: Sendable, Equatable {
  /// Its number as a whole.
  public let id: MessageID
  /// The label of the first request with this `cid`.
  public let sendno: Int32
  /// For each app its push, or why there is none, by key.
  public let members: [(app: AppKey, result: Result<MessageID, APIError>)]

  init(_ row: GroupPushRow) {
    id = row.id
    sendno = Int32(clamping: row.sendno)
    members = row.members.map { ($0.app, $0.result) }
  }

  /// Whether all is the same.
  public static func == (left: Self, right: Self) -> Bool {
    left.id == right.id && left.sendno == right.sendno
      && left.members.elementsEqual(right.members) { $0.app == $1.app && $0.result == $1.result }
  }
}

/// The part of a push to a group that is one app's.
private struct GroupMember: Sendable {
  let app: App
  /// Who gets it there, or why nobody does.
  var audience: Result<Recipients, APIError>
}

/// A push to a group as it was asked for.
private struct GroupRequest: Sendable {
  /// What each app is to send.
  let request: AcceptRequest
  /// The name of the whole.
  let cid: String?
  let group: AppGroup
}

/// The parts of a push to a group whose apps may have to wait for speed; calls back when all know whether they may go.
private final class GroupAdmission: Sendable {
  private struct State: Sendable {
    var members: [GroupMember]
    var undecided: Int
    var hasWaited = false
  }

  private let state: Mutex<State>
  private let done: @Sendable ([GroupMember], _ hasWaited: Bool) -> Void

  init(
    _ members: [GroupMember], done: @escaping @Sendable ([GroupMember], _ hasWaited: Bool) -> Void
  ) {
    state = Mutex(State(members: members, undecided: members.count))
    self.done = done
  }

  /// Notes that a part may go, or why not; once for each.
  func decide(_ index: Int, _ refusal: APIError? = nil, hasWaited: Bool = false) {
    let complete = state.withLock { state -> State? in
      if let refusal { state.members[index].audience = .failure(refusal) }
      if hasWaited { state.hasWaited = true }
      state.undecided -= 1
      return state.undecided == 0 ? state : nil
    }
    if let complete { done(complete.members, complete.hasWaited) }
  }
}

extension Router {
  /// The group behind a key, nil if there is none. Asked of the database each time, so that what another process changes
  /// counts at once. `found` is called on a reader's thread or this one.
  public func findGroup(
    _ key: AppKey, found: @escaping @Sendable (Result<AppGroup?, DeviceFailure>) -> Void
  ) {
    store.read { transaction throws(StorageError) -> (AppGroupRow, [AppRow])? in
      guard let group = try transaction.appGroup(key: key) else { return nil }
      var apps: [AppRow] = []
      for key in group.apps {
        if let app = try transaction.app(key: key) { apps.append(app) }
      }
      return (group, apps)
    } completion: { [self] result in
      switch result {
      case .failure: found(.failure(.unavailable))
      case .success(nil): found(.success(nil))
      case .success(let (group, apps)?): found(.success(AppGroup(group, apps: apps.map { adopt($0) })))
      }
    }
  }

  /// Accepts a push to all apps of a group: each app's audience is fixed, all of it is stored by one commit, then it is
  /// answered and delivered. It waits first for the apps whose plans have no speed left; those that wait too long are
  /// left out, and so are those in `barred`, for a reason. The request's `cid` is one of the group, its file too; one that
  /// is repeated is answered at once, without asking who is barred.
  public func accept(
    _ request: AcceptRequest, for group: AppGroup,
    without barred: @escaping @Sendable () -> [AppKey: APIError] = { [:] },
    reply: @escaping @Sendable (Result<AcceptedGroupPush, APIError>) -> Void
  ) {
    var own = request
    own.cid = nil
    let parts = GroupRequest(request: own, cid: request.cid, group: group)
    guard let cid = request.cid else { return accept(parts, without: barred(), reply) }
    let oldest = time.now().adding(seconds: -options.cidLifetime)
    store.read { transaction throws(StorageError) in
      try transaction.lookupGroupCID(group: group.id, cid: cid, after: oldest)
    } completion: { [self] result in
      guard case .success(let first?) = result else { return accept(parts, without: barred(), reply) }
      reply(.success(AcceptedGroupPush(first)))
    }
  }

  private func accept(
    _ request: GroupRequest, without barred: [AppKey: APIError],
    _ reply: @escaping @Sendable (Result<AcceptedGroupPush, APIError>) -> Void
  ) {
    resolve(request.request, for: request.group, without: barred, from: 0, []) { [self] members in
      switch members {
      case .failure(let error): reply(.failure(error))
      case .success(let members):
        admit(members) { [self] admitted, hasWaited in
          guard hasWaited else { return store(admitted, request, reply) }
          storeAnew(admitted, request, reply)
        }
      }
    }
  }

  /// A push that had to wait for an app's speed is for those whom its audience means when it is accepted, which is now.
  private func storeAnew(
    _ admitted: [GroupMember], _ request: GroupRequest,
    _ reply: @escaping @Sendable (Result<AcceptedGroupPush, APIError>) -> Void
  ) {
    var refused: [AppKey: APIError] = [:]
    var paid: [AppID: Int] = [:]
    for member in admitted {
      switch member.audience {
      case .success(let audience): paid[member.app.id] = audience.count
      case .failure(let error): refused[member.app.key] = error
      }
    }
    resolve(request.request, for: request.group, without: refused, from: 0, []) { [self, paid] members in
      switch members {
      case .failure(let error):
        giveBack(admitted)
        reply(.failure(error))
      case .success(let members):
        for member in members {
          settle(paid: paid[member.app.id] ?? 0, cost: (try? member.audience.get())?.count ?? 0, member.app)
        }
        store(members, request, reply)
      }
    }
  }

  /// Gives speed back that was taken for parts which are not sent. For those that were refused none was.
  private func giveBack(_ members: [GroupMember]) {
    for member in members {
      if case .success(let audience) = member.audience { giveBack(audience.count, to: member.app) }
    }
  }

  /// Asks each app's plan for as much speed as its part of the push takes, all at the same time.
  private func admit(
    _ members: [GroupMember], then goOn: @escaping @Sendable ([GroupMember], _ hasWaited: Bool) -> Void
  ) {
    guard !members.isEmpty else { return goOn([], false) }
    let now = time.monotonic()
    let admission = GroupAdmission(members, done: goOn)
    for (index, member) in members.enumerated() {
      guard case .success(let audience) = member.audience, !audience.isEmpty else {
        admission.decide(index)
        continue
      }
      let answer = speedPools.admit(audience.count, app: member.app.id, plan: member.app.plan, at: now) {
        admission.decide(index, hasWaited: true)
      } expire: {
        admission.decide(index, .timeout, hasWaited: true)
      }
      switch answer {
      case .now: admission.decide(index)
      case .waits: break
      case .full: admission.decide(index, .rateExceeded)
      case .closed: admission.decide(index, .timeout)
      }
    }
  }

  /// Fixes the audience in one app after the other. What may be otherwise at the next try is a failure of all: it must not
  /// become the answer that the request's `cid` stands for.
  private func resolve(
    _ request: AcceptRequest, for group: AppGroup, without barred: [AppKey: APIError], from index: Int,
    _ done: [GroupMember], _ found: @escaping @Sendable (Result<[GroupMember], APIError>) -> Void
  ) {
    guard index < group.apps.count else {
      found(.success(done))
      return
    }
    let app = group.apps[index]
    @Sendable func go(_ audience: Result<Recipients, APIError>) {
      let done = done + [GroupMember(app: app, audience: audience)]
      resolve(request, for: group, without: barred, from: index + 1, done, found)
    }
    if let error = app.isDisabled ? .blacklisted : barred[app.key] { return go(.failure(error)) }
    resolve(request, in: app, owner: group.key) { audience in
      if case .failure(let error) = audience, error.httpStatus >= 500 { return found(.failure(error)) }
      go(audience)
    }
  }

  /// Stores a push for those parts that may go, for which speed was taken.
  private func store(
    _ members: [GroupMember], _ whole: GroupRequest,
    _ reply: @escaping @Sendable (Result<AcceptedGroupPush, APIError>) -> Void
  ) {
    let (request, cid, group) = (whole.request, whole.cid, whole.group)
    let now = time.now()
    let oldest = now.adding(seconds: -options.cidLifetime)
    let pushes = members.map { member in
      (app: member.app, push: member.audience.flatMap { prepare(request, to: $0, of: member.app) })
    }
    store.write {
      [self] transaction throws(StorageError) -> (AcceptedGroupPush, [(App, AcceptedPush, NewPush)]) in
      if let cid,
        let first = try transaction.reading.lookupGroupCID(
          group: group.id, cid: cid, after: oldest)
      {
        return (AcceptedGroupPush(first), [])
      }
      var row = GroupPushRow(
        id: nextID(), sendno: Int64(request.sendno), createdAt: now, members: [])
      var accepted: [(App, AcceptedPush, NewPush)] = []
      for member in pushes {
        let result = try store(member.push, of: member.app, in: transaction)
        if case .success(let (push, stored)) = result { accepted.append((member.app, push, stored)) }
        row.members.append(GroupPushRow.Member(app: member.app.key, result: result.map { $0.0.id }))
      }
      try transaction.insertGroupPush(row, group: group.id, cid: cid)
      return (AcceptedGroupPush(row), accepted)
    } completion: { [self] result in
      switch result {
      case .failure(let error):
        giveBack(members)
        log.error("push to a group not stored", ["reason": .text("\(error.kind)")])
        reply(.failure(error.kind == .overloaded ? .timeout : .internalError))
      case .success(let (accepted, pushes)):
        let sent = Set(pushes.map { $0.0.id })
        giveBack(members.filter { !sent.contains($0.app.id) })
        for (app, push, stored) in pushes { deliver(push, stored, in: app) }
        reply(.success(accepted))
      }
    }
  }

  private func store(
    _ push: Result<NewPush, APIError>, of app: App, in transaction: WriteTransaction
  ) throws(StorageError) -> Result<(AcceptedPush, NewPush), APIError> {
    switch push {
    case .failure(let error): return .failure(error)
    case .success(let push):
      switch try store(push, of: app, in: transaction) {
      case .refused(let error): return .failure(error)
      case .accepted(let accepted, let stored): return .success((accepted, stored))
      case .repeated: return .failure(.internalError)
      }
    }
  }
}
