import BorealisBase
import Model
import Storage

/// What starts a run of an A/B test: the pushes of its contents but for the first, which it belongs to, and
/// who waits for the winner.
struct ABTestStart: Sendable {
  let test: ABTestUse
  /// With the contents from the second on.
  let others: [NewPush]
  let rest: NumberSet
  /// The IDs of the others, once they are stored.
  private(set) var ids: [MessageID] = []

  init(_ test: ABTestUse, others: [NewPush], rest: NumberSet) {
    (self.test, self.others, self.rest) = (test, others, rest)
  }

  /// Devices that get one of the other contents, or wait for the winner.
  var devices: Int { others.reduce(rest.count) { $0 + $1.audienceCount } }

  /// Stores the run, whose first push has an ID, with the pushes that `insert` stores.
  mutating func store(
    _ first: MessageID, of app: App, by acceptance: Acceptance, _ sender: PushSender, at now: Timestamp,
    in transaction: WriteTransaction, insert: (NewPush, MessageID) throws(StorageError) -> Void
  ) throws(StorageError) {
    ids = []
    for push in others {
      let id = acceptance.ids.next()
      try insert(push, id)
      ids.append(id)
    }
    var run = ABTestRunRow(
      test: test.id, app: app.id, body: ABTestSnapshot(test).stored, rest: (rest.serialized(), rest.count),
      sender: sender, at: now)
    run.lookAt = now.adding(seconds: test.design.secondsOfLook(run.look))
    run.pushes = ([first] + ids).enumerated().map { .init(place: $0 + 1, id: $1) }
    try transaction.abTestRuns.insert(run)
  }
}

/// What is kept of a push to an A/B test, for the winner: the push object, and the test as it was.
struct ABTestSnapshot {
  private let object: JSONObject
  let design: ABTestDesign
  private let test: Int64

  init(_ use: ABTestUse) {
    object = (try? parseJSON(use.object))?.object ?? JSONObject()
    (design, test) = (use.design, use.id)
  }

  /// Reads what was stored; nil if it cannot be read.
  init?(_ row: ABTestRunRow) {
    guard let json = (try? parseJSON(row.body))?.object, let object = json["push"]?.object,
      let test = json["test"]?.object,
      let design = ABTestDesign(recorded: JSONWriter.serialize(.object(test)))
    else { return nil }
    (self.object, self.design, self.test) = (object, design, row.test)
  }

  var stored: [UInt8] {
    var writer = JSONWriter(capacity: 4096)
    writer.beginObject()
    writer.key("push")
    writer.value(.object(object))
    writer.key("test")
    writer.beginObject()
    // Who is meant is known: no names are kept.
    design.write(to: &writer, for: .all)
    writer.endObject()
    writer.endObject()
    return writer.bytes
  }

  /// The push with the content at a place, by the rules of now.
  func request(_ place: Int, by rules: PushRules) throws(APIError) -> PushRequest {
    var rules = rules
    rules.abTest = { [design] _ in design }
    let contents = try PushRequest.parse(.object(object), rules: rules).abTest?.contents ?? []
    guard contents.indices.contains(place) else { throw .internalError }
    var request = contents[place].ofABTest(test)
    request.cid = nil
    return request
  }
}

extension PushRequest {
  /// One of the pushes that a test consists of: it is for those whom the test has chosen, and can neither be
  /// resolved nor start a run.
  func ofABTest(_ test: Int64) -> PushRequest {
    var request = self
    request.abTest = nil
    request.audience = .filter(AudienceFilter(abTest: test))
    return request
  }
}
