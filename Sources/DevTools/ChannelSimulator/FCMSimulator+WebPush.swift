import BorealisBase
import HTTP

/// Requests to subscriptions of browsers.
extension FCMSimulator {
  /// Answers a request to a subscription; nil if no answer comes.
  func push(_ request: HTTPRequest, to id: String, _ now: Timestamp) -> HTTPResponse? {
    var entry = begin("push", at: now)
    entry.set("subscription", .string(id))
    var status = 201
    var reason: String?
    var headers: HTTPHeaders = [:]
    if let rule = rule(.push, id) {
      guard !rule.stalls else {
        entry.set("stalled", true)
        note(entry)
        return nil
      }
      (status, reason) = (rule.status, rule.code ?? "as the script says")
      if let seconds = rule.retryAfter { headers.append("Retry-After", String(seconds)) }
    } else {
      do throws(WebPushSubscriptions.Refusal) {
        let taken = try subscriptions.check(request, for: id, at: now.seconds)
        headers.append("Location", "\(subscriptions.origin)/message/\(lastNumber)")
        headers.append("TTL", String(taken.timeToLive))
        entry.set("ttl", .number(JSONNumber(taken.timeToLive)))
        if let urgency = taken.urgency { entry.set("urgency", .string(urgency)) }
        if let topic = taken.topic { entry.set("topic", .string(topic)) }
        entry.set(
          "message",
          (try? parseJSON(taken.message)) ?? .string(String(decoding: taken.message, as: UTF8.self)))
      } catch {
        (status, reason) = (error.status, error.reason)
      }
    }
    entry.set("status", .number(JSONNumber(status)))
    if let reason { entry.set("code", .string(reason)) }
    note(entry)
    guard let reason else { return HTTPResponse(status: status, headers: headers, body: []) }
    headers.append("Content-Type", "application/json")
    return HTTPResponse(
      status: status, headers: headers, body: JSONWriter.serialize(["reason": .string(reason)]) + [10])
  }
}
