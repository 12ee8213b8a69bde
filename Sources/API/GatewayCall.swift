import BorealisBase
import Core
import HTTP
import Model
import Storage

extension HTTPResponse {
  /// A JSON answer; JPush's clients require this header.
  static func json(_ status: Int, _ body: [UInt8]) -> HTTPResponse {
    HTTPResponse(status: status, headers: ["Content-Type": "application/json"], body: body)
  }
}

extension HTTPHeaders {
  /// Names the members of the request that have no effect, if there are any.
  package mutating func append(ignored names: [String]) {
    if let value = IgnoredMembers.headerValue(names) { append(IgnoredMembers.header, value) }
  }
}

typealias GatewayReply = CallReply

/// One request in the gateway.
struct GatewayCall: Sendable {
  let api: Gateway.API
  /// The route's pattern, for the log: a path itself may name a device or a person.
  let pattern: String
  let request: HTTPRequest
  let reply: CallReply
  var log: AccessLog
  let target: HTTPTarget
  let captures: RouteCaptures
  let callers: Gateway.Callers
  /// Bytes that the body may have.
  let bodyBytes: Int
  /// The right that it needs; nil where API keys have no access.
  var right: APIRight?
  /// The client, if that is known.
  var address: IPAddress?
  /// The calling app; nil for other callers.
  var app: App?
  /// The API key that it came with; nil for the master secret.
  var key: APIKey?
  /// The developer's account; nil for APIs of apps.
  var account: AccountRow?
  /// The group of apps, if one calls.
  var group: AppGroup?
  /// Whether the caller may make the call, which has been counted.
  var mayCall = false
  var budget: RateLimiter.Budget?
  /// The origin of the page that may read the answer, if one calls.
  var page: String?
  /// Members of the request that have no effect, which a successful answer names.
  var ignored: [String] = []

  /// The key of the caller: an app or a group.
  var owner: AppKey? { app?.key ?? group?.key }

  /// The number under which background queues count the caller's jobs, so that no caller can fill it alone.
  /// Groups count down from the highest number, which no app has; nil for callers without one.
  var backgroundOwner: UInt32? {
    app?.id.rawValue ?? group.map { UInt32.max - UInt32(truncatingIfNeeded: $0.id) }
  }

  /// A note for the audit log of what the app's server does.
  func auditEntry(_ action: String, _ target: String) -> AuditRow {
    AuditRow(
      at: log.time.now(), account: app?.account, app: app?.id, person: nil,
      who: key.map { "API (\($0.grant.name))" } ?? "API", action: action, target: target,
      address: address?.text ?? "")
  }

  /// The push in the path and the calling app; answers the request itself if that is not a number.
  func push() -> (id: MessageID, app: App)? {
    guard let app else { return nil }
    let text = captures["msg_id"] ?? ""
    guard let id = MessageID(decimal: Array(text.utf8)) else {
      fail(.invalidValue("msg_id must be a number, not '\(text.prefix(40))'"))
      return nil
    }
    return (id, app)
  }

  /// The call, of whose request some members have no effect.
  func ignoring(_ names: [String]) -> GatewayCall {
    var call = self
    call.ignored = names
    return call
  }

  /// Answers with a JSON body.
  func answer(_ status: Int, _ body: [UInt8]) { respond(response(status, body)) }

  /// A JSON answer with the caller's rate limit headers.
  private func response(_ status: Int, _ body: [UInt8]) -> HTTPResponse {
    var response = HTTPResponse.json(status, body)
    if let budget { response.headers.append(budget) }
    if let page {
      response.headers.append("Access-Control-Allow-Origin", page)
      response.headers.append("Vary", "Origin")
    }
    if status < 300 { response.headers.append(ignored: ignored) }
    switch status {
    case 401: response.headers.append("WWW-Authenticate", challenge)
    case 503: response.headers.append("Retry-After", "2")
    case 415: response.headers.append("Accept-Encoding", "identity")
    default: break
    }
    return response
  }

