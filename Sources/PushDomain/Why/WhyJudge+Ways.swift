import PushBase

/// The two ways of a push to a device that is in its audience.
extension WhyJudge {
  // MARK: Vendors' channels

  var credential: WhyStep {
    guard facts.concernsVendor, facts.credential != .notNeeded else { return notApplicable(.credential) }
    // The service has judged by what the app had then.
    if facts.apple == .accepted { return WhyStep(.credential, .ok) }
    if hasTakenCredential {
      if case .ready(let topic) = facts.credential { return WhyStep(.credential, .ok, detail: topic) }
      return WhyStep(.credential, .ok)
    }
    if facts.apple == .refused(ChannelEnd.noCredential) {
      return WhyStep(.credential, .failed, at: facts.appleAt, .noCredential)
    }
    switch facts.credential {
    case .unknown, .notNeeded: return WhyStep(.credential, .unknown)
    case .missing:
      // A push that was to go this way had one, and nobody noted when it went.
      let hadOne = facts.apple != .notMeant && facts.endedAt != nil
      return WhyStep(.credential, hadOne ? .unknown : .failed, .noCredential)
    case .ready(let topic): return WhyStep(.credential, .ok, detail: topic)
    case .expired(let at): return problem(.credentialExpired, since: at)
    case .stopped(let reason, let since): return problem(.credentialStopped, since: since, detail: reason)
    }
  }

  /// Whether the service answered the push itself, and found no fault with the credential.
  private var hasTakenCredential: Bool {
    guard case .refused(let reason) = facts.apple, !ChannelEnd.ours.contains(reason) else { return false }
    return facts.vendor != nil || ![.credentialRefused, .topicRefused].contains(WhyCause(apple: reason))
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
    guard facts.concernsVendor, facts.vendor?.tokens.isEmpty != true, let device = facts.device else {
      return notApplicable(.token)
    }
    if facts.apple == .accepted { return WhyStep(.token, .ok, at: device.tokenSince) }
    let isLater = device.tokenSince.map { $0 > push.createdAt } ?? false
    // The service was asked for it, so there was one: what was wrong with it the answer says.
    let hadOne =
      switch facts.apple {
      case .refused(ChannelEnd.noToken): false
      case .refused, .waiting, .over, .accepted: true
      case .notMeant: false
      }
    if hadOne {
      let hasOther = isLater && device.token != .none
      return hasOther && isRefusedForToken
        ? WhyStep(.token, .failed, at: device.tokenSince, .tokenChanged)
        : WhyStep(.token, .ok, at: isLater ? nil : device.tokenSince)
    }
    guard device.token == .none else {
      return isLater
        ? WhyStep(.token, .failed, at: device.tokenSince, .tokenLater)
        : WhyStep(.token, .ok, at: device.tokenSince)
    }
    let cause: WhyCause =
      switch device.tokenEnd {
      case .none: .noToken
      case .byDevice: .tokenRemoved
      case .byService: .tokenRetired
      case .wrongService: .wrongEnvironment
      case .otherApp: .tokenOfOtherApp
      case .taken: .tokenTaken
      }
    return WhyStep(.token, .failed, at: cause == .noToken ? nil : device.tokenSince, cause)
  }

  /// Whether Apple found a fault with the token itself.
  private var isRefusedForToken: Bool {
    guard facts.vendor == nil, case .refused(let reason) = facts.apple else { return false }
    return [.wrongEnvironment, .tokenOfOtherApp, .tokenGone].contains(WhyCause(apple: reason))
  }

  var apple: WhyStep {
    guard facts.vendor == nil else { return notApplicable(.apple) }
    switch facts.apple {
    case .waiting where release.verdict == .waiting: return notApplicable(.apple)
    case .notMeant, .refused(ChannelEnd.noToken), .refused(ChannelEnd.noCredential),
      .refused(ChannelEnd.withdrawn):
      return notApplicable(.apple)
    case .waiting:
      guard let problem = facts.unreachable else { return WhyStep(.apple, .waiting, .appleWaiting) }
      return WhyStep(.apple, .waiting, at: problem.since, .appleUnreachable, detail: problem.reason)
    case .accepted: return WhyStep(.apple, .ok, at: facts.appleAt)
    case .refused(ChannelEnd.expired): return WhyStep(.apple, .failed, at: push.expiresAt, .appleNotInTime)
    case .over:
      return facts.isWithdrawn
        ? notApplicable(.apple) : WhyStep(.apple, .failed, at: push.expiresAt, .appleNotInTime)
    case .refused(let reason):
      let cause = WhyCause(apple: reason)
      let isOfService = cause == .wrongEnvironment && facts.device?.token != ServiceID.none
      let service = (facts.device?.token.environment ?? .production).name
      return WhyStep(
        .apple, .failed, at: facts.appleAt, cause, detail: isOfService ? "\(reason), \(service)" : reason)
    }
  }

  /// The service of a channel other than APNs, with its own reasons.
  var channel: WhyStep {
    guard let vendor = facts.vendor else { return notApplicable(.channel) }
    switch facts.apple {
    case .notMeant, .refused(ChannelEnd.noToken), .refused(ChannelEnd.noCredential),
      .refused(ChannelEnd.withdrawn):
      return notApplicable(.channel)
    case .waiting:
      if release.verdict == .waiting { return notApplicable(.channel) }
      let since = facts.unreachable?.since
      let detail = facts.unreachable.map { "\(vendor.name), \($0.reason)" } ?? vendor.name
      return WhyStep(.channel, .waiting, at: since, .channelWaiting, detail: detail)
    case .accepted: return WhyStep(.channel, .ok, at: facts.appleAt, detail: vendor.name)
    case .over where facts.isWithdrawn: return notApplicable(.channel)
    case .over, .refused(ChannelEnd.expired):
      return WhyStep(.channel, .failed, at: push.expiresAt, .channelNotInTime, detail: vendor.name)
    case .refused(let reason):
      return WhyStep(
        .channel, .failed, at: facts.appleAt, .channelRefused, detail: "\(reason), \(vendor.name)")
    }
  }

  // MARK: The direct connection

  var connection: WhyStep {
    switch facts.own {
    case .acknowledged(let at): return WhyStep(.connection, .ok, at: at)
    case .notMeant: return unmeant
    case .queueFull: return WhyStep(.connection, .failed, .queueFull)
    case .replaced:
      return WhyStep(
        .connection, .failed, at: facts.gone?.at, .registrationReplaced, detail: facts.gone?.successor?.text)
    case .waiting where facts.endedAt == nil:
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
