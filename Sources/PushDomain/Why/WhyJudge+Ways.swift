import PushBase

/// The two ways of a push to a device that is in its audience.
extension WhyJudge {
  // MARK: Apple

  var credential: WhyStep {
    guard facts.concernsApple else { return notApplicable(.credential) }
    // Apple has judged by what the app had then.
    if facts.apple == .accepted { return WhyStep(.credential, .ok) }
    if facts.apple == .refused(APNsEnd.noCredential) {
      return WhyStep(.credential, .failed, at: facts.appleAt, .noCredential)
    }
    return switch facts.credential {
    case .unknown: WhyStep(.credential, .unknown)
    case .missing: WhyStep(.credential, .failed, .noCredential)
    case .ready(let topic): WhyStep(.credential, .ok, detail: topic)
    case .expired(let at): WhyStep(.credential, .failed, at: at, .credentialExpired)
    case .stopped(let reason, let since):
      WhyStep(.credential, .failed, at: since, .credentialStopped, detail: reason)
    }
  }

  var token: WhyStep {
    guard facts.concernsApple, let device = facts.device else { return notApplicable(.token) }
    if facts.apple == .accepted { return WhyStep(.token, .ok, at: device.tokenSince) }
    let isLater = device.tokenSince.map { $0 > push.createdAt } ?? false
    // Apple was asked for it, so there was one: what was wrong with it Apple's answer says.
    let hadOne =
      switch facts.apple {
      case .refused(APNsEnd.noToken): false
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
      case .byApple: .tokenRetired
      case .taken: .tokenTaken
      }
    return WhyStep(.token, .failed, at: cause == .noToken ? nil : device.tokenSince, cause)
  }

  /// Whether Apple found a fault with the token itself.
  private var isRefusedForToken: Bool {
    guard case .refused(let reason) = facts.apple else { return false }
    return [.wrongEnvironment, .tokenOfOtherApp, .tokenGone].contains(WhyCause(apple: reason))
  }

  var apple: WhyStep {
    switch facts.apple {
    case .waiting where release.verdict == .waiting: return notApplicable(.apple)
    case .notMeant, .refused(APNsEnd.noToken), .refused(APNsEnd.noCredential), .refused(APNsEnd.takenBack):
      return notApplicable(.apple)
    case .waiting: return WhyStep(.apple, .waiting, .appleWaiting)
    case .accepted: return WhyStep(.apple, .ok, at: facts.appleAt)
    case .refused(APNsEnd.expired): return WhyStep(.apple, .failed, at: push.expiresAt, .appleNotInTime)
    case .over:
      return facts.isTakenBack
        ? notApplicable(.apple) : WhyStep(.apple, .failed, at: push.expiresAt, .appleNotInTime)
    case .refused(let reason):
      let cause = WhyCause(apple: reason)
      let isOfService = cause == .wrongEnvironment && facts.device?.token != APNsEnvironment.none
      let service = facts.device?.token == .sandbox ? "sandbox" : "production"
      return WhyStep(
        .apple, .failed, at: facts.appleAt, cause, detail: isOfService ? "\(reason), \(service)" : reason)
    }
  }

  // MARK: Our connection

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
    guard let device = facts.device else { return WhyStep(.connection, verdict, .offlineUnknown) }
    if device.isOnline, let since = device.since, since > moment {
      return WhyStep(.connection, verdict, at: since, .cameBackLate)
    }
    let wasOffline = !device.isOnline && device.since.map { $0 <= moment } ?? true
    if wasOffline { return WhyStep(.connection, verdict, at: device.since, absence(of: device)) }
    // It was connected, at least at the end.
    let isAway = device.platform == .ios && !(device.isOnline && device.isForeground)
    return WhyStep(
      .connection, verdict, at: device.isOnline ? device.since : nil,
      isAway ? .notInForeground : .notAcknowledged)
  }

  private func absence(of device: WhyFacts.Device) -> WhyCause {
    if device.lastEnd == .unknown, device.since.map({ $0 <= device.registeredAt }) ?? true {
      return .neverConnected
    }
    let cause = WhyCause(offlineAfter: device.lastEnd)
    // An iPhone ends the connections of apps that are not in front; that is nobody's fault.
    let isOrdinary: Set<WhyCause> = [
      .offlineUnknown, .offlineClosed, .offlineHeartbeatLost, .offlineBroken, .offlineReplaced,
      .offlineServer,
    ]
    return device.platform == .ios && isOrdinary.contains(cause) ? .notInForeground : cause
  }
}
