import BorealisBase
import BorealisProtocol
import Core
import HTTP
import Model

/// The autopush protocol, which browsers speak to their push service, as another form of the device protocol:
/// a browser is a registration, `hello` registers it and logs it in, a subscription is a tag, and a
/// notification is a push (Docs/decisions/0120-browsers-are-registrations.md).
extension DeviceSession {
  /// Seconds between two signs of life that are asked of a browser, before they are overdue.
  private static let heartbeatWish: UInt16 = 200

  /// The text messages of a WebSocket are a browser's from here on.
  mutating func startAutopush(_ options: AutopushOptions, limit: Int) {
    form = .autopush
    extend().webSocket = WebSocketState(reader: WebSocketReader(limit: limit, isText: true))
    extras?.autopush = AutopushState(options: options)
  }

  /// The largest message that a browser may send now. Before its login that is `hello`, with the UAID and the
  /// names of broadcasts.
  var mostTextBytes: Int { phase == .loggedIn ? .max : 4 * WireLimits.maxFrameBeforeLogin }

  // MARK: Signs of life

  /// A browser is there.
  mutating func noteAlive(_ moment: Moment) {
    guard phase == .loggedIn, isAutopush else { return }
    deadline = heartbeatDeadline(from: moment.second)
    extras?.autopush?.isPinged = false
  }

  /// Whether an overdue browser is asked if it is there, which it has to answer until a second.
  mutating func asksForLife(until second: UInt32) -> Bool {
    guard phase == .loggedIn, extras?.autopush?.isPinged == false else { return false }
    extras?.autopush?.isPinged = true
    deadline = second
    return true
  }

  // MARK: Requests

  /// Takes a message of a browser; nil if it needs no answer.
  mutating func handleAutopush(_ text: [UInt8], _ moment: Moment) -> SessionStep? {
    noteAlive(moment)
    guard let request = AutopushRequest(text) else {
      return .end(Self.fault(String(validating: text, as: UTF8.self) == nil ? .invalidText : .protocolError))
    }
    switch (phase, request) {
    case (.greeting, .hello(let uaid)): return begin(uaid)
    case (.waiting, .ping), (.loggedIn, .ping): return .sendText(Array("{}".utf8))
    case (.waiting, .other), (.loggedIn, .other): return nil
    case (.loggedIn, .register(let channel, let key)): return subscribe(channel, key)
    case (.loggedIn, .unregister(let channel)): return unsubscribe(channel)
    case (.loggedIn, .acknowledge(let ids)): return ids.isEmpty ? nil : .acknowledgePushes(ids)
    default: return .end(Self.fault(.protocolError))
    }
  }

  private mutating func begin(_ uaid: String?) -> SessionStep? {
    guard let options = extras?.autopush?.options else { return nil }
    phase = .greeted
    version = WireLimits.versions.lowerBound
    guard let identity = uaid.flatMap({ AutopushIdentity(uaid: $0) }) else {
      return .register(Self.newcomer(in: options.app))
    }
    extras?.autopush?.identity = identity
    extras?.autopush?.mayBeUnknown = true
    return .logIn(Self.login(identity, options.app))
  }

  private static func newcomer(in app: AppKey) -> RegisterRequest {
    RegisterRequest(
      appKey: app, platform: WebPushMessage.platform, fingerprint: SystemRandom.bytes(16),
      appVersion: "autopush")
  }

  private static func login(_ identity: AutopushIdentity, _ app: AppKey) -> LoginRequest {
    LoginRequest(
      appKey: app, registrationID: identity.id, secret: identity.secret, heartbeat: heartbeatWish,
      appState: .background)
  }

  /// What registers a browser anew whose registration is unknown, as after the restore of a backup: by the
  /// other UAID it knows that its subscriptions are gone. Nil if that is not the case.
  mutating func autopushNewcomer() -> RegisterRequest? {
    guard let state = extras?.autopush, state.mayBeUnknown else { return nil }
    extras?.autopush?.mayBeUnknown = false
    extras?.autopush?.identity = nil
    return Self.newcomer(in: state.options.app)
  }

