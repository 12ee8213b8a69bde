import BorealisBase

/// The two ways of a push to a device that is in its audience.
extension WhyJudge {
  // MARK: Vendors' channels

  var credential: WhyStep {
    guard let way = facts.wayInQuestion, way.credential != .notNeeded else {
      return notApplicable(.credential)
    }
    // The service has judged by what the app had then.
    if way.state == .accepted { return WhyStep(.credential, .ok) }
    if way.hasAcceptedCredential {
      if case .ready(let topic) = way.credential { return WhyStep(.credential, .ok, detail: topic) }
      return WhyStep(.credential, .ok)
    }
    if way.state == .refused(ChannelEnd.noCredential) {
      return WhyStep(.credential, .failed, at: way.answeredAt, .noCredential)
    }
    switch way.credential {
    case .unknown, .notNeeded: return WhyStep(.credential, .unknown)
    case .missing:
      // A push that was to go this way had one, and nobody noted when it went.
      let hadOne = way.state != .notMeant && facts.endedAt != nil
      return WhyStep(.credential, hadOne ? .unknown : .failed, .noCredential)
    case .ready(let topic): return WhyStep(.credential, .ok, detail: topic)
    case .expired(let at): return problem(.credentialExpired, since: at)
    case .stopped(let reason, let since): return problem(.credentialStopped, since: since, detail: reason)
    }
  }

  /// The current problem of the credential. It does not explain a push that ended before the problem began.
  private func problem(_ cause: WhyCause, since: Timestamp?, detail: String? = nil) -> WhyStep {
    guard let end = facts.endedAt else {
      return WhyStep(.credential, .failed, at: since, cause, detail: detail)
    }
    guard let since else { return WhyStep(.credential, .unknown, cause, detail: detail) }
    return since < end
      ? WhyStep(.credential, .failed, at: since, cause, detail: detail) : WhyStep(.credential, .ok)
  }

  var token: WhyStep {
    guard let way = facts.wayInQuestion, !way.channel.tokens.isEmpty, let device = facts.device else {
      return notApplicable(.token)
    }
    if way.state == .accepted { return WhyStep(.token, .ok, at: device.tokenSince) }
    let isLater = device.tokenSince.map { $0 > push.createdAt } ?? false
    // The service was asked for it, so there was one: what was wrong with it the answer says.
    let hadOne =
      switch way.state {
      case .refused(ChannelEnd.noToken): false
      case .refused, .waiting, .over, .accepted: true
      case .notMeant: false
      }
    if hadOne {
      let hasOther = isLater && device.token != .none
      return hasOther && way.isRefusedForToken
        ? WhyStep(.token, .failed, at: device.tokenSince, .tokenChanged)
        : WhyStep(.token, .ok, at: isLater ? nil : device.tokenSince)
    }
    guard device.token == .none else {
      return isLater
        ? WhyStep(.token, .failed, at: device.tokenSince, .tokenLater)
        : WhyStep(.token, .ok, at: device.tokenSince)
    }
    let general: WhyCause =
      switch device.tokenEnd {
      case .none: .noToken
      case .byDevice: .tokenRemoved
      case .byService, .wrongService, .otherApp: .tokenRetired
      case .taken: .tokenTaken
      }
    let cause = way.channel.words.tokenEnds[device.tokenEnd] ?? general
    return WhyStep(.token, .failed, at: cause == .noToken ? nil : device.tokenSince, cause)
  }

  /// What the service of a channel said, in the step that the channel has for it, and what others said
  /// before.
  func service(_ point: WhyPoint) -> WhyStep {
    guard let way = facts.way, way.channel.words.point == point else { return notApplicable(point) }
    let step = service(point, of: way)
    guard !way.former.isEmpty, step.verdict != .notApplicable else { return step }
    let detail = [step.detail, "after \(way.former.joined(separator: ", "))"].compactMap { $0 }
    return WhyStep(point, step.verdict, at: step.at, step.cause, detail: detail.joined(separator: ", "))
  }

