import BorealisBase
import BorealisCrypto
import Core
import HTTP
import Model
import Storage

/// The push service of browsers for app servers (RFC 8030): takes messages for subscriptions at the addresses
/// that browsers were given, and takes them back. Each is a push of the app whose devices browsers are. Safe
/// to use from any thread.
package final class AutopushAPI: Sendable {
  /// What is at a path.
  private enum Resource {
    case subscription(EndpointToken)
    case message(EndpointToken, MessageID, proof: String)
  }

  private let router: Router
  private let gateway: Gateway
  private let app: AppKey
  private let origin: String
  private let time: any TimeSource
  private let log: Log
  private let metrics: AutopushMetrics
  /// Messages that may wait for a browser: anybody may send to his own, and what waits is on disk.
  private let mostWaiting: Int
  /// Messages in a minute, by browser.
  private let rates = RateLimiter()
  /// Messages with a topic, one after the other for each browser: each has to see the one before it.
  private let turns = Turns<RegistrationNumber>()

  /// Messages to a browser in a minute.
  static let mostPerMinute = 120
  /// Registrations that are looked at for the browser of a subscription.
  private static let mostHolders = 1000
  /// Seconds after which a push cannot be overridden any more; a minute is for the way.
  private static let mostOverridden: Int64 = 86_400 - 60

  /// Makes the API beside a gateway, whose limits it shares. `origin` is where browsers' subscriptions have
  /// their addresses, such as `https://push.example.com`.
  package init(
    app: AppKey, origin: String, router: Router, gateway: Gateway, metrics: AutopushMetrics, log: Log,
    time: any TimeSource = SystemTime(), mostWaiting: Int = 200
  ) {
    self.mostWaiting = mostWaiting
    (self.app, self.origin, self.router, self.gateway) = (app, origin, router, gateway)
    (self.metrics, self.time, self.log) = (metrics, time, log)
  }

  /// Whether a request target belongs to this API.
  package static func serves(_ target: String) -> Bool { target.hasPrefix(EndpointToken.path) }

  /// The pattern of a request's route, for the log; nil for targets of other APIs.
  package static func route(_ target: String) -> String? { serves(target) ? pattern : nil }

  private static let pattern = EndpointToken.path + "{token}"

  /// The largest body, in bytes.
  package static let largestBody = WebPushRequest.mostBytes

  /// The answer to a malformed request; nil for targets of other APIs.
  package static func refusal(_ fault: HTTPFault, of target: String) -> HTTPResponse? {
    guard serves(target) else { return nil }
    return switch fault {
    case .bodyTooLarge: WebPushFault.tooLarge.response
    case .timeout, .busy, .unserved, .unanswered: WebPushFault.unavailable.response
    default: WebPushFault.malformed.response
    }
  }

  /// Warns if nothing bounds what browsers and messages to them cost. To be called once apps are in memory.
  package func start() {
    guard let plan = router.apps.loaded(app)?.plan, plan.pushCalls == nil || plan.registrations == nil else {
      return
    }
    log.warning(
      "the plan of --autopush-app has no limit of push calls or registrations: anybody can fill the disk",
      ["app": .text(app.text)])
  }

  /// Screens a request by its header, so that no large body is read.
  package func screen(_ head: HTTPRequest, requestID: String, peer: IPAddress?) -> HTTPScreening {
    guard head.bodySize <= Self.largestBody else {
      return .refused(noted(.tooLarge, head, AccessLog(log, time), requestID))
    }
    return .admitted(bodyBytes: Self.largestBody, isKnown: false)
  }

  /// Serves one request.
  package func handle(_ request: HTTPRequest, _ exchange: HTTPExchange) {
    handle(request, CallReply(exchange))
  }

  func handle(_ request: HTTPRequest, _ reply: CallReply) {
    let access = AccessLog(log, time)
    @Sendable func answer(_ result: Result<HTTPResponse, WebPushFault>) {
      switch result {
      case .success(let response):
        reply.send(noted(response, request, access, reply.requestID))
      case .failure(let fault): reply.send(noted(fault, request, access, reply.requestID))
      }
    }
    do throws(WebPushFault) {
      switch try Self.resource(request) {
      case .subscription(let token):
        let push = try WebPushRequest(request, to: token.subscription)
        // First, since it costs less than to check a signature.
        find(token, answer) { [self] target in
          if let fault = fault(request.headers, token, target) { return answer(.failure(fault)) }
          accept(push, at: token, target, answer)
        }
      case .message(let token, let id, let proof): recall(id, proof, token, answer)
      }
    } catch {
      answer(.failure(error))
    }
  }

  /// Why a message may not be sent to a subscription now.
  private func fault(_ headers: HTTPHeaders, _ token: EndpointToken, _ target: Target) -> WebPushFault? {
    do throws(WebPushFault) {
      let sender = try VAPIDProof.read(headers, origin: origin, at: time.now())
      guard token.allows(sender?.key, secretHash: target.secretHash) else {
        return sender == nil ? .unproven("The subscription needs Authorization") : .otherKey
      }
    } catch {
      return error
    }
    return consumeCall(target)
  }

  /// Counts a call for a browser and of the app.
  private func consumeCall(_ target: Target) -> WebPushFault? {
    let own = rates.consume(target.number.rawValue, quota: Self.mostPerMinute, at: time.monotonic())
    guard own.isGranted, gateway.consumePushCall(of: target.app) else {
      gateway.limited.add()
      return .tooMany
    }
    return nil
  }

  private func hasRoom(for number: RegistrationNumber, in app: App) -> Bool {
    let now = UInt32(clamping: time.now().seconds)
    let waiting = app.directory.waitingCount(for: number, through: MessageID(.max), at: now)
    // Nil if there are very many pushes to many, which are no messages of Web Push.
    return waiting.map { $0 < mostWaiting } ?? false
  }

  /// What a request's path and method name.
  private static func resource(_ request: HTTPRequest) throws(WebPushFault) -> Resource {
    guard let path = HTTPTarget(request.target)?.path, (3...4).contains(path.count),
      let token = EndpointToken(path[2])
    else { throw .unknownAddress }
    guard path.count == 4 else {
      guard request.method == "POST" else { throw .method("POST") }
      return .subscription(token)
    }
    let parts = path[3].split(separator: ".")
    guard parts.count == 2, let id = MessageID(decimal: Array(parts[0].utf8)) else { throw .unknownMessage }
    guard request.method == "DELETE" else { throw .method("DELETE") }
    return .message(token, id, proof: String(parts[1]))
  }

  // MARK: Answers

  private func noted(
    _ fault: WebPushFault, _ request: HTTPRequest, _ access: AccessLog, _ requestID: String
  ) -> HTTPResponse { noted(fault.response, request, access, requestID) }

  private func noted(
    _ response: HTTPResponse, _ request: HTTPRequest, _ access: AccessLog, _ requestID: String
  ) -> HTTPResponse {
    metrics.answers[response.status]?.add()
    access.answered(
      request.method, Self.pattern, response.status, requestID, router.apps.loaded(app))
    return response
  }

  // MARK: Messages

  /// The registration behind an address.
  private struct Target: Sendable {
    let app: App
    let number: RegistrationNumber
    let secretHash: (UInt64, UInt64)
  }

  private typealias Answer = @Sendable (Result<HTTPResponse, WebPushFault>) -> Void

  /// Finds the browser of an address. Anything but its own registration may have the tag, too.
  private func find(
    _ token: EndpointToken, _ answer: @escaping Answer,
    _ go: @escaping @Sendable (Target) -> Void
  ) {
    router.apps.find(app) { found in
      guard case .success(let app?) = found, !app.isDisabled else { return answer(.failure(.unavailable)) }
      let holder = app.directory.holders(ofTag: token.tag, limit: Self.mostHolders).first {
        token.isMade(with: $0.secretHash)
      }
      guard let holder else { return answer(.failure(.noSubscription)) }
      go(Target(app: app, number: holder.number, secretHash: holder.secretHash))
    }
  }

  private func accept(
    _ push: WebPushRequest, at token: EndpointToken, _ target: Target, _ answer: @escaping Answer
  ) {
    let topic = push.message.topic
    guard topic.name != nil else { return accept(push, at: token, target, replacing: [], answer) }
    let hasTurn = turns.run(for: target.number) { [self] done in
      router.deliveries.waiting(under: topic, for: target.number, in: target.app) { found in
        guard case .success(let old) = found else {
          answer(.failure(.unavailable))
          return done()
        }
        self.accept(push, at: token, target, replacing: old) { result in
          answer(result)
          done()
        }
      }
    }
    if !hasTurn { answer(.failure(.tooMany)) }
  }

  /// Accepts a message, in the place of others if they still wait.
  private func accept(
    _ wanted: WebPushRequest, at token: EndpointToken, _ target: Target, replacing old: [MessageID],
    _ answer: @escaping Answer
  ) {
    guard let id = target.app.directory.identity(target.number)?.id else {
      return answer(.failure(.noSubscription))
    }
    guard !old.isEmpty || hasRoom(for: target.number, in: target.app) else {
      return answer(.failure(.tooMany))
    }
    let most = min(gateway.pushRules.maximumTimeToLive, target.app.plan.maxTimeToLive ?? .max)
    let seconds = min(wanted.timeToLive, most)
    // What has waited for longer can only be recalled afterwards, as what is left of earlier attempts.
    let newest = old.last.flatMap { id in
      time.now() <= id.time.adding(seconds: Self.mostOverridden) ? id : nil
    }
    let push = PushRequest(
      cid: Self.name(of: wanted, at: token), platforms: PlatformSet(WebPushMessage.platform),
      audience: .filter(AudienceFilter(registrationIDs: [id.text])), content: wanted.message.content,
      options: PushOptions(timeToLive: seconds, overrideMessageID: newest))
    router.acceptance.accept(AcceptRequest(push), for: target.app) { [self] result in
      switch result {
      case .failure(let error):
        gateway.notePush(isAccepted: false)
        answer(.failure(Self.fault(of: error, token, target)))
      case .success(let accepted):
        gateway.notePush(isAccepted: true)
        let rest = old.filter { $0 != newest }
        target.app.directory.webPushTopics.set(
          rest + [accepted.id], under: wanted.message.topic, of: target.number)
        let response = created(accepted.id, at: token, target.secretHash, seconds)
        // What cannot be recalled now is recalled by the next message with the topic.
        router.deliveries.recall(rest[...], in: target.app) { _ in answer(.success(response)) }
      }
    }
  }

  private static func fault(of error: APIError, _ token: EndpointToken, _ target: Target) -> WebPushFault {
    // Only of a subscription that has ended it may be said: app servers forget it.
    guard target.app.directory.hasTag(token.tag, target.number) else { return .noSubscription }
    return error.httpStatus == 429 ? .tooMany : .unavailable
  }

  /// The name of a request: who repeats it, since its answer was lost, gets the answer to the first. Each
  /// message has a salt of its own, so that two equal bodies are one message. One with a topic replaces
  /// itself, and one that is not kept is for those that are there now.
  private static func name(of push: WebPushRequest, at token: EndpointToken) -> String? {
    guard push.message.topic.name == nil, push.timeToLive > 0, !push.message.data.isEmpty else { return nil }
    return Base64.encodeURL(SHA256.digest(Array((token.text + "." + push.message.data).utf8)))
  }

  private func created(
    _ id: MessageID, at token: EndpointToken, _ secretHash: (UInt64, UInt64), _ seconds: Int
  ) -> HTTPResponse {
    let proof = token.messageProof(id, secretHash: secretHash)
    return HTTPResponse(
      status: 201,
      headers: [
        "Location": "\(origin)\(EndpointToken.path)\(token.text)/\(id.text).\(proof)", "TTL": String(seconds),
      ])
  }

  /// Takes a message back that waits: the browser never gets it.
  private func recall(_ id: MessageID, _ proof: String, _ token: EndpointToken, _ answer: @escaping Answer) {
    find(token, answer) { [self] target in
      let right = token.messageProof(id, secretHash: target.secretHash)
      guard constantTimeEquals(Array(proof.utf8), Array(right.utf8)),
        target.app.directory.isWaiting(id, for: target.number)
      else { return answer(.failure(.unknownMessage)) }
      if let fault = consumeCall(target) { return answer(.failure(fault)) }
      router.deliveries.recall(id, in: target.app) { result in
        switch result {
        case .success: answer(.success(HTTPResponse(status: 204)))
        case .failure(let error):
          answer(.failure(error.httpStatus >= 500 ? .unavailable : .unknownMessage))
        }
      }
    }
  }
}
