import BorealisBase

/// Judges facts point by point.
struct WhyJudge {
  let facts: WhyFacts

  init(_ facts: WhyFacts) { self.facts = facts }

  var push: WhyFacts.Push { facts.push }

  /// The facts about a step.
  func step(_ point: WhyPoint) -> WhyStep {
    switch point {
    case .accepted: return WhyStep(.accepted, .ok, at: push.createdAt)
    case .device: return device
    case .callback: return callback
    default: break
    }
    // A push that was not for the device, or for an unknown device, is not followed further.
    guard facts.platform != nil else { return notApplicable(point) }
    if point == .platform { return platform }
    guard isForPlatform else { return notApplicable(point) }
    if point == .audience { return audience }
    guard facts.isTarget else { return notApplicable(point) }
    return way(point)
  }

  private func way(_ point: WhyPoint) -> WhyStep {
    switch point {
    case .sender: sender
    case .release: release
    case .credential: credential
    case .token: token
    case .connection: connection
    case .lifetime: lifetime
    case .permission: permission
    case .shown: shown
    default: service(point)
    }
  }

  func notApplicable(_ point: WhyPoint) -> WhyStep { WhyStep(point, .notApplicable) }

  // MARK: Device and platform

  private var device: WhyStep {
    if let device = facts.device {
      if device.isImportedOnly, !facts.isTarget || facts.isUnreached {
        return WhyStep(.device, .failed, at: device.registeredAt, .notRegistered)
      }
      let isLater = !facts.isTarget && device.registeredAt > push.createdAt
      return WhyStep(
        .device, isLater ? .failed : .ok, at: device.registeredAt, isLater ? .registeredLater : nil)
    }
    guard let gone = facts.gone else { return WhyStep(.device, .failed, .registrationUnknown) }
    // Changes after nothing of the push was waiting make no difference.
    let wasInTime = wasOpen && gone.at <= facts.endedAt ?? facts.now
    let isReason = !facts.hasArrived && (!facts.isTarget || facts.own == .replaced || wasInTime)
    return WhyStep(
      .device, isReason ? .failed : .ok, at: gone.at, gone.cause, detail: gone.successor?.text)
  }

  private var isForPlatform: Bool { platform.verdict == .ok }

  private var platform: WhyStep {
    guard let platform = facts.platform else { return notApplicable(.platform) }
    if facts.isTarget { return WhyStep(.platform, .ok, detail: platform.name) }
    guard push.platforms.contains(platform) else {
      return WhyStep(.platform, .failed, .otherPlatform, detail: platform.name)
    }
    guard !push.parts.isEmpty || push.isForChannels else {
      return WhyStep(.platform, .failed, .nothingForPlatform, detail: platform.name)
    }
    return WhyStep(.platform, .ok, detail: platform.name)
  }

  // MARK: Sender and turn

  private var sender: WhyStep {
    guard !facts.hasArrived, wasOpen else { return WhyStep(.sender, .ok) }
    guard facts.isWithdrawn, let withdrawal = push.withdrawal else {
      // A newer push with its collapse ID took its place at this device.
      guard facts.way?.state == .refused(ChannelEnd.withdrawn) else { return WhyStep(.sender, .ok) }
      return WhyStep(.sender, .failed, at: facts.way?.answeredAt, .overridden)
    }
    return withdrawal.isReplaced
      ? WhyStep(.sender, .failed, at: withdrawal.at, .overridden, detail: withdrawal.by?.text)
      : WhyStep(.sender, .failed, at: withdrawal.at, .recalled)
  }

  var release: WhyStep {
    if let quiet = push.quietUntil, facts.endedAt == nil, !facts.hasArrived {
      return WhyStep(.release, .waiting, at: quiet.until, .held, detail: quiet.local)
    }
    guard let moment = push.releaseAt else { return notApplicable(.release) }
    guard facts.now < moment, facts.endedAt == nil, !facts.hasArrived else {
      return WhyStep(.release, .ok, at: moment)
    }
    return WhyStep(.release, .waiting, at: moment, .stillSpreading)
  }

  // MARK: Time

  private var lifetime: WhyStep {
    if facts.hasArrived { return WhyStep(.lifetime, .ok, at: push.expiresAt) }
    if facts.isWithdrawn { return notApplicable(.lifetime) }
    if facts.endedAt == nil { return WhyStep(.lifetime, .ok, at: push.expiresAt) }
    // What had ended for another reason before had time enough.
    let hadEnded = !waitedToTheEnd
    return hadEnded
      ? WhyStep(.lifetime, .ok, at: push.expiresAt)
      : WhyStep(.lifetime, .failed, at: push.expiresAt, .expired)
  }

  /// Whether something of it was pending for the device until the push ended or was recalled, or is pending
  /// now.
  private var wasOpen: Bool { waitedToTheEnd || facts.way?.state == .refused(ChannelEnd.withdrawn) }

  private var waitedToTheEnd: Bool {
    switch facts.own {
    case .waiting, .over: return true
    case .notMeant, .acknowledged, .queueFull, .replaced, .handedOver: break
    }
    return switch facts.way?.state {
    case .waiting, .over, .refused(ChannelEnd.expired): true
    case .notMeant, .accepted, .refused, nil: false
    }
  }

  // MARK: The user

  /// Whether the system shows it, if it arrives.
  private var isNotification: Bool {
    push.parts.contains(.notification) || facts.way?.state == .accepted
  }

  private var permission: WhyStep {
    guard facts.hasArrived, isNotification else { return notApplicable(.permission) }
    return facts.isSeen ? WhyStep(.permission, .ok) : WhyStep(.permission, .unknown, .permissionUnknown)
  }

  private var shown: WhyStep {
    guard facts.hasArrived, isNotification else { return notApplicable(.shown) }
    if facts.isTapped { return WhyStep(.shown, .ok, at: facts.tappedAt ?? facts.shownAt, .tapped) }
    if facts.isShown { return WhyStep(.shown, .ok, at: facts.shownAt, .shownBefore) }
    if let device = facts.device, device.platform == .ios, device.isOnline, device.isForeground {
      return WhyStep(.shown, .unknown, .inForeground)
    }
    return WhyStep(.shown, .unknown, .notReported)
  }

  // MARK: The app's server

  private var callback: WhyStep {
    switch facts.callback {
    case .nothingToReport: notApplicable(.callback)
    case .fine: WhyStep(.callback, .ok)
    case .unknown: WhyStep(.callback, .unknown)
    case .failing(let error, let since):
      WhyStep(.callback, .failed, at: since, .callbackFailing, detail: error)
    case .givenUp(let error, let at): WhyStep(.callback, .failed, at: at, .callbackGivenUp, detail: error)
    }
  }
}
