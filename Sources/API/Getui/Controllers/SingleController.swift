import BorealisBase
import Core
import HTTP
import Model
import Storage
import Synchronization

/// Serves pushes to one CID or one alias, single and in batches.
struct SingleController: GetuiController {
  let api: GetuiAPI

  static let routes: [GetuiAPI.Route] = [
    route(.push, "POST", "/push/single/cid") { $0.push($1, $2, by: .cid) },
    route(.push, "POST", "/push/single/alias") { $0.push($1, $2, by: .alias) },
    route(.push, "POST", "/push/single/cid_by_tag") { $0.pushByTag($1, $2) },
    route(.push, "POST", "/push/single/batch/cid", body: .batch) { $0.pushBatch($1, $2, by: .cid) },
    route(.push, "POST", "/push/single/batch/alias", body: .batch) { $0.pushBatch($1, $2, by: .alias) },
  ]

  // MARK: One

  private func push(_ call: GetuiCall, _ app: App, by name: TargetName) {
    attemptPush(call) { () throws(GetuiError) in
      let fields = try call.body()
      let body = try api.read(fields, of: call, as: .single, for: app)
      let target = try Self.target(fields, by: name, in: app)
      let call = call.ignoring(fields)
      try api.send(body, to: PushTarget([target], by: name, of: app), in: app) { result in
        answer(call, result, target, by: name, app)
      }
    }
  }

  /// Reads the single name of an audience.
  private static func target(
    _ body: GetuiFields, by name: TargetName, in app: App
  ) throws(GetuiError) -> String {
    guard let audience = try body.fields("audience") else { throw .missing("audience") }
    try audience.allow([name.rawValue, "alias_type"])
    guard let names = try audience.texts(name.rawValue, most: 1), let target = names.first else {
      throw .missing(audience.name(name.rawValue))
    }
    if name == .cid { _ = try app.device(target) }
    return target
  }

  private func answer(
    _ call: GetuiCall, _ result: Result<GetuiAPI.Claim, GetuiError>, _ target: String,
    by name: TargetName, _ app: App
  ) {
    switch result {
    case .failure(let error): call.fail(error)
    case .success(let claim):
      let status = status(of: target, by: name, claim, app)
      api.readCIDs(of: status.unnamed, in: app) { cids in
        call.answer { writer in
          writer.beginObject()
          writer.key(GetuiTaskID(.single, claim.id).text)
          status.write([target], cids, to: &writer)
          writer.endObject()
        }
      }
    }
  }

  private func status(
    of target: String, by name: TargetName, _ claim: GetuiAPI.Claim, _ app: App
  ) -> TargetStatus {
    TargetStatus(
      [target], by: name, of: claim.request, ignored: claim.isIgnored ? [target] : [], in: app,
      router.acceptance)
  }

  // MARK: By tags

  /// `POST /push/single/cid_by_tag`: sends to a CID if its tags meet the condition, else to nobody.
  private func pushByTag(_ call: GetuiCall, _ app: App) {
    attemptPush(call) { () throws(GetuiError) in
      let fields = try call.body()
      let body = try api.read(fields, of: call, as: .single, for: app)
      guard let audience = try fields.fields("audience") else { throw .missing("audience") }
      let choices = try TaggedCID.list(audience, most: 1)
      guard let choice = choices.first else { throw .missing(audience.name(TaggedCID.key)) }
      let call = call.ignoring(fields)
      let hasTags = choice.isMeant(try app.device(choice.cid), in: app)
      // The first request fixed the audience; today's tags count only for a new request.
      api.findClaim(body.requestID, body.origin, in: app) { result in
        attemptPush(call) { () throws(GetuiError) in
          let first = try result.get()
          try push(body, to: choice.cid, isMeant: first.map { !$0.isIgnored } ?? hasTags, call, app)
        }
      }
    }
  }

  private func push(
    _ body: PushBody, to cid: String, isMeant: Bool, _ call: GetuiCall, _ app: App
  ) throws(GetuiError) {
    let done: @Sendable (Result<GetuiAPI.Claim, GetuiError>) -> Void = { result in
      answer(call, result, cid, by: .cid, app)
    }
    guard isMeant else { return api.claim(body.requestID, body.origin, isIgnored: true, in: app, done: done) }
    try api.send(body, to: PushTarget([cid], by: .cid, of: app), in: app, done: done)
  }

  // MARK: Batches

  /// The most messages of a batch.
  private static let mostMessages = 200

  /// An app's batches are taken one after the other, so that the writer has one of them between pushes of
  /// others.
  private func pushBatch(_ call: GetuiCall, _ app: App, by name: TargetName) {
    let hasPlace = api.gateway.batches.run(for: app.id) { [self] done in
      let isAccepted = api.background.run(for: app.id.rawValue) {
        do throws(GetuiError) { try accept(call, app, by: name, done) } catch {
          done()
          call.fail(error)
        }
      }
      guard !isAccepted else { return }
      done()
      call.fail(.busy)
    }
    if !hasPlace { call.fail(.busy) }
  }