  private func service(_ point: WhyPoint, of way: WhyFacts.ChannelWay) -> WhyStep {
    let (words, name) = (way.channel.words, way.channel.name)
    // A step that channels share says which it is about.
    let isShared = point == .channel
    switch way.state {
    case .notMeant, .refused(ChannelEnd.noToken), .refused(ChannelEnd.noCredential),
      .refused(ChannelEnd.withdrawn):
      return notApplicable(point)
    case .waiting:
      if release.verdict == .waiting { return notApplicable(point) }
      // The step of the credential says what to do: nothing goes on by itself.
      if credential.verdict == .failed { return WhyStep(point, .waiting, detail: isShared ? name : nil) }
      return waiting(at: way, point, isShared: isShared)
    case .accepted:
      let receipt = way.hasArrived.map { $0 ? "arrived" : "no receipt yet" }
      let detail = [isShared ? name : nil, receipt].compactMap { $0 }.joined(separator: ", ")
      return WhyStep(point, .ok, at: way.answeredAt, detail: detail.isEmpty ? nil : detail)
    case .over where facts.isWithdrawn: return notApplicable(point)
    case .over, .refused(ChannelEnd.expired):
      return WhyStep(point, .failed, at: push.expiresAt, words.notInTime, detail: isShared ? name : nil)
    case .refused(let reason):
      let meaning = words.meaning(of: reason)
      var detail = isShared ? "\(reason), \(name)" : reason
      let token = facts.device?.token ?? .only
      if meaning.namesService, let service = way.channel.service(token) { detail += ", \(service.name)" }
      return WhyStep(point, .failed, at: way.answeredAt, meaning.cause, detail: detail)
    }
  }

  /// What a push waits for at a service that has not answered.
  private func waiting(at way: WhyFacts.ChannelWay, _ point: WhyPoint, isShared: Bool) -> WhyStep {
    let (words, name) = (way.channel.words, isShared ? way.channel.name : nil)
    func detail(_ texts: String?...) -> String? {
      let all = [name] + texts
      return all.allSatisfy { $0 == nil } ? nil : all.compactMap { $0 }.joined(separator: ", ")
    }
    if let problem = way.unreachable {
      let next = way.rest.map { "next attempt at \(Log.iso8601($0.until.milliseconds))" }
      return WhyStep(
        point, .waiting, at: problem.since, words.unreachable, detail: detail(problem.reason, next))
    }
    if let rest = way.rest {
      return WhyStep(point, .waiting, at: rest.until, .channelResting, detail: detail(rest.reason))
    }
    return WhyStep(point, .waiting, words.waiting, detail: detail())
  }

  // MARK: The direct connection

  var connection: WhyStep {
    switch facts.own {
    case .acknowledged(let at): return WhyStep(.connection, .ok, at: at)
    case .notMeant: return unmeant
    case .queueFull: return WhyStep(.connection, .failed, .queueFull)
    case .replaced:
      return WhyStep(
        .connection, .failed, at: facts.gone?.at, facts.gone?.cause ?? .registrationReplaced,
        detail: facts.gone?.successor?.text)
    // A channel has brought it since its quiet hours ended.
    case .handedOver where facts.fallback == nil: return notApplicable(.connection)
    case .handedOver:
      return WhyStep(
        .connection, .failed, at: facts.fallback?.at, .notAcknowledgedInTime,
        detail: facts.fallback?.channel.name)
    case .waiting where facts.endedAt == nil:
      if let fallback = facts.fallback, !fallback.isDone, credential.verdict != .failed {
        return WhyStep(
          .connection, .waiting, at: fallback.at, .awaitingAcknowledgement, detail: fallback.channel.name)
      }
      return release.verdict == .waiting ? notApplicable(.connection) : obstacle(.waiting, until: facts.now)
    case .waiting, .over:
      guard !facts.hasArrived, let end = facts.endedAt else { return notApplicable(.connection) }
      return obstacle(.failed, until: end)
    }
  }