  /// What opens the call: a key and its secret, what the body of a device's call says of the device, or the
  /// signature of a maker.
  private var challenge: String {
    guard api == .open else { return #"Basic realm="Borealis", charset="UTF-8""# }
    return pattern.hasPrefix("/v1/vendor-receipts")
      ? #"Signature realm="Borealis""# : #"Device realm="Borealis""#
  }

  private func respond(_ response: HTTPResponse, _ error: APIError? = nil) {
    // In this order, so that the log line is written before the answer is sent.
    note(response, error)
    var response = response
    response.isToKnownCaller = isKnown
    reply.send(response)
  }

  private var isKnown: Bool { app != nil || group != nil || account != nil }

  private func note(_ response: HTTPResponse, _ error: APIError?) {
    log.answered(request.method, pattern, response.status, reply.requestID, app, mayCall: mayCall)
    // Devices, makers' services, developers and groups of apps are not an app's servers.
    guard api.isForAppServers, group == nil else { return }
    let fault = error.map {
      AnswerFault(code: $0.code, message: $0.message, target: target, pattern: pattern)
    }
    log.note(caller, request.method, pattern, response.status, fault)
  }

  private var caller: NotedCaller {
    if let app { return NotedCaller(app: app, key: key, address: address) }
    let named = Gateway.app(of: request).flatMap { log.requests?.app($0) }
    return NotedCaller(app: named, isKnown: false, address: address)
  }

  /// An error answer, for callers that send it themselves.
  func refusal(_ error: APIError) -> HTTPResponse {
    let response = response(error.httpStatus, error.json())
    note(response, error)
    return response
  }

  /// Answers a success without data: `{}`, which satisfies every official client.
  func answerEmpty() { answer(200, [0x7b, 0x7d]) }

  /// Answers with an error in JPush's shape.
  func fail(_ error: APIError) {
    var response = response(error.httpStatus, error.json())
    // Who repeats it because of the field alone may do it twice.
    if error.isInDoubt { response.headers.removeAll { $0.name == "retry-after" } }
    respond(response, error)
  }

  /// Answers with an error that names the registration IDs it is about.
  func fail(_ error: APIError, illegal ids: [String]) {
    respond(response(error.httpStatus, error.json(illegal: ids)), error)
  }

  /// Answers with text.
  func answer(_ status: Int, text: String, type: String = "text/plain; charset=utf-8") {
    respond(HTTPResponse(status: status, headers: ["Content-Type": type], body: Array(text.utf8)))
  }

  /// Answers with a constant document.
  func answer(document: [UInt8], type: String) {
    var response = HTTPResponse(status: 200, headers: ["Content-Type": type], body: document)
    response.isStatic = true
    respond(response)
  }

  /// The error of a body, as far as the header shows; nil if it may be read.
  var bodyFault: APIError? {
    if request.isBodyEncoded {
      let fault = api.faults.malformed(
        "Bodies with Content-Encoding are not read: send it without compression")
      return APIError(code: fault.code, httpStatus: 415, message: fault.message)
    }
    guard request.bodySize > bodyBytes else { return nil }
    return api.faults.tooLarge("The body has more than \(bodyBytes) bytes")
  }

  /// The body as JSON; answers the request itself when it is invalid.
  func body(limits: JSONLimits = JSONLimits()) -> JSONValue? {
    // What it is in decides who gets what: it is refused, as JPush's key `payload` is that comes with it.
    if api == .push, request.headers["x-encrypt-type"]?.isEmpty == false {
      fail(.unsupportedKey("X-Encrypt-Type is not supported: send the body without encryption"))
      return nil
    }
    guard !request.body.isEmpty else {
      fail(api.faults.missing("The request has no body"))
      return nil
    }
    do throws(JSONError) {
      return try parseJSON(request.body, limits: limits)
    } catch {
      fail(api.faults.malformed(error.problem(of: limits)))
      return nil
    }
  }

  /// A value of the query; nil also for an empty one, as JPush's Ruby client sends for what its caller does
  /// not name.
  func query(_ name: String) -> String? { target[name].flatMap { $0.isEmpty ? nil : $0 } }

  /// The registration in the path; answers the request itself when the app does not have it.
  func registration() -> (App, RegistrationNumber)? {
    let text = captures["rid"] ?? ""
    guard let app, let id = RegistrationID(text), let number = app.directory.find(id) else {
      fail(.deviceInvalid(Self.complaint(ofRegistration: text)))
      return nil
    }
    return (app, number)
  }

  /// What is wrong with a registration ID that the app does not have.
  static func complaint(ofRegistration text: String) -> String {
    RegistrationID(text) == nil
      ? "registration_id '\(text.prefix(40))' is invalid: it must have 19 hexadecimal digits in lower case"
      : "registration_id '\(text)' is unknown: the app has no such device"
  }

  /// The `platform` filter of the query, all platforms when there is none.
  func platforms() -> PlatformSet? {
    guard let text = query("platform") else { return .all }
    var set: PlatformSet = []
    for name in text.split(separator: ",", omittingEmptySubsequences: false) {
      guard let platform = Platform(name: String(name)) else {
        if name == "winphone" { continue }
        let known = Platform.allCases.map(\.name).joined(separator: ", ")
        fail(.deviceInvalid("platform has '\(name.prefix(40))', which is none of \(known)"))
        return nil
      }
      set.insert(PlatformSet(platform))
    }
    return set
  }

  /// A validated name in the path.
  func name(_ capture: String, allowHyphen: Bool, withoutSuffix suffix: String = "") -> String? {
    var text = captures[capture] ?? ""
    if !suffix.isEmpty, text.hasSuffix(suffix) { text.removeLast(suffix.count) }
    let kind = NameRules.Kind(field: capture)
    if let error = NameRules.check(text, as: kind, allowHyphen: allowHyphen)
      .deviceError(field: capture, text, as: kind, allowHyphen: allowHyphen)
    {
      fail(error)
      return nil
    }
    return text
  }
}
