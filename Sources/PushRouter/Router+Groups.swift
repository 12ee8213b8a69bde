import PushBase
import PushDomain
import PushStorage

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
  /// The push, or why there is none.
  let push: Result<NewPush, APIError>
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
  /// answered and delivered. The request's `cid` is one of the group, its file too.
  public func accept(
    _ request: AcceptRequest, for group: AppGroup,
    reply: @escaping @Sendable (Result<AcceptedGroupPush, APIError>) -> Void
  ) {
    var own = request
    own.cid = nil
    resolve(own, for: group, from: 0, []) { [self, own] members in
      switch members {
      case .failure(let error): reply(.failure(error))
      case .success(let members): store(members, request: own, cid: request.cid, of: group, reply)
      }
    }
  }

  /// Fixes the audience in one app after the other. What may be otherwise at the next try is a failure of all: it must not
  /// become the answer that the request's `cid` stands for.
  private func resolve(
    _ request: AcceptRequest, for group: AppGroup, from index: Int, _ done: [GroupMember],
    _ found: @escaping @Sendable (Result<[GroupMember], APIError>) -> Void
  ) {
    guard index < group.apps.count else {
      found(.success(done))
      return
    }
    let app = group.apps[index]
    @Sendable func go(_ push: Result<NewPush, APIError>) {
      resolve(request, for: group, from: index + 1, done + [GroupMember(app: app, push: push)], found)
    }
    guard !app.isDisabled else {
      go(.failure(.blacklisted))
      return
    }
    resolve(request, in: app, owner: group.key) { [self] result in
      switch result {
      case .failure(let error) where error.httpStatus >= 500: found(.failure(error))
      case .failure(let error): go(.failure(error))
      case .success(let audience): go(prepare(request, to: audience, of: app))
      }
    }
  }

  private func store(
    _ members: [GroupMember], request: AcceptRequest, cid: String?, of group: AppGroup,
    _ reply: @escaping @Sendable (Result<AcceptedGroupPush, APIError>) -> Void
  ) {
    let now = time.now()
    let oldest = now.adding(seconds: -options.cidLifetime)
    store.write {
      [self] transaction throws(StorageError) -> (AcceptedGroupPush, [(App, AcceptedPush, NewPush)]) in
      if let cid, let first = try transaction.lookupGroupCID(group: group.id, cid: cid, after: oldest) {
        return (AcceptedGroupPush(first), [])
      }
      var row = GroupPushRow(
        id: nextID(), sendno: Int64(request.sendno), createdAt: now, members: [])
      var accepted: [(App, AcceptedPush, NewPush)] = []
      for member in members {
        let result = try store(member.push, of: member.app, in: transaction)
        if case .success(let (push, stored)) = result { accepted.append((member.app, push, stored)) }
        row.members.append(GroupPushRow.Member(app: member.app.key, result: result.map { $0.0.id }))
      }
      try transaction.insertGroupPush(row, group: group.id, cid: cid)
      return (AcceptedGroupPush(row), accepted)
    } completion: { [self] result in
      switch result {
      case .failure(let error):
        log.error("push to a group not stored", ["reason": .text("\(error.kind)")])
        reply(.failure(error.kind == .overloaded ? .timeout : .internalError))
      case .success(let (accepted, pushes)):
        let now = time.monotonic()
        for (app, push, stored) in pushes {
          // Apps of a group do not wait for each other: what is more than a plan's speed is paid for by what follows.
          speedPools.charge(push.targets, app: app.id, plan: app.plan, at: now)
          deliver(push, stored, in: app)
        }
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