  /// Nothing was to come this way.
  private var unmeant: WhyStep {
    guard facts.isUnreached else { return notApplicable(.connection) }
    if push.isOnlineOnly { return WhyStep(.connection, .failed, at: push.createdAt, .onlineOnly) }
    return WhyStep(.connection, .failed, .noChannel)
  }

  /// Why the device did not take until a moment what waited for it.
  private func obstacle(_ verdict: WhyVerdict, until moment: Timestamp) -> WhyStep {
    guard let device = facts.device else {
      return WhyStep(.connection, verdict, verdict == .failed ? .connectionUnknown : .offlineUnknown)
    }
    switch presence(of: device, at: moment) {
    case .away: return WhyStep(.connection, verdict, at: device.since, absence(of: device))
    case .awayUntil(let came): return WhyStep(.connection, verdict, at: came, .cameBackLate)
    case .unknown: return WhyStep(.connection, verdict, .connectionUnknown)
    case .connected:
      let isAway = Routing.needsForeground(device.platform) && !(device.isOnline && device.isForeground)
      return WhyStep(
        .connection, verdict, at: device.isOnline ? device.since : nil,
        isAway ? .notInForeground : .notAcknowledged)
    }
  }

  /// Whether a device was connected at a moment.
  private enum Presence {
    case connected
    /// It was not, and is not now.
    case away
    /// It was not, and came back then.
    case awayUntil(Timestamp)
    case unknown
  }

  /// Only the latest connection and the offline time before it are recorded; earlier ones are unknown.
  private func presence(of device: WhyFacts.Device, at moment: Timestamp) -> Presence {
    guard device.isOnline || device.since != nil else { return .away }
    if !device.isOnline, let since = device.since, since <= moment {
      return device.goneBy.map { moment < $0 } ?? false ? .unknown : .away
    }
    guard let came = device.isOnline ? device.since : device.cameAt else {
      return device.isOnline ? .connected : .unknown
    }
    guard moment < came else { return .connected }
    return device.awaySince.map { $0 <= moment } ?? false ? .awayUntil(came) : .unknown
  }

  private func absence(of device: WhyFacts.Device) -> WhyCause {
    if device.lastEnd == .unknown, device.since.map({ $0 <= device.registeredAt }) ?? true {
      return .neverConnected
    }
    let cause = WhyCause(offlineAfter: device.lastEnd)
    // iOS ends the connections of apps in the background, which is normal.
    let isOrdinary: Set<WhyCause> = [
      .offlineUnknown, .offlineClosed, .offlineHeartbeatLost, .offlineBroken, .offlineReplaced,
      .offlineServer,
    ]
    return Routing.needsForeground(device.platform) && isOrdinary.contains(cause) ? .notInForeground : cause
  }
}

extension WhyFacts.ChannelWay {
  /// Why the channel's service gets nothing for now, as far as is known: the credential, or the service
  /// itself. Nil if nothing is in the way.
  package var obstacle: WhyCause? {
    switch credential {
    case .missing: .noCredential
    case .expired: .credentialExpired
    case .stopped: .credentialStopped
    case .notNeeded, .unknown, .ready:
      unreachable != nil ? channel.words.unreachable : rest != nil ? .channelResting : nil
    }
  }

  /// What the reason of the service itself means; nil if it has not refused the push.
  private var refusal: ChannelReason? {
    guard case .refused(let reason) = state, !ChannelEnd.ours.contains(reason) else { return nil }
    return channel.words.meaning(of: reason)
  }

  /// Whether the service refused the push itself, and found no fault with the credential.
  fileprivate var hasAcceptedCredential: Bool { refusal.map { $0.fault != .credential } ?? false }

  /// Whether the service found a fault with the token itself.
  fileprivate var isRefusedForToken: Bool { refusal?.fault == .token }
}
