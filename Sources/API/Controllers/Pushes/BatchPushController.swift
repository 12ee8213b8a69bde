import BorealisBase
import Core
import HTTP
import Model

/// Many pushes to one device or alias each, in one request (JPush REST v3, "batch single push").
struct BatchPushController: GatewayController {
  let gateway: Gateway

  static let routes: [Gateway.Route] = [
    route(.push, "POST", "/v3/push/batch/regid/single", body: .batch) {
      $0.pushBatch($1, by: "registration_id")
    },
    route(.push, "POST", "/v3/push/batch/alias/single", body: .batch) { $0.pushBatch($1, by: "alias") },
  ]

  /// Most pushes in one request.
  static let batchEntries = 1000

  /// `POST /v3/push/batch/…/single`: `key` is the member of the audience for the `target`. An app's batches
  /// are taken one after the other, so that the writer has one of them between pushes of others.
  private func pushBatch(_ call: GatewayCall, by key: String) {
    gateway.runBatch(call) { app, done in
      guard let entries = entries(call) else { return done() }
      accept(entries, call, app, by: key, done)
    }
  }

  /// The entries of a body; answers the call itself if it is not valid.
  private func entries(_ call: GatewayCall) -> [JSONObject.Member]? {
    guard let json = call.body(limits: JSONLimits(maxBytes: call.bodyBytes, maxMembers: 500_000)) else {
      return nil
    }
    do throws(APIError) {
      return try Self.entries(json)
    } catch {
      call.fail(error)
      return nil
    }
  }

  private func accept(
    _ entries: [JSONObject.Member], _ call: GatewayCall, _ app: App, by key: String,
    _ done: @escaping @Sendable () -> Void
  ) {
    let admission = gateway.admitBatch(entries.map(\.key), of: app)
    var call = call
    if let budget = admission.budget { call.budget = budget }
    // All are queued for the writer before the first is answered, so that they share its commits.
    let answers = EntryAnswers<MessageID>(entries.count) { [call] outcomes, ignored in
      done()
      call.ignoring(ignored).answer(200, Self.answer(zip(entries.map(\.key), outcomes)))
    }
    for (index, entry) in entries.enumerated() {
      guard admission.isAdmitted[index] else {
        gateway.limited.add()
        gateway.refused.add()
        answers.set(index, .failure(.rateExceeded))
        continue
      }
      var request: AcceptRequest
      do throws(APIError) {
        request = try self.request(entry, by: key, app)
        request.trace = call.log.trace
      } catch {
        gateway.refused.add()
        answers.set(index, .failure(error))
        continue
      }
      answers.ignore(request.push.ignored)
      router.acceptance.accept(request, for: app) { [gateway] result in
        switch result {
        case .success: gateway.accepted.add()
        case .failure: gateway.refused.add()
        }
        answers.set(index, result.map(\.id))
      }
    }
  }

  private static func entries(_ json: JSONValue) throws(APIError) -> [JSONObject.Member] {
    guard let object = json.object else { throw .invalidValue("The body must be a JSON object") }
    for member in object.members where member.key != "pushlist" {
      throw .unsupportedKey("\(member.key.prefix(64)) is not supported")
    }
    guard let list = object["pushlist"], list != .null else { throw .missing("Missing parameter: pushlist") }
    guard let entries = list.object else { throw .invalidValue("pushlist must be a JSON object") }
    guard !entries.isEmpty else { throw .missing("Missing parameter: pushlist has no entry") }
    guard entries.count <= batchEntries else {
      throw .invalidValue("pushlist has more than \(batchEntries) entries")
    }
    return entries.members
  }

  /// The push of an entry: its key is the `cid`, its `target` the only value of the audience.
  private func request(
    _ entry: JSONObject.Member, by key: String, _ app: App
  ) throws(APIError) -> AcceptRequest {
    guard var push = entry.value.object else { throw .invalidValue("An entry must be a JSON object") }
    guard Gateway.isCID(entry.key, issuedTo: app.key) else {
      throw .invalidValue("cid was not issued to this app: it must begin with the app key and -")
    }
    for member in push.members where member.key == "audience" || member.key == "cid" {
      throw .unsupportedKey("\(member.key) is not supported")
    }
    // The rest stays unchanged: rebuilding an object takes quadratic time.
    guard let target = push.remove("target"), target != .null else {
      throw .missing("Missing parameter: target")
    }
    guard let name = target.string else { throw .invalidValue("target must be a string") }
    push.set("cid", .string(entry.key))
    var audience = JSONObject()
    audience.set(key, .array([.string(name)]))
    push.set("audience", .object(audience))
    return AcceptRequest(
      try PushRequest.parse(.object(push), rules: gateway.pushRules(of: app)), isBatch: true,
      object: JSONWriter.serialize(.object(push)))
  }

  private static func answer(_ outcomes: some Sequence<(String, Result<MessageID, APIError>)>) -> [UInt8] {
    json { writer in
      for (name, outcome) in outcomes {
        writer.key(name)
        writer.beginObject()
        switch outcome {
        case .success(let id): writer.member("msg_id", id.text)
        case .failure(let error): error.writeMember(to: &writer)
        }
        writer.endObject()
      }
    }
  }
}
