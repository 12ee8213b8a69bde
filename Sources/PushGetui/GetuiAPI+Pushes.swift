import PushBase
import PushDomain
import PushGateway
import PushJSON
import PushRouter
import PushStorage

/// Whom a push is for.
struct PushTarget: Sendable {
  /// The audience of the push object.
  let audience: JSONValue
  /// The platforms that it is narrowed to, nil for all.
  var platforms: PlatformSet?

  /// Every device.
  static let everybody = PushTarget(audience: "all")

  /// The devices with a tag.
  static func tag(_ tag: String) -> PushTarget { PushTarget(audience: ["tag": .array([.string(tag)])]) }

  init(audience: JSONValue, platforms: PlatformSet? = nil) {
    (self.audience, self.platforms) = (audience, platforms)
  }

  /// Those that names stand for. CIDs that were imported stand for registrations of ours.
  init(_ names: [String], by kind: TargetName, of app: App) {
    let values = names.map { name in
      guard kind == .cid, let number = app.registration(name), let device = app.directory.identity(number)
      else { return name }
      return device.id.text
    }
    self.init(audience: .object(JSONObject([kind.key: .array(values.map { .string($0) })])))
  }

  /// Those that are meant now, whether they may get pushes or not.
  func members(in app: App) -> NumberSet {
    guard let audience = Audience(recorded: ["audience": audience]) else { return NumberSet() }
    return app.directory.resolve(audience, platforms: platforms ?? .all)?.numbers ?? NumberSet()
  }
}

/// What a target is named by.
enum TargetName: String, Sendable {
  case cid, alias

  /// The key of the audience in the push object.
  var key: String { self == .cid ? "registration_id" : "alias" }
}

extension GetuiAPI {
  /// A push object without audience as the push that acceptance takes.
  func request(_ push: JSONObject, to target: PushTarget) throws(GetuiError) -> AcceptRequest {
    let object = try Self.object(push, to: target)
    do throws(APIError) {
      let push = try PushRequest.parse(.object(object), rules: gateway.pushRules.forGetui)
      return AcceptRequest(push, object: JSONWriter.serialize(.object(object)))
    } catch {
      throw GetuiError(error)
    }
  }

  /// The push object with its audience.
  static func object(_ push: JSONObject, to target: PushTarget) throws(GetuiError) -> JSONObject {
    var object = push
    object.set("audience", target.audience)
    if let platforms = target.platforms {
      let left = (push["platform"]?.array ?? []).filter { name in
        name.string.flatMap { Platform(name: $0) }.map { platforms.contains($0) } ?? false
      }
      guard !left.isEmpty else { throw .invalid("audience.tag", "the push has nothing for that phone_type") }
      object.set("platform", .array(left))
    }
    return object
  }

