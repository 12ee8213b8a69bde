import BorealisBase
import Core
import HTTP
import Model

/// Serves pushes to everybody and to tags, immediate and scheduled.
struct GetuiPushController: GetuiController {
  let api: GetuiAPI

  static let routes: [GetuiAPI.Route] = [
    route(.push, "POST", "/push/all") { $0.push($1, $2, to: Self.everybody) },
    route(.push, "POST", "/push/tag") { $0.push($1, $2, to: Self.tags) },
    route(.push, "POST", "/push/fast_custom_tag") { $0.push($1, $2, to: Self.fastTag) },
  ]

  private func push(
    _ call: GetuiCall, _ app: App, to target: (GetuiFields) throws(GetuiError) -> PushTarget
  ) {
    attemptPush(call) { () throws(GetuiError) in
      let fields = try call.body()
      let body = try api.read(fields, of: call, as: .app, for: app)
      let target = try target(fields)
      let call = call.ignoring(fields)
      let done: @Sendable (Result<MessageID, GetuiError>) -> Void = { result in
        switch result {
        case .failure(let error): call.fail(error)
        case .success(let id):
          call.answer { writer in
            writer.beginObject()
            writer.member("taskid", GetuiTaskID(.app, id).text)
            writer.endObject()
          }
        }
      }
      if let moment = body.moment, case .push(let push) = body.content {
        return try schedule(body, try GetuiAPI.object(push, to: target), at: moment, app, done)
      }
      guard body.isCostly else { return try send(body, to: target, in: app, done) }
      let isAccepted = api.background.run(for: app.id.rawValue) {
        attemptPush(call) { () throws(GetuiError) in try send(body, to: target, in: app, done) }
      }
      if !isAccepted { throw .busy }
    }
  }

  private func send(
    _ body: PushBody, to target: PushTarget, in app: App,
    _ done: @escaping @Sendable (Result<MessageID, GetuiError>) -> Void
  ) throws(GetuiError) {
    try api.send(body, to: target, in: app) { done($0.map(\.id)) }
  }

  private func schedule(
    _ body: PushBody, _ push: [UInt8], at moment: Timestamp, _ app: App,
    _ done: @escaping @Sendable (Result<MessageID, GetuiError>) -> Void
  ) throws(GetuiError) {
    let scheduled: ScheduledPush
    do throws(APIError) {
      scheduled = try ScheduledPush(stored: push, rules: api.gateway.pushRules.forGetui)
    } catch {
      throw GetuiError(error)
    }
    let task = GetuiTimedPush(
      requestID: body.requestID, origin: body.origin, moment: moment, push: scheduled)
    router.schedules.create(task, named: Gateway.uuid(), in: app) { done($0.mapError { GetuiError($0) }) }
  }

  private static func everybody(_ body: GetuiFields) throws(GetuiError) -> PushTarget {
    guard body["audience"] == "all" else { throw .invalid("audience", "it must be \"all\"") }
    return .everybody
  }

  private static func fastTag(_ body: GetuiFields) throws(GetuiError) -> PushTarget {
    guard let audience = try body.fields("audience") else { throw .missing("audience") }
    try audience.allow(["fast_custom_tag"])
    let tag = try audience.required("fast_custom_tag")
    try GetuiError.check(tag: tag, at: audience.name("fast_custom_tag"))
    return .tag(tag)
  }

  static func tags(_ body: GetuiFields) throws(GetuiError) -> PushTarget {
    guard let audience = try body.fields("audience") else { throw .missing("audience") }
    return try TagConditions(audience).target
  }
}