  /// The login that follows the answer to a browser's registration; nil for other sessions and answers.
  mutating func autopushLogin(of answer: ServerFrame) -> LoginRequest? {
    guard let options = extras?.autopush?.options, case .registerOK(let id, let secret) = answer else {
      return nil
    }
    let identity = AutopushIdentity(id: id, secret: secret)
    extras?.autopush?.identity = identity
    return Self.login(identity, options.app)
  }

  private mutating func subscribe(_ channel: String, _ key: String?) -> SessionStep {
    let point = key.flatMap { Base64.decodeAny($0.utf8) }
    guard let state = extras?.autopush, let identity = state.identity,
      let id = SubscriptionID(channel), key == nil || point?.count == 65 && point?.first == 4
    else { return .sendText(Self.answer("register", channel, status: 400)) }
    let token = EndpointToken(id, key: point, secretHash: identity.secretHash)
    let endpoint = "\(state.options.origin)\(EndpointToken.path)\(token.text)"
    return perform(
      .addTags([token.tag]), AutopushState.Request(type: "register", channel: channel, endpoint: endpoint))
  }

  private mutating func unsubscribe(_ channel: String) -> SessionStep {
    guard let identity = extras?.autopush?.identity, let id = SubscriptionID(channel) else {
      return .sendText(Self.answer("unregister", channel, status: 400))
    }
    return perform(
      .deleteTags(EndpointToken.tags(of: id, secretHash: identity.secretHash)),
      AutopushState.Request(type: "unregister", channel: channel))
  }

  private mutating func perform(
    _ operation: BorealisProtocol.Operation, _ request: AutopushState.Request
  ) -> SessionStep {
    guard let state = extras?.autopush, state.requests.count < AutopushState.mostRequests else {
      return .sendText(Self.answer(request.type, request.channel, status: 503))
    }
    let sequence = state.sequence &+ 1
    extras?.autopush?.sequence = sequence
    extras?.autopush?.requests[sequence] = request
    return .perform(sequence, operation)
  }

  // MARK: Answers

  /// A frame as browsers get it; nil if they do not.
  func autopushText(of frame: ServerFrame) -> [UInt8]? {
    guard case .loginOK = frame, let identity = extras?.autopush?.identity else { return nil }
    var writer = JSONWriter()
    writer.beginObject()
    writer.member("messageType", "hello")
    writer.member("uaid", identity.uaid)
    writer.member("status", 200)
    writer.member("use_webpush", true)
    writer.key("broadcasts")
    writer.beginObject()
    writer.endObject()
    writer.endObject()
    return writer.bytes
  }

  /// The answer to a request whose operation has this result; nil if it is unknown.
  mutating func autopushAnswer(_ sequence: UInt32, _ code: ResultCode) -> [UInt8]? {
    guard let request = extras?.autopush?.requests.removeValue(forKey: sequence) else { return nil }
    // An empty dictionary keeps its storage.
    if extras?.autopush?.requests.isEmpty == true { extras?.autopush?.requests = [:] }
    let status =
      switch code {
      case .ok: 200
      case .tooFrequent: 429
      case .deviceTagsFull, .appTagsFull, .newTagsUsedUp, .tooManyTags: 507
      default: 503
      }
    return Self.answer(
      request.type, request.channel, status: status, endpoint: status == 200 ? request.endpoint : nil)
  }

  /// The answers to requests whose operations will have no result, since the home of the app is gone.
  mutating func abandonAutopush() -> [[UInt8]] {
    let requests = extras?.autopush?.requests ?? [:]
    extras?.autopush?.requests = [:]
    return requests.values.map { Self.answer($0.type, $0.channel, status: 503) }
  }

  private static func answer(
    _ type: String, _ channel: String, status: Int, endpoint: String? = nil
  ) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.member("messageType", type)
    writer.member("channelID", channel)
    writer.member("status", status)
    if let endpoint { writer.member("pushEndpoint", endpoint) }
    writer.endObject()
    return writer.bytes
  }
}
