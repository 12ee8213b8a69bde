import BorealisBase

/// Decides about requests as Apple does, in this order: path, fields that came twice, method, authentication,
/// device token, syntax of the fields, push type, priority, topic, state of the token, payload. The first
/// fault is answered.
struct APNsRules: Sendable {
  /// The result of a request.
  struct Outcome: Sendable {
    var verdict: Verdict
    /// Nil if the path holds no valid token.
    var token: SimulatedDeviceToken?
    var findings: [Finding] = []
    /// The connection has shown a provider token that it had not shown before.
    var newToken: ProviderTokenState.Verified?
    /// Authentication passed, which opens the connection for more streams.
    var isAuthenticated = false
  }

  var providerTokens = ProviderTokenRules()
  var tokens = SimulatedTokens()
  /// Topics that exist, without suffix; nil for any.
  var bundles: [HeaderValue]?
  /// Accepts device tokens of other lengths than 32 bytes.
  var acceptsAnyTokenLength = false
  /// Answers 400 where the content does not fit the push type, which else is only a finding.
  var refusesContent = false

  init() {}

  var environment: PushEnvironment { providerTokens.environment }

  /// Judges a request on a connection with this certificate, if it showed one, and these provider tokens
  /// before.
  func judge(
    _ request: SimulatedRequest, certificate: ClientCertificate?, _ state: inout ProviderTokenState,
    now: Timestamp
  ) -> Outcome {
    var outcome = Outcome(verdict: .accepted)
    do throws(Refusal) {
      try check(request, certificate, &state, now, &outcome)
    } catch {
      outcome.verdict = Verdict(error)
    }
    return outcome
  }

  private func check(
    _ request: SimulatedRequest, _ certificate: ClientCertificate?, _ state: inout ProviderTokenState,
    _ now: Timestamp, _ outcome: inout Outcome
  ) throws(Refusal) {
    guard let digits = Self.digits(of: request[.path]) else { throw Refusal(.badPath) }
    outcome.token = SimulatedDeviceToken(digits, anyLength: acceptsAnyTokenLength)
    guard !request.hasDuplicates else { throw Refusal(.duplicateHeaders) }
    guard request[.method].map({ $0.elementsEqual("POST".utf8) }) == true else {
      throw Refusal(.methodNotAllowed)
    }
    let sender = try authenticate(request, certificate, &state, now, &outcome)
    outcome.isAuthenticated = true
    guard !digits.isEmpty else { throw Refusal(.missingDeviceToken) }
    let priority = try HeaderRules.check(request)
    let type = try pushType(request, &outcome)
    if type == .background, priority != 5 { throw Refusal(.badPriority) }
    let topic = try topic(request, type, sender)
    guard let token = outcome.token else { throw Refusal(.badDeviceToken) }
    try tokens.check(token, topic: topic)
    let payload = try PayloadRules.check(request.body, type: type)
    let findings = PayloadRules.findings(payload, type: type)
    outcome.findings += findings
    if refusesContent, !findings.isEmpty { throw Refusal(.badRequestPayload) }
  }

  /// Who sends, which decides about topics.
  private enum Sender {
    case certificate(ClientCertificate)
    case key(ProviderKey)
  }

  private static let prefix = Array("/3/device/".utf8)

  /// The token in a path, maybe empty; nil for another path.
  static func digits(of path: HeaderValue?) -> HeaderValue? {
    guard let path, path.starts(with: prefix) else { return nil }
    let rest = path.dropFirst(prefix.count)
    return rest.contains { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ? nil : rest
  }

  private func authenticate(
    _ request: SimulatedRequest, _ certificate: ClientCertificate?, _ state: inout ProviderTokenState,
    _ now: Timestamp, _ outcome: inout Outcome
  ) throws(Refusal) -> Sender {
    if let certificate {
      guard !certificate.topics.isEmpty else { throw Refusal(.badCertificate) }
      guard certificate.environments.contains(environment) else {
        throw Refusal(.badCertificateEnvironment)
      }
      return .certificate(certificate)
    }
    let (token, isNew) = try providerTokens.check(request[.authorization], &state, now: now)
    if isNew { outcome.newToken = token }
    return .key(token.key)
  }

  private func pushType(
    _ request: SimulatedRequest, _ outcome: inout Outcome
  ) throws(Refusal) -> SimulatedPushType? {
    if request.others.contains(where: { $0.name.hasPrefix("apns-") }) {
      outcome.findings.append(.unknownAPNSHeader)
    }
    guard let value = request[.pushType] else {
      outcome.findings.append(.missingPushType)
      return nil
    }
    guard let type = SimulatedPushType(bytes: value) else { throw Refusal(.invalidPushType) }
    return type
  }

  private func topic(
    _ request: SimulatedRequest, _ type: SimulatedPushType?, _ sender: Sender
  ) throws(Refusal) -> HeaderValue {
    let topic: HeaderValue
    switch sender {
    case .certificate(let certificate):
      guard let named = request[.topic] ?? certificate.defaultTopic else { throw Refusal(.missingTopic) }
      guard HeaderRules.isTopic(named) else { throw Refusal(.badTopic) }
      guard certificate.topics.contains(named) else { throw Refusal(.topicDisallowed) }
      topic = named
    case .key(let key):
      guard let named = request[.topic] else { throw Refusal(.missingTopic) }
      guard HeaderRules.isTopic(named) else { throw Refusal(.badTopic) }
      let bundle = SimulatedPushType.bundle(of: named)
      for allowed in [bundles, key.bundles] {
        guard allowed?.contains(bundle) ?? true else { throw Refusal(.topicDisallowed) }
      }
      topic = named
    }
    if let type, !type.fits(topic: topic) { throw Refusal(.invalidPushType) }
    return topic
  }
}