  /// Does what a body asks for, once for each `request_id`; tells the number of the task.
  func send(
    _ body: PushBody, to target: PushTarget, in app: App, isBatch: Bool = false,
    done: @escaping @Sendable (Result<MessageID, GetuiError>) -> Void
  ) throws(GetuiError) {
    switch body.content {
    case .push(let push):
      var request = try request(push, to: target)
      request.push.cid = GetuiOrigin.name(ofRequest: body.requestID)
      request.getui = body.origin
      request.isBatch = isBatch
      accept(request, for: app) { done($0.map(\.id)) }
    case .revoke(let old):
      let (id, origin) = (body.requestID, body.origin)
      let most = isBatch ? Self.mostRevokedInBatch : Self.mostRevoked
      findRevocable(old, at: target, in: app, for: (id, origin.digest), most: most) { [self] result in
        switch result {
        case .failure(let error): done(.failure(error))
        case .success(let pushes):
          // Before anything is done, since another request may have the name; a repeated one ends what the first began.
          claim(id, origin, in: app) { [self] result in
            guard case .success = result else { return done(result) }
            recall(pushes[...], in: app) { done($0.map { .failure($0) } ?? result) }
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

  /// The task of a request that makes no push of its own: the same one when it is repeated.
  func claim(
    _ requestID: String, _ origin: GetuiOrigin, in app: App,
    done: @escaping @Sendable (Result<MessageID, GetuiError>) -> Void
  ) {
    let (name, now, router) = (GetuiOrigin.name(ofRequest: requestID), time.now(), router)
    store.write { transaction throws(StorageError) -> MessageID? in
      if let known = try transaction.pushes.lookupCID(app: app.id, cid: name) {
        return known.isSame(as: origin.digest) ? known.id : nil
      }
      // Stored messages and pushes for later keep theirs for longer than a day.
      guard try transaction.getui.task(requestID: requestID, app: app.id) == nil else { return nil }
      let id = router.nextMessageID()
      try transaction.pushes.insertCID(
        app: app.id, cid: name, id: id, sendno: 0, at: now, digest: origin.digest)
      return id
    } completion: { result in
      switch result {
      case .failure: done(.failure(.busy))
      case .success(nil): done(.failure(GetuiError(.requestRepeated)))
      case .success(let id?): done(.success(id))
      }
    }
  }

  // MARK: Taking back

  /// Pushes that a task may have to be taken back; those of a batch share one call.
  private static let (mostRevoked, mostRevokedInBatch) = (2000, 10)

  /// Those pushes of a task that went to nobody but an audience, since a push is taken back whole. 20001 if there is none, or if
  /// the task has more than `most`. Of a repeated request those that were there for the first one, if any; 20001 if another has
  /// its name.
  func findRevocable(
    _ task: GetuiTaskID, at target: PushTarget, in app: App,
    for request: (id: String, digest: [UInt8]?)? = nil, most: Int = mostRevoked,
    done: @escaping @Sendable (Result<[MessageID], GetuiError>) -> Void
  ) {
    let isForAll = target.audience == "all" && target.platforms == nil
    let audience = isForAll ? NumberSet() : target.members(in: app)
    store.read { transaction throws(StorageError) -> Result<[MessageID], GetuiError> in
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
      var found: [MessageID] = []
      for id in pushes where id < end {
        guard let push = try transaction.pushes.audience(of: id, app: app.id) else { continue }
        let targets =
          push.targets.flatMap { NumberSet(serialized: $0) } ?? NumberSet(push.target.map { [$0] } ?? [])
        let others = targets.subtracting(audience).members().contains { app.directory.identity($0) != nil }
        if isForAll || !others { found.append(id) }
      }
      guard known != nil || !found.isEmpty else {
        return .failure(Self.notRevocable("it names no task of which a push went to this audience alone"))
      }
      return .success(found)
    } completion: { result in
      done(result.mapError { _ in .busy }.flatMap { $0 })
    }
  }

  private static func notRevocable(_ reason: String) -> GetuiError {
    .invalid("push_message.revoke.old_task_id", reason)
  }

  /// Takes pushes back, one after the other.
  func recall(
    _ pushes: ArraySlice<MessageID>, in app: App, done: @escaping @Sendable (GetuiError?) -> Void
  ) {
    guard let first = pushes.first else { return done(nil) }
    router.deliveries.recall(first, in: app) { [self] result in
      switch result {
      case .success: recall(pushes.dropFirst(), in: app, done: done)
      case .failure(let error) where error.httpStatus < 500: done(.invalid("taskid"))
      case .failure: done(.busy)
      }
    }
  }
}

/// `{cid:status}` of answers.
enum TargetStatus {
  /// Whether the app of each takes what comes over the direct connection now. A CID is named as it was given. `ignored` are those
  /// that were left out.
  static func write(
    _ names: [String], by kind: TargetName, of app: App, ignored: Set<String> = [],
    to writer: inout JSONWriter
  ) {
    writer.beginObject()
    for name in names {
      switch kind {
      case .cid:
        guard let number = app.registration(name) else { continue }
        write(number, as: name, of: app, isIgnored: ignored.contains(name), to: &writer)
      case .alias:
        for number in app.directory.registrations(alias: name) {
          write(number, as: nil, of: app, to: &writer)
        }
      }
    }
    writer.endObject()
  }

  private static func write(
    _ number: RegistrationNumber, as name: String?, of app: App, isIgnored: Bool = false,
    to writer: inout JSONWriter
  ) {
    guard let device = app.directory.identity(number) else { return }
    let status =
      isIgnored ? "successed_ignore" : app.isReachable(number) ? "successed_online" : "successed_offline"
    writer.member(name ?? device.id.text, status)
  }
}

extension GetuiError {
  /// What acceptance has against a push, in Getui's words.
  init(_ error: APIError) {
    switch error {
    case .noTarget: self = .unknownTarget
    case .blacklisted: self = .appRefused
    case .rateExceeded: self = .callsLimited
    case .taskEnded: self = .taskInvalid(error.message)
    case .broadcastLimit: self = Self(code: 30007, httpStatus: 403, message: error.message)
    default: self = error.httpStatus >= 500 ? .busy : .parameter(error.message)
    }
  }
}
