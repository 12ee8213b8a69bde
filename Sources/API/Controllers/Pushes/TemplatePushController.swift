import BorealisBase
import Core
import HTTP
import Model

/// Pushes of a template, many in one request, each with its own audience and values (JPush REST v3, "push
/// templates").
struct TemplatePushController: GatewayController {
  let gateway: Gateway

  static let routes: [Gateway.Route] = [
    route(.push, "POST", "/v3/push/template", body: .batch) { $0.push($1) },
    route(.push, "POST", "/v3/push/template/schedule", body: .batch) { $0.schedule($1) },
  ]

  /// Most pushes in one request.
  static let mostEntries = 1000

  /// What a request asks for.
  private struct Order: Sendable {
    let template: Int64
    let entries: [Entry]
    /// The name of the schedules, and when they fire; nil for pushes that are made now.
    var plan: (name: String, trigger: ScheduleTrigger)?
  }

  /// One push of it.
  private struct Entry: Sendable {
    /// The push object.
    let push: JSONObject
    /// What the answer names it by.
    let trace: String?
  }

  /// How the answer says what became of the entries: the names of its list, and of the number of each.
  private struct AnswerForm<Value: Sendable>: Sendable {
    let list, id: String
    let text: @Sendable (Value) -> String
  }

  /// Makes the pushes now.
  private func push(_ call: GatewayCall) {
    let form = AnswerForm<MessageID>(list: "push_list", id: "message_id") { $0.text }
    run(call, form) { app, _, entry, answers, index throws(APIError) in
      let parsed = try PushRequest.parse(
        .object(entry.push), rules: gateway.pushRules(of: app), audience: .any)
      answers.ignore(parsed.ignored)
      var request = AcceptRequest(parsed, isBatch: true)
      request.trace = call.log.trace
      router.acceptance.accept(request, for: app) { [gateway] result in
        gateway.notePush(isAccepted: (try? result.get()) != nil)
        answers.set(index, result.map(\.id))
      }
    }
  }

  /// Makes a schedule for each, all with one name and one trigger.
  private func schedule(_ call: GatewayCall) {
    let form = AnswerForm<String>(list: "schedule_list", id: "schedule_id") { $0 }
    run(call, form, isLater: true) { app, order, entry, answers, index throws(APIError) in
      guard let plan = order.plan else { throw .internalError }
      let push = try ScheduledPush(.object(entry.push), rules: gateway.pushRules(of: app))
      answers.ignore(push.ignored)
      let request = ScheduleRequest(cid: nil, name: plan.name, trigger: plan.trigger, push: push)
      router.schedules.create(request, named: Gateway.uuid(), in: app) { result in
        answers.set(index, result.map(\.id))
      }
    }
  }

  /// Handles the entries of a request for which the app has calls left, each by itself.
  private func run<Value: Sendable>(
    _ call: GatewayCall, _ form: AnswerForm<Value>, isLater: Bool = false,
    _ body: @escaping @Sendable (App, Order, Entry, EntryAnswers<Value>, Int) throws(APIError) -> Void
  ) {
    gateway.runBatch(call) { app, done in
      guard let order = order(call, of: app, isLater: isLater) else { return done() }
      let admission = gateway.admitBatch(order.entries.map { _ in nil }, of: app)
      var call = call
      if let budget = admission.budget { call.budget = budget }
      let answers = EntryAnswers<Value>(order.entries.count) { [call] outcomes, ignored in
        done()
        call.ignoring(ignored).answer(200, Self.answer(outcomes, to: order, form))
      }
      for (index, entry) in order.entries.enumerated() {
        do throws(APIError) {
          guard admission.isAdmitted[index] else {
            gateway.limited.add()
            throw .rateExceeded
          }
          try body(app, order, entry, answers, index)
        } catch {
          gateway.refused.add()
          // What is `keys` here is `template.values` of the push object.
          let message = error.message.replacing("template.values", with: "keys")
          answers.set(index, .failure(error.saying(message)))
        }
      }
    }
  }

  private static func answer<Value: Sendable>(
    _ outcomes: [EntryAnswers<Value>.Outcome], to order: Order, _ form: AnswerForm<Value>
  ) -> [UInt8] {
    coded { writer in
      writer.key(form.list)
      writer.beginArray()
      for (entry, outcome) in zip(order.entries, outcomes) {
        writer.beginObject()
        switch outcome {
        case .success(let value):
          writer.member("code", 0)
          writer.member("message", "success")
          writer.member(form.id, form.text(value))
        case .failure(let error):
          writer.member("code", error.code)
          writer.member("message", error.message)
        }
        if let trace = entry.trace { writer.member("trace_id", trace) }
        writer.endObject()
      }
      writer.endArray()
    }
  }

  // MARK: The body

  /// What the body asks for; answers the call itself if it is not valid.
  private func order(_ call: GatewayCall, of app: App, isLater: Bool) -> Order? {
    let json = call.body(limits: JSONLimits(maxBytes: call.bodyBytes, maxMembers: 500_000))
    guard let json else { return nil }
    do throws(APIError) {
      guard let object = json.object else { throw .invalidValue("The body must be a JSON object") }
      let fields = Fields(object)
      try fields.allow(isLater ? ["id", "params", "schedule_name", "trigger"] : ["id", "params"])
      guard let given = fields["id"] else { throw fields.missing("id") }
      guard let id = given.int64 ?? given.string.flatMap({ Int64($0) }), app.template(id) != nil else {
        throw .invalidValue("id is not that of a template of the app")
      }
      guard let params = fields["params"] else { throw fields.missing("params") }
      guard let elements = params.array else { throw .invalidValue("params must be a JSON array") }
      guard elements.count <= Self.mostEntries else {
        throw .invalidValue("params has more than \(Self.mostEntries) entries")
      }
      var order = Order(template: id, entries: try Self.entries(elements, template: id))
      if isLater { order.plan = try Self.plan(fields) }
      return order
    } catch {
      call.fail(error)
      return nil
    }
  }

  private static func plan(_ fields: Fields) throws(APIError) -> (name: String, trigger: ScheduleTrigger) {
    guard let name = fields["schedule_name"] else { throw fields.missing("schedule_name") }
    guard let trigger = fields["trigger"] else { throw fields.missing("trigger") }
    // As in a request for a schedule.
    let update = try ScheduleUpdate.parse(["name": name, "trigger": trigger])
    guard let name = update.name, let trigger = update.trigger else { throw fields.missing("trigger") }
    return (name, trigger)
  }

  private static func entries(
    _ elements: [JSONValue], template: Int64
  ) throws(APIError) -> [Entry] {
    var entries: [Entry] = []
    for (index, element) in elements.enumerated() {
      guard let object = element.object else { throw .invalidValue("params[\(index)] must be a JSON object") }
      let fields = Fields(object, path: "params[\(index)]")
      try fields.allow(["audience", "keys", "trace_id", "options", "geofence"])
      if let geofence = fields["geofence"], !geofence.asksForNothing {
        throw .notPermitted("\(fields.name("geofence")) is not supported")
      }
      let trace = try fields.string("trace_id")
      guard trace?.utf8.count ?? 0 <= 255 else {
        throw fields.invalid("trace_id", "is longer than 255 bytes")
      }
      var push = JSONObject()
      push.set("platform", "all")
      for key in ["audience", "options"] { if let value = fields[key] { push.set(key, value) } }
      let values = fields["keys"] ?? .object(JSONObject())
      push.set("template", ["id": .number(JSONNumber(template)), "values": values])
      entries.append(Entry(push: push, trace: trace))
    }
    return entries
  }
}