  /// Accepts or refuses each message separately. Calls `done` after the last of them, or throws.
  private func accept(
    _ call: GetuiCall, _ app: App, by name: TargetName, _ done: @escaping @Sendable () -> Void
  ) throws(GetuiError) {
    let fields = try call.body()
    try fields.allow(["is_async", "msg_list"])
    let isAsync = try fields.flag("is_async") == true
    guard let list = try fields.array("msg_list", most: Self.mostMessages), !list.isEmpty else {
      throw .missing("msg_list")
    }
    let ids = list.map { $0.object?["request_id"]?.string.map { GetuiOrigin.name(ofRequest: $0) } }
    let admission = api.gateway.admitBatch(ids, of: app)
    var (names, shown): (Set<String>, Set<String>) = ([], [])
    // All messages are passed to the writer before the first one is answered, so that they share commits.
    let answers = GetuiBatchAnswers(count: list.count) { [call] in
      done()
      answer(call, $0, by: name, isAsync: isAsync, app)
    }
    for (index, value) in list.enumerated() {
      var entry = BatchEntry(place: index)
      do throws(GetuiError) {
        guard let object = value.object else { throw .wrongType("msg_list[\(index)]", "a JSON object") }
        let message = GetuiFields(object)
        // The answer names a refused message by its `request_id`, unless an earlier message has the same.
        if let id = object["request_id"]?.string, BatchEntry.canShow(id), shown.insert(id).inserted {
          entry.requestID = id
        }
        let named = object["audience"]?[name.rawValue]?.array?.first?.string
        entry.target = named.flatMap { BatchEntry.canShow($0) ? $0 : nil }
        guard admission.isAdmitted[index] else { throw .callsLimited }
        let body = try api.read(message, of: call, as: .single, for: app)
        guard names.insert(body.requestID).inserted else { throw GetuiError(.requestRepeated) }
        let target = try Self.target(message, by: name, in: app)
        entry.target = target
        entry.ignored = message.ignored.names
        let known = entry
        try api.send(body, to: PushTarget([target], by: name, of: app), in: app, isBatch: true) {
          answers.set(known, $0)
        }
      } catch {
        api.gateway.notePush(isAccepted: false)
        answers.set(entry, .failure(error))
      }
    }
  }

  /// Answers `{taskid:{cid:status}}`. A refused message stands under its `request_id`, with the reason as the
  /// status. If all are refused, the answer is the first one's error. With `is_async` there is no `data`
  /// unless a message is refused.
  private func answer(
    _ call: GetuiCall, _ outcomes: [GetuiBatchAnswers.Outcome], by name: TargetName, isAsync: Bool, _ app: App
  ) {
    let ignored = IgnoredMembers()
    for (entry, _) in outcomes { ignored.add(entry.ignored) }
    let call = call.ignoring(ignored.names)
    let errors = outcomes.compactMap { if case .failure(let error) = $0.1 { error } else { nil } }
    if isAsync, errors.isEmpty { return call.answer() }
    if isAsync, errors.count == outcomes.count, let first = errors.first { return call.fail(first) }
    let statuses = outcomes.map { entry, result in
      (try? result.get()).map { status(of: entry.target ?? "", by: name, $0, app) }
    }
    api.readCIDs(of: statuses.flatMap { $0?.unnamed ?? [] }, in: app) { cids in
      call.answer { writer in
        writer.beginObject()
        for ((entry, result), status) in zip(outcomes, statuses) {
          switch result {
          case .success(let claim):
            writer.key(GetuiTaskID(.single, claim.id).text)
            status?.write([entry.target ?? ""], cids, to: &writer)
          case .failure(let error):
            writer.key(entry.requestID ?? entry.name)
            writer.beginObject()
            writer.member(entry.target ?? entry.name, "\(error.code): \(error.message)")
            writer.endObject()
          }
        }
        writer.endObject()
      }
    }
  }
}

/// The place, name and target of a message in a batch.
private struct BatchEntry: Sendable {
  let place: Int
  var requestID: String?
  var target: String?
  /// Members of the message that have no effect.
  var ignored: [String] = []

  init(place: Int) { self.place = place }

  /// Whether an answer may contain a name.
  static func canShow(_ name: String) -> Bool { (1...256).contains(name.utf8.count) }

  /// The name in the answer for a message without a readable one.
  var name: String { "msg_list[\(place)]" }
}

/// Collects the outcomes of the messages of a batch, in their order, and answers when all are known.
private final class GetuiBatchAnswers: Sendable {
  typealias Outcome = (BatchEntry, Result<GetuiAPI.Claim, GetuiError>)

  private struct State: Sendable {
    var outcomes: [Outcome?]
    var missing: Int
  }

  private let state: Mutex<State>
  private let answer: @Sendable ([Outcome]) -> Void

  init(count: Int, answer: @escaping @Sendable ([Outcome]) -> Void) {
    self.answer = answer
    state = Mutex(State(outcomes: Array(repeating: nil, count: count), missing: count))
  }

  /// Sets the outcome of one message, once, on any thread.
  func set(_ entry: BatchEntry, _ result: Result<GetuiAPI.Claim, GetuiError>) {
    let complete = state.withLock { state -> [Outcome?]? in
      state.outcomes[entry.place] = (entry, result)
      state.missing -= 1
      return state.missing == 0 ? state.outcomes : nil
    }
    if let complete { answer(complete.compactMap { $0 }) }
  }
}
