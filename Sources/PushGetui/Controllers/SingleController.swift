import PushBase
import PushDomain
import PushGateway
import PushHTTP
import PushJSON
import PushRouter
import PushStorage
import Synchronization

/// Pushes to one CID or one alias, by themselves and many in a request.
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
      let body = try PushBody(fields, as: .single, zone: router.zone)
      let target = try Self.target(fields, by: name, in: app)
      try api.send(body, to: PushTarget([target], by: name, of: app), in: app) { result in
        Self.answer(call, result.map { ($0, false) }, target, by: name, app)
      }
    }
  }

  /// The only name of an audience.
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

  private static func answer(
    _ call: GetuiCall, _ result: Result<(MessageID, isIgnored: Bool), GetuiError>, _ target: String,
    by name: TargetName, _ app: App
  ) {
    switch result {
    case .failure(let error): call.fail(error)
    case .success(let (id, isIgnored)):
      call.answer { writer in
        writer.beginObject()
        writer.key(GetuiTaskID(.single, id).text)
        TargetStatus.write([target], by: name, of: app, ignored: isIgnored ? [target] : [], to: &writer)
        writer.endObject()
      }
    }
  }

  // MARK: By tags

  /// `POST /push/single/cid_by_tag`: to a CID if its tags are as wanted, else to nobody.
  private func pushByTag(_ call: GetuiCall, _ app: App) {
    attemptPush(call) { () throws(GetuiError) in
      let fields = try call.body()
      let body = try PushBody(fields, as: .single, zone: router.zone)
      guard let audience = try fields.fields("audience") else { throw .missing("audience") }
      let choices = try TaggedCID.list(audience, most: 1)
      guard let choice = choices.first else { throw .missing(audience.name(TaggedCID.key)) }
      let isMeant = choice.isMeant(try app.device(choice.cid), in: app)
      let isPush = if case .push = body.content { true } else { false }
      let done: @Sendable (Result<MessageID, GetuiError>) -> Void = { result in
        guard isPush, case .success(let id) = result else {
          return Self.answer(call, result.map { ($0, !isMeant) }, choice.cid, by: .cid, app)
        }
        // Of a repeated request that counts which was done, whatever the tags are now.
        api.store.read { transaction throws(StorageError) in
          try transaction.pushes.audience(of: id, app: app.id) == nil
        } completion: { isIgnored in
          let result = isIgnored.map { (id, isIgnored: $0) }.mapError { _ in GetuiError.busy }
          Self.answer(call, result, choice.cid, by: .cid, app)
        }
      }
      guard isMeant else { return api.claim(body.requestID, body.origin, in: app, done: done) }
      try api.send(body, to: PushTarget([choice.cid], by: .cid, of: app), in: app, done: done)
    }
  }

  // MARK: Batches

  /// Messages of a batch.
  private static let mostMessages = 200

  private func pushBatch(_ call: GetuiCall, _ app: App, by name: TargetName) {
    let isTaken = api.background.run(for: app.id.rawValue) { parseBatch(call, app, by: name) }
    if !isTaken { call.fail(.busy) }
  }

  /// Every message is accepted or refused by itself. The call itself was counted as the first of them.
  private func parseBatch(_ call: GetuiCall, _ app: App, by name: TargetName) {
    call.attempt { () throws(GetuiError) in
      let fields = try call.body()
      try fields.allow(["is_async", "msg_list"])
      let isAsync = try fields.flag("is_async") == true
      guard let list = try fields.array("msg_list", most: Self.mostMessages), !list.isEmpty else {
        throw .missing("msg_list")
      }
      let allowed = 1 + api.gateway.takeMorePushes(list.count - 1, of: app)
      var (names, shown): (Set<String>, Set<String>) = ([], [])
      // All are on their way to the writer before the first is answered, so that they share its commits.
      let answers = BatchAnswers(count: list.count) { [call] in
        isAsync ? call.answer() : Self.answer(call, $0, by: name, app)
      }
      for (index, value) in list.enumerated() {
        var entry = BatchEntry(place: index)
        do throws(GetuiError) {
          guard let object = value.object else { throw .wrongType("msg_list[\(index)]") }
          let message = GetuiFields(object)
          // What is refused is told under its name, unless an earlier message has that.
          if let id = object["request_id"]?.string, BatchEntry.canShow(id), shown.insert(id).inserted {
            entry.requestID = id
          }
          let named = object["audience"]?[name.rawValue]?.array?.first?.string
          entry.target = named.flatMap { BatchEntry.canShow($0) ? $0 : nil }
          guard index < allowed else { throw .callsLimited }
          let body = try PushBody(message, as: .single, zone: router.zone)
          guard names.insert(body.requestID).inserted else { throw GetuiError(.requestRepeated) }
          let target = try Self.target(message, by: name, in: app)
          entry.target = target
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
  }

  /// `{taskid:{cid:status}}`; what was refused stands under its `request_id`, with the reason as the status of its target.
  private static func answer(
    _ call: GetuiCall, _ results: [(BatchEntry, Result<MessageID, GetuiError>)], by name: TargetName,
    _ app: App
  ) {
    call.answer { writer in
      writer.beginObject()
      for (entry, result) in results {
        switch result {
        case .success(let id):
          writer.key(GetuiTaskID(.single, id).text)
          TargetStatus.write([entry.target ?? ""], by: name, of: app, to: &writer)
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

/// What is known of a message of a batch.
private struct BatchEntry: Sendable {
  let place: Int
  var requestID: String?
  var target: String?

  init(place: Int) { self.place = place }

  /// Whether an answer repeats a name.
  static func canShow(_ name: String) -> Bool { (1...256).contains(name.utf8.count) }

  /// What it is called if it does not say.
  var name: String { "msg_list[\(place)]" }
}

/// Gathers the outcome of the messages of a batch, in their order, and answers when all are there.
private final class BatchAnswers: Sendable {
  typealias Outcome = (BatchEntry, Result<MessageID, GetuiError>)

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

  /// Sets one, from any thread; each once.
  func set(_ entry: BatchEntry, _ result: Result<MessageID, GetuiError>) {
    let complete = state.withLock { state -> [Outcome?]? in
      state.outcomes[entry.place] = (entry, result)
      state.missing -= 1
      return state.missing == 0 ? state.outcomes : nil
    }
    if let complete { answer(complete.compactMap { $0 }) }
  }
}
