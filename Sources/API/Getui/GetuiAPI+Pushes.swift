import BorealisBase
import Core
import Model
import Storage

/// The target of a push.
struct PushTarget: Sendable {
  /// Everybody, or conditions on tags, aliases or registrations.
  let audience: Audience
  /// The platforms that the target is limited to; nil for all.
  var platforms: PlatformSet?

  /// Every device.
  static let everybody = PushTarget(audience: .all)

  /// The devices with a tag.
  static func tag(_ tag: String) -> PushTarget {
    PushTarget(audience: .filter(AudienceFilter(tags: [tag])))
  }

  init(audience: Audience, platforms: PlatformSet? = nil) {
    (self.audience, self.platforms) = (audience, platforms)
  }

  /// The devices of CIDs or aliases. The CID of an imported device stands for its registration.
  init(_ names: [String], by kind: TargetName, of app: App) {
    let filter =
      switch kind {
      case .alias: AudienceFilter(aliases: names)
      case .cid:
        AudienceFilter(
          registrationIDs: names.allSatisfy { RegistrationID($0) != nil }
            ? names : names.map { ImportedID.registrationID($0, in: app.key).text })
      }
    self.init(audience: .filter(filter))
  }

  /// The devices that match now, whether or not they may get pushes.
  func members(in app: App) -> NumberSet {
    app.directory.resolve(audience, platforms: platforms ?? .all)?.numbers ?? NumberSet()
  }
}

/// The kind of name that a target has.
enum TargetName: String, Sendable {
  case cid, alias
}

extension GetuiAPI {
  /// Reads the body of a call, or a part of it, that makes tasks of a kind.
  func read(
    _ fields: GetuiFields, of call: GetuiCall, as kind: GetuiTaskID.Kind, for app: App
  ) throws(GetuiError) -> PushBody {
    var body = try PushBody(fields, as: kind, longestLife: app.plan.maxTimeToLive, zone: router.zone) {
      tokens.digest(of: $0, for: app)
    }
    body.trace = call.log.trace
    return body
  }

  /// Makes the push for acceptance from a push object without audience.
  func request(_ push: JSONObject, to target: PushTarget) throws(GetuiError) -> AcceptRequest {
    let push = try Self.narrowed(push, to: target.platforms)
    do throws(APIError) {
      let request = try PushRequest.parse(push, to: target.audience, rules: gateway.pushRules.forGetui)
      return AcceptRequest(request, object: Self.object(push, to: target.audience))
    } catch {
      throw GetuiError(error)
    }
  }

  /// The push object with its audience, as JSON.
  static func object(_ push: JSONObject, to target: PushTarget) throws(GetuiError) -> [UInt8] {
    object(try narrowed(push, to: target.platforms), to: target.audience)
  }

