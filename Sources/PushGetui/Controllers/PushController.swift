import PushBase
import PushDomain
import PushGateway
import PushHTTP
import PushJSON
import PushRouter
import PushStorage

/// Pushes to one, and to all or some by tags.
struct PushController: GetuiController {
  let api: GetuiAPI

  static let routes: [GetuiAPI.Route] = [
    route(.push, "POST", "/push/single/cid") { $0.pushToOne($1, $2, by: .cid) },
    route(.push, "POST", "/push/single/alias") { $0.pushToOne($1, $2, by: .alias) },
    route(.push, "POST", "/push/all") { $0.pushToMany($1, $2) { _ throws(GetuiError) in "all" } },
    route(.push, "POST", "/push/tag") { $0.pushToMany($1, $2, audience: Self.tags) },
    route(.push, "POST", "/push/fast_custom_tag") { $0.pushToMany($1, $2, audience: Self.fastTag) },
    route(.push, "DELETE", "/task/{taskid}") { $0.stop($1, $2) },
    route(.push, "GET", "/task/detail/{cid}/{taskid}") { _, call, _ in call.fail(.noDetail) },
  ]

  /// What a target is named by.
  enum Name: String {
    case cid, alias

    /// The key of the audience in the push object.
    var key: String { self == .cid ? "registration_id" : "alias" }
  }

  // MARK: One

  private func pushToOne(_ call: GetuiCall, _ app: App, by name: Name) {
    call.attempt { () throws(GetuiError) in
      let fields = try call.body()
      let body = try PushBody(fields, isToMany: false)
      guard let audience = try fields.fields("audience") else { throw .missing("audience") }
      try audience.allow([name.rawValue, "alias_type"])
      guard let names = try audience.texts(name.rawValue, most: 1), let target = names.first else {
        throw .missing(audience.name(name.rawValue))
      }
      if name == .cid { _ = try app.device(target) }
      let request = try request(body, to: Self.audience([target], by: name, of: app))
      api.router.acceptance.accept(request, for: app) { result in
        switch result {
        case .failure(let error): call.fail(GetuiError(error))
        case .success(let push):
          call.answer { writer in
            writer.beginObject()
            writer.key(GetuiTaskID(.single, push.id).text)
            Self.write([target], by: name, of: app, to: &writer)
            writer.endObject()
          }
        }
      }
    }
  }

  /// The audience of names. CIDs that were imported stand for registrations of ours.
  static func audience(_ names: [String], by kind: Name, of app: App) -> JSONValue {
    let values = names.map { name in
      guard kind == .cid, let number = app.registration(name), let device = app.directory.identity(number)
      else {
        return name
      }
      return device.id.text
    }
    return .object(JSONObject([kind.key: .array(values.map { .string($0) })]))
  }

  /// `{cid:status}`: whether the app of each takes what comes over the direct connection now. A CID is named as it was given.
  static func write(_ names: [String], by kind: Name, of app: App, to writer: inout JSONWriter) {
    writer.beginObject()
    for name in names {
      switch kind {
      case .cid: if let number = app.registration(name) { write(number, as: name, of: app, to: &writer) }
      case .alias:
        for number in app.directory.registrations(alias: name) {
          write(number, as: nil, of: app, to: &writer)
        }
      }
    }
    writer.endObject()
  }

  private static func write(
    _ number: RegistrationNumber, as name: String?, of app: App, to writer: inout JSONWriter
  ) {
    guard let device = app.directory.identity(number) else { return }
    writer.member(name ?? device.id.text, app.isReachable(number) ? "successed_online" : "successed_offline")
  }

  // MARK: Many

  private func pushToMany(
    _ call: GetuiCall, _ app: App, audience: (GetuiFields) throws(GetuiError) -> JSONValue
  ) {
    call.attempt { () throws(GetuiError) in
      let fields = try call.body()
      let body = try PushBody(fields, isToMany: true)
      let target = try audience(fields)
      if target == "all", fields["audience"] != "all" { throw .invalid("audience", "it must be \"all\"") }
      var request = try request(body, to: target)
      if body.speed > 0 { try pace(&request, speed: body.speed, app) }
      api.router.acceptance.accept(request, for: app) { result in
        switch result {
        case .failure(let error): call.fail(GetuiError(error))
        case .success(let push):
          call.answer { writer in
            writer.beginObject()
            writer.member("taskid", GetuiTaskID(.app, push.id).text)
            writer.endObject()
          }
        }
      }
    }
  }

  /// Spreads a push over as many minutes as its audience needs at a speed.
  private func pace(_ request: inout AcceptRequest, speed: Int64, _ app: App) throws(GetuiError) {
    let push = request.push
    let count = Int64(app.directory.resolve(push.audience, platforms: push.platforms)?.count ?? 0)
    guard count > speed else { return }
    let minutes = (count + speed * 60 - 1) / (speed * 60)
    guard minutes <= 1400 else {
      throw .invalid("settings.speed", "the push would take more than 1400 minutes")
    }
    request.push.options.bigPushDuration = Int(minutes)
  }

