import BorealisBase
import Core
import HTTP
import Model
import Synchronization

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
    guard let app = call.app else { return }
    let hasPlace = gateway.batches.run(for: app.id) { [self] done in
      let isTaken = gateway.background.run(for: app.id.rawValue) { [self] in
        guard let entries = entries(call) else { return done() }
        accept(entries, call, app, by: key, done)
      }
      guard !isTaken else { return }
      call.fail(.timeout)
      done()
    }
    if !hasPlace { call.fail(.timeout) }
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
    let answers = BatchAnswers(entries.map(\.key)) { [call] in
      done()
      call.ignoring($1).answer(200, $0)
    }
    for (index, entry) in entries.enumerated() {
      guard admission.isAdmitted[index] else {
        gateway.limited.add()
        gateway.refused.add()
        answers.set(index, .failure(.rateExceeded))
        continue
      }
      let request: AcceptRequest
      do throws(APIError) {
        request = try self.request(entry, by: key, app)
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
}

/// Collects the outcomes of a batch's entries, in their order, and answers when all are complete.
private final class BatchAnswers: Sendable {
  private struct State: Sendable {
    var results: [Result<MessageID, APIError>?]
    var missing: Int
    var ignored: [String] = []
  }

  private let names: [String]
  private let state: Mutex<State>
  private let answer: @Sendable (_ body: [UInt8], _ ignored: [String]) -> Void

  init(_ names: [String], answer: @escaping @Sendable ([UInt8], [String]) -> Void) {
    self.names = names
    self.answer = answer
    state = Mutex(State(results: Array(repeating: nil, count: names.count), missing: names.count))
  }

  /// Adds members of an entry that have no effect, before the entry's outcome is set.
  func ignore(_ names: [String]) {
    guard !names.isEmpty else { return }
    state.withLock { state in
      for name in names where state.ignored.count < IgnoredMembers.most && !state.ignored.contains(name) {
        state.ignored.append(name)
      }
    }
  }

  /// Sets one, from any thread; each once.
  func set(_ index: Int, _ result: Result<MessageID, APIError>) {
    let complete = state.withLock { state -> State? in
      state.results[index] = result
      state.missing -= 1
      return state.missing == 0 ? state : nil
    }
    if let complete { answer(json(complete.results), complete.ignored) }
  }

  private func json(_ results: [Result<MessageID, APIError>?]) -> [UInt8] {
    var writer = JSONWriter(capacity: 96 * results.count)
    writer.beginObject()
    for case (let name, let result?) in zip(names, results) {
      writer.key(name)
      writer.beginObject()
      switch result {
      case .success(let id): writer.member("msg_id", id.text)
      case .failure(let error): error.writeMember(to: &writer)
      }
      writer.endObject()
    }
    writer.endObject()
    return writer.bytes
  }
}
