import BorealisBase
import Model
import Storage

/// What a push with a canary starts: those of its audience who get it later, or not at all.
struct CanaryStart: Sendable {
  let terms: Canary
  /// The push object for the rest, JSON in UTF-8.
  let object: [UInt8]
  let rest: NumberSet

  /// Why too few of those who would get it first are left, by limits for a day and quiet hours; nil if they
  /// are enough, or if nobody was meant.
  func fault(left count: Int) -> APIError? {
    guard !rest.isEmpty, count < Canary.fewestDevices else { return nil }
    return .invalidValue(
      "options.canary: limits for a day and quiet hours leave \(count) of the devices that would get it "
        + "first, fewer than \(Canary.fewestDevices). Raise share, or send at another time")
  }

  /// Stores it with the push to the share.
  func store(
    _ id: MessageID, of app: App, _ sender: PushSender, at now: Timestamp, in transaction: WriteTransaction
  ) throws(StorageError) {
    try transaction.canaries.insert(
      CanaryRow(
        id, app: app.id, terms,
        rest: CanaryRow.Rest(body: object, members: rest.serialized(), count: rest.count), sender: sender,
        at: now))
  }
}

extension CanaryRow {
  /// The push to the rest, by the rules of now; `object` is what was kept of the push to the share.
  func request(for object: [UInt8]?, by rules: PushRules) throws(APIError) -> AcceptRequest {
    guard let json = try? parseJSON(rest.body) else { throw .internalError }
    var push = try PushRequest.parse(json, rules: rules)
    push.cid = nil
    // Who is meant is known. Reports name the audience, if it was kept.
    push.audience = object.flatMap { Audience(recorded: $0) } ?? .filter(AudienceFilter())
    var request = AcceptRequest(push, from: sender, object: object)
    // The push was, as a whole.
    (request.isApproved, request.isRest) = (true, true)
    return request
  }
}