  private static func fastTag(_ body: GetuiFields) throws(GetuiError) -> JSONValue {
    guard let audience = try body.fields("audience") else { throw .missing("audience") }
    try audience.allow(["fast_custom_tag"])
    let tag = try audience.required("fast_custom_tag")
    return ["tag": .array([.string(tag)])]
  }

  /// Conditions with one key are joined by AND like those with different ones.
  static func tags(_ body: GetuiFields) throws(GetuiError) -> JSONValue {
    guard let audience = try body.fields("audience") else { throw .missing("audience") }
    try audience.allow(["tag"])
    guard let list = try audience.array("tag", most: 100), !list.isEmpty else {
      throw .missing("audience.tag")
    }
    var (any, all, none): ([JSONValue], [JSONValue], [JSONValue]) = ([], [], [])
    for (index, value) in list.enumerated() {
      let name = "audience.tag[\(index)]"
      guard let object = value.object else { throw .wrongType(name) }
      let condition = GetuiFields(object, path: name)
      try condition.allow(["key", "values", "opt_type"])
      guard try condition.required("key") == "custom_tag" else { throw .unsupported(condition.name("key")) }
      guard let texts = try condition.texts("values", most: 100), !texts.isEmpty else {
        throw .missing(condition.name("values"))
      }
      let values = texts.map { JSONValue.string($0) }
      switch try condition.text("opt_type") ?? "or" {
      case "and": all += values
      case "not": none += values
      case "or" where values.count == 1: all += values
      case "or":
        guard any.isEmpty else { throw .unsupported("\(condition.name("opt_type")) or, twice") }
        any = values
      default: throw .invalid(condition.name("opt_type"))
      }
    }
    var conditions = JSONObject()
    for (key, values) in [("tag", any), ("tag_and", all), ("tag_not", none)] where !values.isEmpty {
      conditions.set(key, .array(values))
    }
    return .object(conditions)
  }

  // MARK: Requests

  /// A body as the push that acceptance takes. Getui's names of requests have a mark that JPush's cannot have.
  private func request(_ body: PushBody, to audience: JSONValue) throws(GetuiError) -> AcceptRequest {
    var request = try request(body.push, to: audience)
    request.push.cid = "g:" + body.requestID
    return request
  }

  /// A push object without audience as the push that acceptance takes.
  func request(_ push: JSONObject, to audience: JSONValue) throws(GetuiError) -> AcceptRequest {
    var object = push
    object.set("audience", audience)
    var rules = api.gateway.pushRules
    rules.maximumIOSNotification = max(rules.maximumIOSNotification, 4096)
    rules.hasGetuiNames = true
    do throws(APIError) {
      let push = try PushRequest.parse(.object(object), rules: rules)
      return AcceptRequest(push, object: JSONWriter.serialize(.object(object)))
    } catch {
      throw GetuiError(error)
    }
  }

  // MARK: Tasks

  /// `DELETE /task/{taskid}`: of a stored message all pushes, and it cannot be sent any more.
  private func stop(_ call: GetuiCall, _ app: App) {
    let task = GetuiTaskID(call.captures["taskid"] ?? "")
    switch (task?.kind, task?.id) {
    case (.app, let id?): recall([id][...], call, app)
    case (.list, let id?): stop(id, call, app)
    default: call.fail(.invalid("taskid"))
    }
  }

  private func stop(_ task: MessageID, _ call: GetuiCall, _ app: App) {
    let now = api.time.now()
    api.store.write { transaction throws(StorageError) -> [MessageID]? in
      guard try transaction.getui.task(task, app: app.id) != nil else { return nil }
      try transaction.getui.stopTask(task, app: app.id, at: now)
      return try transaction.getui.pushes(ofTask: task, app: app.id, limit: .max)
    } completion: { result in
      switch result {
      case .failure: call.fail(.busy)
      case .success(nil): call.fail(.invalid("taskid"))
      case .success(let pushes?): recall(pushes[...], call, app)
      }
    }
  }

  /// Takes pushes back, one after the other.
  private func recall(_ pushes: ArraySlice<MessageID>, _ call: GetuiCall, _ app: App) {
    guard let first = pushes.first else { return call.answer() }
    router.deliveries.recall(first, in: app) { result in
      switch result {
      case .success: recall(pushes.dropFirst(), call, app)
      case .failure(let error) where error.httpStatus < 500: call.fail(.invalid("taskid"))
      case .failure: call.fail(.busy)
      }
    }
  }
}

extension GetuiError {
  /// 10004: how single messages went is not told here.
  static let noDetail = Self(code: 10004, httpStatus: 401, message: "no permission to query message detail")

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