  /// The same without values for the names, of which there may be a thousand.
  private static func object(_ push: JSONObject, to audience: Audience) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    for member in push.members {
      writer.key(member.key)
      writer.value(member.value)
    }
    audience.write(to: &writer)
    writer.endObject()
    return writer.bytes
  }

  /// The push object without the platforms that are not in a set; nil for all platforms.
  private static func narrowed(
    _ push: JSONObject, to platforms: PlatformSet?
  ) throws(GetuiError) -> JSONObject {
    guard let platforms else { return push }
    var object = push
    let left = (push["platform"]?.array ?? []).filter { name in
      name.string.flatMap { Platform(name: $0) }.map { platforms.contains($0) } ?? false
    }
    guard !left.isEmpty else { throw .invalid("audience.tag", "the push has nothing for that phone_type") }
    object.set("platform", .array(left))
    return object
  }

  /// Carries out a body once for each `request_id`, and passes on what the first request of that name got.
  func send(
    _ body: PushBody, to target: PushTarget, in app: App, isBatch: Bool = false,
    done: @escaping @Sendable (Result<Claim, GetuiError>) -> Void
  ) throws(GetuiError) {
    switch body.content {
    case .push(let push):
      var request = try request(push, to: target)
      request.push.cid = GetuiOrigin.name(ofRequest: body.requestID)
      request.getui = body.origin
      request.isBatch = isBatch
      request.trace = body.trace
      // A push has targets: a name without them is that of a request for nobody.
      accept(request, for: app) { [request] result in
        done(result.map { Claim(id: $0.id, isIgnored: $0.targets == 0, request: request) })
      }
    case .revoke(let old):
      let (id, origin) = (body.requestID, body.origin)
      let most = isBatch ? Self.mostRevokedInBatch : Self.mostRevoked
      findRevocable(old, at: target, in: app, for: (id, origin.digest), most: most) { [self] result in
        switch result {
        case .failure(let error): done(.failure(error))
        case .success(let pushes):
          // The name is claimed first, since another request may have it. A repeated request completes what
          // the first began.
          claim(id, origin, in: app) { [self] result in
            guard case .success(let claim) = result, !claim.isIgnored else { return done(result) }
            recall(pushes, in: app) { done($0.map { _ in claim }) }
          }
        }
      }
    }
  }

  /// Accepts a push, and counts it.
  func accept(
    _ request: AcceptRequest, for app: App,
    done: @escaping @Sendable (Result<AcceptedPush, GetuiError>) -> Void
  ) {
    router.acceptance.accept(request, for: app) { [gateway] result in
      let result = result.mapError { GetuiError($0) }
      gateway.notePush(isAccepted: (try? result.get()) != nil)
      done(result)
    }
  }

  // MARK: Requests without a push

  /// The task that the first request of a name got.
  struct Claim: Sendable {
    let id: MessageID
    /// Whether the request was for nobody, because the tags of its CID did not match.
    let isIgnored: Bool
    /// The push; nil for a request that makes none.
    let request: AcceptRequest?

    init(id: MessageID, isIgnored: Bool, request: AcceptRequest? = nil) {
      (self.id, self.isIgnored, self.request) = (id, isIgnored, request)
    }

    fileprivate init(_ row: CIDRow) { self.init(id: row.id, isIgnored: row.sendno == Self.ignored) }

    /// Stored in the place of JPush's label, which requests of Getui's API do not have.
    fileprivate static let ignored: Int64 = 1
  }

  /// Returns the task of the first request of a name with the same digest; nil if there was none. 20001 for
  /// another digest.
  func findClaim(
    _ requestID: String, _ origin: GetuiOrigin, in app: App,
    done: @escaping @Sendable (Result<Claim?, GetuiError>) -> Void
  ) {
    store.read { transaction throws(StorageError) in
      try transaction.pushes.lookupCID(app: app.id, cid: GetuiOrigin.name(ofRequest: requestID))
    } completion: { result in
      switch result {
      case .failure: done(.failure(.busy))
      case .success(let row?) where !row.isSame(as: origin.digest):
        done(.failure(GetuiError(.requestRepeated)))
      case .success(let row): done(.success(row.map { Claim($0) }))
      }
    }
  }

  /// Gives a request that makes no push of its own a task: a repeated request gets the same one.
  func claim(
    _ requestID: String, _ origin: GetuiOrigin, isIgnored: Bool = false, in app: App,
    done: @escaping @Sendable (Result<Claim, GetuiError>) -> Void
  ) {
    let (name, now, router) = (GetuiOrigin.name(ofRequest: requestID), time.now(), router)
    store.write(of: app.id) { transaction throws(StorageError) -> Claim? in
      if let known = try transaction.pushes.lookupCID(app: app.id, cid: name) {
        return known.isSame(as: origin.digest) ? Claim(known) : nil
      }
      // Stored messages and scheduled pushes keep their names for longer than a day.
      guard try transaction.getui.task(requestID: requestID, app: app.id) == nil else { return nil }
      let id = router.nextMessageID()
      try transaction.pushes.insertCID(
        app: app.id, cid: name, id: id, sendno: isIgnored ? Claim.ignored : 0, at: now,
        digest: origin.digest?.stored)
      return Claim(id: id, isIgnored: isIgnored)
    } completion: { result in
      switch result {
      case .failure: done(.failure(.busy))
      case .success(nil): done(.failure(GetuiError(.requestRepeated)))
      case .success(let claim?): done(.success(claim))
      }
    }
  }

  // MARK: Revoking

  /// The most pushes of a task that one request revokes, by itself and as one of a batch.
  private static let (mostRevoked, mostRevokedInBatch) = (2000, 10)

  /// Finds the pushes of a task that went to nobody outside an audience: a push can only be recalled for all
  /// its devices. 20001 if there is none, or if the task has more than `most`. For a repeated request it
  /// finds, among the pushes that existed at the first one, those left, which may be none; 20001 if another
  /// request has its name.
  func findRevocable(
    _ task: GetuiTaskID, at target: PushTarget, in app: App,
    for request: (id: String, digest: RequestDigest?)? = nil, most: Int = mostRevoked,
    done: @escaping @Sendable (Result<[MessageID], GetuiError>) -> Void
  ) {
    let isForAll = target.audience == .all && target.platforms == nil
    let audience = isForAll ? NumberSet() : target.members(in: app)
    store.read { transaction throws(StorageError) -> Result<([MessageID], Bool), GetuiError> in
      var known: CIDRow?
      if let request {
        let name = GetuiOrigin.name(ofRequest: request.id)
        known = try transaction.pushes.lookupCID(app: app.id, cid: name)
      }
      if let known, !known.isSame(as: request?.digest) { return .failure(GetuiError(.requestRepeated)) }
      let end = known?.id ?? MessageID(UInt64(Int64.max))
      var pushes = try transaction.getui.pushes(ofTask: task.id, app: app.id, below: end, limit: most + 1)
      guard known != nil || pushes.count <= most else {
        return .failure(Self.notRevocable("the task has more than \(most) pushes"))
      }
      if pushes.isEmpty { pushes = [task.id] }
      return .success((pushes.filter { $0 < end }, known != nil))
    } completion: { [self] result in
      switch result.mapError({ _ in .busy }).flatMap({ $0 }) {
      case .failure(let error): done(.failure(error))
      case .success(let (pushes, isRepeated)):
        findRevocable(pushes, at: isForAll ? nil : audience, in: app) { result in
          guard case .success(let found) = result else { return done(.failure(.busy)) }
          guard isRepeated || !found.isEmpty else {
            return done(
              .failure(Self.notRevocable("it names no task of which a push went to this audience alone")))
          }
          done(.success(found))
        }
      }
    }
  }

  /// Those of some pushes that went to nobody outside an audience; nil stands for everybody.
  private func findRevocable(
    _ pushes: [MessageID], at audience: NumberSet?, in app: App,
    done: @escaping @Sendable (Result<[MessageID], StorageError>) -> Void
  ) {
    store.read(inTurnOf: app.id, each: pushes) { transaction, id throws(StorageError) -> MessageID? in
      guard let push = try transaction.pushes.audience(of: id, app: app.id) else { return nil }
      guard let audience else { return id }
      let targets =
        push.targets.flatMap { NumberSet(serialized: $0) } ?? NumberSet(push.target.map { [$0] } ?? [])
      let others = targets.subtracting(audience).members().contains { app.directory.identity($0) != nil }
      return others ? nil : id
    } completion: {
      done($0)
    }
  }

  private static func notRevocable(_ reason: String) -> GetuiError {
    .invalid("push_message.revoke.old_task_id", reason)
  }

  /// Pushes of a task that are read at a time.
  private static let recallsInPage = 2000

  /// Recalls all pushes of a stopped task, to which no more come: first those that devices may still get,
  /// then those whose time to live is over, which devices may still show. A repetition goes on where an error
  /// ended the first. Gives the number of nodes that have not confirmed it, at most of one push.
  func recallAll(
    ofTask task: MessageID, in app: App, done: @escaping @Sendable (Result<Int, GetuiError>) -> Void
  ) {
    let now = time.now()
    let open = Timestamp(milliseconds: now.milliseconds + 1)...Timestamp(milliseconds: .max)
    recallAll(ofTask: task, endingIn: open, in: app) { [self] result in
      guard case .success(let unconfirmed) = result else { return done(result) }
      let over = Timestamp(milliseconds: 0)...now
      recallAll(ofTask: task, endingIn: over, unconfirmed: unconfirmed, in: app, done: done)
    }
  }

  private func recallAll(
    ofTask task: MessageID, endingIn moments: ClosedRange<Timestamp>, from first: MessageID = MessageID(0),
    unconfirmed: Int = 0, in app: App, done: @escaping @Sendable (Result<Int, GetuiError>) -> Void
  ) {
    store.read(inTurnOf: app.id) { transaction throws(StorageError) in
      try transaction.getui.recallablePushes(
        ofTask: task, app: app.id, from: first, endingIn: moments, limit: Self.recallsInPage)
    } completion: { [self] result in
      guard case .success(let pushes) = result else { return done(.failure(.busy)) }
      guard let last = pushes.last else { return done(.success(unconfirmed)) }
      router.deliveries.recall(pushes[...], in: app) { [self] result in
        guard case .success(let recalled) = result else { return done(.failure(.busy)) }
        let most = max(unconfirmed, recalled.unconfirmed)
        recallAll(
          ofTask: task, endingIn: moments, from: MessageID(last.rawValue + 1), unconfirmed: most, in: app,
          done: done)
      }
    }
  }

  /// Recalls pushes, and passes over those that are gone; 20001 if all are. Gives the same number.
  func recall(
    _ pushes: [MessageID], in app: App, done: @escaping @Sendable (Result<Int, GetuiError>) -> Void
  ) {
    router.deliveries.recall(pushes[...], in: app) { result in
      switch result {
      case .failure: done(.failure(.busy))
      case .success(let recalled):
        let isUnknown = recalled.known == 0 && !pushes.isEmpty
        done(isUnknown ? .failure(.unknownTask) : .success(recalled.unconfirmed))
      }
    }
  }
}
