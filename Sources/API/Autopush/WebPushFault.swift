import BorealisBase
import HTTP

/// Why a message of Web Push is refused, with the status and the error number that Mozilla's push service
/// gives.
struct WebPushFault: Error, Equatable, Sendable {
  let status: Int
  /// Mozilla's number; nil where there is none.
  let number: Int?
  let message: String
  /// The method that is accepted, if only another one is not.
  let allowed: String?

  private init(_ status: Int, _ number: Int?, _ message: String, allowed: String? = nil) {
    (self.status, self.number, self.message, self.allowed) = (status, number, message, allowed)
  }

  static let unknownAddress = WebPushFault(404, 102, "There is no such address")
  static let unknownMessage = WebPushFault(404, 102, "There is no such message")
  static let noSubscription = WebPushFault(410, 106, "There is no such subscription any more")
  static let tooLarge = WebPushFault(413, 104, "The body has more than \(WebPushRequest.mostBytes) bytes")
  static func encryption(_ message: String) -> WebPushFault { WebPushFault(400, 110, message) }
  static let noTimeToLive = WebPushFault(400, 111, "TTL is missing")
  static let timeToLive = WebPushFault(400, 112, "TTL must be a number of seconds")
  static let topic = WebPushFault(400, 113, "Topic must have 1 to 32 characters of base64url")
  /// A proof of who sends is missing, or is none.
  static func unproven(_ message: String) -> WebPushFault { WebPushFault(401, 109, message) }
  static let otherKey = WebPushFault(403, 109, "The subscription is of another key")
  static func method(_ allowed: String) -> WebPushFault {
    WebPushFault(405, nil, "Only \(allowed) is accepted here", allowed: allowed)
  }
  static let malformed = WebPushFault(400, nil, "The request is malformed")
  static let tooMany = WebPushFault(429, nil, "There are too many messages: try again later")
  static let unavailable = WebPushFault(503, 201, "The message cannot be stored now: try again later")

  /// The answer.
  var response: HTTPResponse {
    var writer = JSONWriter()
    writer.beginObject()
    writer.member("code", status)
    writer.key("errno")
    if let number { writer.value(number) } else { writer.null() }
    writer.member("error", HTTPResponse.reason(status))
    writer.member("message", message)
    writer.endObject()
    var response = HTTPResponse(
      status: status, headers: ["Content-Type": "application/json"], body: writer.bytes)
    if let allowed { response.headers.append("Allow", allowed) }
    switch status {
    case 401: response.headers.append("WWW-Authenticate", "vapid")
    case 429, 503: response.headers.append("Retry-After", "60")
    default: break
    }
    return response
  }
}
