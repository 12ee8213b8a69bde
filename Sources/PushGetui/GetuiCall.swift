import PushBase
import PushGateway
import PushHTTP
import PushJSON
import PushRouter

typealias GetuiReply = CallReply

/// One request on its way through Getui's API.
struct GetuiCall: Sendable {
  let request: HTTPRequest
  let target: HTTPTarget
  let captures: RouteCaptures
  /// The route's pattern, for the log: a path itself may name a device or a person.
  let pattern: String
  let reply: CallReply
  let log: AccessLog
  /// Bytes that the body may have.
  let bodyBytes: Int
  /// Whose token came with it; nil for `POST /auth`.
  var app: App?

  /// Answers `{"code":0,"msg":"success"}` with `data`, if that writes anything.
  func answer(_ data: ((inout JSONWriter) -> Void)? = nil) {
    var writer = JSONWriter()
    writer.beginObject()
    writer.member("code", 0)
    writer.member("msg", "success")
    if let data {
      writer.key("data")
      data(&writer)
    }
    writer.endObject()
    respond(200, writer.bytes)
  }

  /// Answers with an error.
  func fail(_ error: GetuiError) { respond(error.httpStatus, error.json()) }

  private func respond(_ status: Int, _ body: [UInt8]) {
    var response = response(status, body)
    response.isToKnownCaller = app != nil
    reply.send(response)
  }

  /// The answer with an error, for whoever sends it himself.
  func refusal(_ error: GetuiError) -> HTTPResponse { response(error.httpStatus, error.json()) }

  private func response(_ status: Int, _ body: [UInt8]) -> HTTPResponse {
    // In this order, so that the line is there when the answer is.
    log.answered(request.method, pattern, status, reply.requestID, app)
    return .getui(status, body)
  }

  /// What is wrong with a body, as far as the header tells; nil if it may come.
  var bodyFault: GetuiError? {
    if request.isBodyEncoded {
      return .malformed("Bodies with Content-Encoding are not read: send it without compression")
    }
    return request.bodySize > bodyBytes ? .overLimit("body") : nil
  }

  /// The body as a JSON object.
  func body() throws(GetuiError) -> GetuiFields {
    let json: JSONValue
    do throws(JSONError) {
      json = try parseJSON(request.body, limits: JSONLimits(maxBytes: bodyBytes, maxMembers: 500_000))
    } catch {
      throw .malformed("The body is not valid JSON (at byte \(error.offset))")
    }
    guard let object = json.object else { throw .wrongType("body") }
    return GetuiFields(object)
  }

  /// Does the work of a call, and answers with what it throws.
  func attempt(_ work: () throws(GetuiError) -> Void) {
    do throws(GetuiError) { try work() } catch { fail(error) }
  }
}

extension HTTPResponse {
  static func getui(_ status: Int, _ body: [UInt8]) -> HTTPResponse {
    HTTPResponse(status: status, headers: ["Content-Type": "application/json;charset=utf-8"], body: body)
  }
}
