import BorealisBase
import Core
import HTTP
import Model

typealias GetuiReply = CallReply

/// One request to Getui's API.
struct GetuiCall: Sendable {
  let request: HTTPRequest
  let target: HTTPTarget
  let captures: RouteCaptures
  /// The route's pattern, for the log, since a path may name a device or a person.
  let pattern: String
  let reply: CallReply
  var log: AccessLog
  /// The limit for the body, in bytes.
  let bodyBytes: Int
  /// The client, if that is known.
  var address: IPAddress?
  /// The app whose token the request has; nil for `POST /auth`.
  var app: App?
  /// Whether the app may make the call, which has been counted.
  var mayCall = false
  /// Members of the request that have no effect, which a successful answer names.
  var ignored: [String] = []

  /// The call, of whose body some members have no effect: those that its reading has found.
  func ignoring(_ fields: GetuiFields) -> GetuiCall { ignoring(fields.ignored.names) }

  /// The call, of whose body some members have no effect.
  func ignoring(_ names: [String]) -> GetuiCall {
    var call = self
    call.ignored = names
    return call
  }

  /// Answers `{"code":0,"msg":"success"}`, with the member `data` if a closure is given that writes it, and
  /// on request with the number of nodes that have not confirmed a recall.
  func answer(unconfirmedNodes: Int = 0, _ data: ((inout JSONWriter) -> Void)? = nil) {
    var writer = JSONWriter()
    writer.beginObject()
    writer.member("code", 0)
    writer.member("msg", "success")
    if unconfirmedNodes > 0, request.wantsExtensions { writer.member("unconfirmed_nodes", unconfirmedNodes) }
    if let data {
      writer.key("data")
      data(&writer)
    }
    writer.endObject()
    respond(200, writer.bytes)
  }

  /// Answers with an error.
  func fail(_ error: GetuiError) { respond(error.httpStatus, error.json(), error) }

  private func respond(_ status: Int, _ body: [UInt8], _ error: GetuiError? = nil) {
    var response = response(status, body, error)
    if status < 300 { response.headers.append(ignored: ignored) }
    response.isToKnownCaller = app != nil
    reply.send(response)
  }

  /// Returns the answer with an error, for a caller that sends it itself.
  func refusal(_ error: GetuiError) -> HTTPResponse { response(error.httpStatus, error.json(), error) }

  private func response(_ status: Int, _ body: [UInt8], _ error: GetuiError?) -> HTTPResponse {
    // The line is written first, so that it is in the log when the client has the answer.
    log.answered(request.method, pattern, status, reply.requestID, app, mayCall: mayCall)
    let fault = error.map {
      AnswerFault(code: $0.code, message: $0.message, target: target, pattern: pattern)
    }
    log.note(caller, request.method, pattern, status, fault)
    return .getui(status, body)
  }

  private var caller: NotedCaller {
    if let app { return NotedCaller(app: app, address: address) }
    let named = GetuiAPI.app(of: request).flatMap { log.requests?.app($0) }
    return NotedCaller(app: named, isKnown: false, address: address)
  }

  /// Returns the error for a body that the header shows to be unacceptable; nil for others.
  var bodyFault: GetuiError? {
    if request.isBodyEncoded {
      return .malformed("Bodies with Content-Encoding are not read: send it without compression")
    }
    return request.bodySize > bodyBytes ? .overLimit("body", "at most \(bodyBytes) bytes are allowed") : nil
  }

  /// Reads the body as a JSON object.
  func body() throws(GetuiError) -> GetuiFields {
    let json: JSONValue
    let limits = JSONLimits(maxBytes: bodyBytes, maxMembers: 500_000)
    do throws(JSONError) {
      json = try parseJSON(request.body, limits: limits)
    } catch {
      throw .malformed(error.problem(of: limits))
    }
    guard let object = json.object else { throw .wrongType("body", "a JSON object") }
    return GetuiFields(object)
  }

  /// Runs the work of a call, and answers with the error that it throws.
  func attempt(_ work: () throws(GetuiError) -> Void) {
    do throws(GetuiError) { try work() } catch { fail(error) }
  }
}

extension HTTPResponse {
  static func getui(_ status: Int, _ body: [UInt8]) -> HTTPResponse {
    var headers: HTTPHeaders = ["Content-Type": "application/json;charset=utf-8"]
    // The scheme is Getui's own: the header `token`.
    if status == 401 { headers.append("WWW-Authenticate", #"Token realm="Borealis""#) }
    return HTTPResponse(status: status, headers: headers, body: body)
  }
}
