import BorealisBase
import Model
import Storage

/// The device of a diagnosis.
package enum DeviceInQuestion: Sendable {
  /// An existing registration.
  case there(RegistrationNumber)
  /// A replaced registration.
  case gone(GoneRegistration)
  /// One that the app never had, or had too long ago.
  case unknown

  /// The result of a search for one device. A tag does not identify a device.
  package init(_ search: DeviceSearch) {
    if search.kind != .tag, let number = search.numbers.first {
      self = .there(number)
    } else if let gone = search.gone {
      self = .gone(gone)
    } else {
      self = .unknown
    }
  }

  /// Its number, if it had one.
  var number: RegistrationNumber? {
    switch self {
    case .there(let number): number
    case .gone(let gone): gone.number
    case .unknown: nil
    }
  }
}

/// Collects the facts about pushes and devices; `Diagnosis` evaluates them.
package struct Diagnostics: Sendable {
  let store: Store
  let time: any TimeSource
  let clocks: ScheduleClocks
  let channels: PluggedChannels

  init(store: Store, time: any TimeSource, clocks: ScheduleClocks, channels: PluggedChannels) {
    (self.store, self.time, self.clocks, self.channels) = (store, time, clocks, channels)
  }

  /// Why a push of an app arrived at a device or did not, by what is stored: up to a second late. Nil if the
  /// push is unknown, another app's, or swept.
  package func diagnose(
    _ id: MessageID, _ device: DeviceInQuestion, in app: App,
    reply: @escaping @Sendable (Result<Diagnosis?, DeviceFailure>) -> Void
  ) {
    let now = time.now()
    store.read(inTurnOf: app.id) { transaction throws(StorageError) in
      try facts(of: id, device, app, transaction, at: now).map { Diagnosis($0) }
    } completion: {
      reply($0.mapError { _ in .unavailable })
    }
  }

  /// Whether a push is for some time zones and does not name other devices.
  private static func isForZone(
    _ source: PushSource, _ audience: Audience?, _ number: RegistrationNumber, _ app: App
  ) -> Bool {
    guard source.traits.contains(.zone) else { return false }
    let named = audience?.filter?.registrationIDs ?? []
    return named.isEmpty || app.directory.identity(number).map { named.contains($0.id.text) } ?? false
  }

  /// The facts about a push and a device. On a reader's thread.
  func facts(
    of id: MessageID, _ device: DeviceInQuestion, _ app: App, _ transaction: ReadTransaction,
    at now: Timestamp, callbackDepth depth: Int = 200
  ) throws(StorageError) -> WhyFacts? {
    guard let rows = try transaction.deliveries.targets(of: id), rows.push.app == app.id,
      let targets = PushTargets(rows, at: now)
    else { return nil }
    let source = try transaction.pushes.source(of: id)?.source
    let audience = source?.object.flatMap { Audience(recorded: $0) }
    let content = PushContent(decoding: rows.push.content)
    var push = WhyFacts.Push(rows.push, content, audience)
    if let withdrawal = rows.withdrawal {
      push.withdrawal = WhyFacts.Withdrawal(
        at: withdrawal.at, isReplaced: withdrawal.status == .overridden,
        by: try transaction.pushes.replacement(of: id)
      )
    }
    var facts = WhyFacts(now: now, push: push, isTarget: false)
    facts.channelPoints = channels.infos.map(\.words.point).filter { $0 != .channel }
    if case .gone(let gone) = device {
      facts.gone = WhyFacts.Gone(at: gone.at, successor: gone.successor, platform: gone.platform)
    }
    guard let number = device.number else { return facts }
    facts.push.isForZone = source.map { Self.isForZone($0, audience, number, app) } ?? false
    let minutes = try transaction.pacedPushes.minutes(of: id)
    if targets.all.contains(number) {
      facts.push.releaseAt = PacingWindow(rows.push, minutes: minutes)?.moment(of: number)
    }
    facts.push.quietUntil = quietHours(of: number, rows, app, at: now)
    facts.add(targets, rows, of: number)
    if !facts.isTarget { facts.canary = try canary(of: id, number, app, transaction) }
    let (meant, former) = channels.ways(of: targets, to: number)
    facts.way = meant.map { facts.way(by: channels.info($0), targets, rows, of: number) }
    facts.way?.former = former
    let later = rows.fallbacks.first { NumberSet(serialized: $0.targets)?.contains(number) == true }
    facts.fallback = later.map {
      WhyFacts.Fallback(channels.info($0.channel), at: $0.dueAt, isDone: $0.isDone)
    }
    facts.callback = try callback(facts, of: id, to: number, app, transaction, depth)
    let platform = facts.gone?.platform ?? app.directory.identity(number)?.platform
    facts.push.parts = platform.flatMap { content?.parts(for: $0) } ?? []
    guard let platform else { return facts }
    facts.push.isForChannels =
      facts.push.parts.isEmpty && content?.platforms.contains(platform) == true
    let tokens = try transaction.tokens.all(app: app.id, of: number)
    let way = try way(
      meant ?? later?.channel, content, platform, facts.push.strategy, tokens, app, transaction, at: now)
    if facts.way == nil { facts.way = way.map { WhyFacts.ChannelWay($0.channel.info) } }
    guard case .there = device else { return facts }
    facts.device = try self.device(
      number, app, transaction, audience: audience, token: tokens.first { $0.token.slot == way?.slot })
    facts.device?.isImportedOnly = app.isImportedOnly(
      number, hasToken: tokens.contains { !$0.token.bytes.isEmpty } && !facts.isUnreached,
      at: facts.push.createdAt)
    guard let way else { return facts }
    let service = facts.device?.token ?? .none
    try facts.way?.describe(way.channel, of: app, for: service, content, in: transaction, at: now)
    return facts
  }

  /// Where a device that is not a target of a push belongs to, if the push has a canary. Of the other part
  /// it is only said if the device is in it.
  private func canary(
    of id: MessageID, _ number: RegistrationNumber, _ app: App, _ transaction: ReadTransaction
  ) throws(StorageError) -> WhyFacts.CanaryPlace? {
    guard let canary = try transaction.canaries.find(id, app: app.id) else { return nil }
    if id == canary.id, canary.end?.rest == nil {
      let rest = try transaction.canaries.rest(of: id, app: app.id)
      guard NumberSet(serialized: rest)?.contains(number) == true else { return nil }
      if let moment = canary.lookAt { return .waits(moment) }
      return canary.end.map { .stopped(at: $0.at, reason: $0.state.name) }
    }
    guard let other = id == canary.id ? canary.end?.rest : canary.id,
      let rows = try transaction.deliveries.targets(of: other),
      let targets = PushTargets(rows, at: time.now())
    else { return nil }
    return targets.all.contains(number) ? .other(other) : nil
  }

  /// Until when a device's quiet hours keep the push from it, also by its own clocks; nil if they do not. If
  /// they have ended, and a channel has no room, that is now.
  private func quietHours(
    of number: RegistrationNumber, _ rows: TargetRows, _ app: App, at now: Timestamp
  ) -> WhyFacts.Hold? {
    let row = rows.held.first { NumberSet(serialized: $0.targets)?.contains(number) == true }
    guard let until = row.map({ max($0.until, now) }) else { return nil }
    let local = clocks.zone(app.directory.facts(of: number)[.timeZone]).local(until)
    return WhyFacts.Hold(until: until, local: QuietHours.text(local.secondOfDay / 60))
  }

  // MARK: The channel

  /// The channel that a push goes by to a device besides the direct connection, or could go by: the one that
  /// it was meant for, else one for which the device has or had a token, else one that the app has a
  /// credential for, else the only one of the platform.
  private func way(
    _ meant: ChannelID?, _ content: PushContent?, _ platform: Platform, _ strategy: Strategy,
    _ tokens: [TokenHistory], _ app: App, _ transaction: ReadTransaction, at now: Timestamp
  ) throws(StorageError) -> PluggedChannels.Way? {
    if let meant {
      return channels.serviceChannel(meant).map { PluggedChannels.Way($0, for: content) }
    }
    let ways = channels.ways(for: content, strategy, on: platform)
    if let known = ways.first(where: { way in tokens.contains { $0.token.slot == way.slot } }) {
      return known
    }
    for way in ways {
      let credential = try way.channel.credential(of: app, for: .none, in: transaction, at: now)
      if credential.isPresent { return way }
    }
    return ways.count == 1 ? ways.first : nil
  }

  // MARK: The device

  private func device(
    _ number: RegistrationNumber, _ app: App, _ transaction: ReadTransaction, audience: Audience?,
    token: TokenHistory?
  ) throws(StorageError) -> WhyFacts.Device? {
    guard let row = try transaction.registrations.find(app: app.id, number: number),
      let history = try transaction.registrations.history(app: app.id, number: number)
    else { return nil }
    var device = WhyFacts.Device(platform: row.platform, registeredAt: row.createdAt)
    if let status = app.directory.status(number) {
      device.isOnline = status.isOnline
      device.isForeground = status.isForeground
      device.since = status.since
      (device.cameAt, device.awaySince) = (status.cameAt, status.awaySince)
      device.goneBy = status.goneBy
      device.lastEnd = status.lastEnd
    }
    (device.alias, device.aliasAt) = (row.alias, history.aliasAt)
    device.blockedAt = history.blockedAt
    if let token {
      (device.token, device.tokenSince, device.tokenEnd) = (token.token.service, token.since, token.end)
      device.hasLiveActivity = audience?.filter?.heldToken == token.token.slot && device.token != .none
    }
    if audience?.isForTestDevices == true {
      device.isTestDevice = try transaction.testDevices.contains(row.registrationID, app: app.id)
    }
    guard let filter = audience?.filter else { return device }
    for name in filter.tags + filter.tagsAnd + filter.tagsNot {
      device.tags.append(try tag(name, app, transaction, history))
    }
    device.fullAliases = filter.aliases.filter {
      app.directory.registrations(alias: $0).count >= RegistrationLimits.devicesPerAlias
    }
    return device
  }

  private func tag(
    _ name: String, _ app: App, _ transaction: ReadTransaction, _ history: RegistrationHistory
  ) throws(StorageError) -> WhyFacts.Tag {
    let number = try transaction.tags.number(app: app.id, name: name)
    let bound = history.tags.first { $0.number == number }
    let lost = history.lostTags.first { $0.number == number }
    return WhyFacts.Tag(name, isBound: bound != nil, boundAt: bound?.at, removedAt: lost?.at)
  }

  /// What became of telling the app's server of this push and this device.
  private func callback(
    _ facts: WhyFacts, of id: MessageID, to number: RegistrationNumber, _ app: App,
    _ transaction: ReadTransaction, _ depth: Int
  ) throws(StorageError) -> WhyFacts.Callback {
    guard let wanted = try transaction.callbacks.push(of: id, app: app.id),
      !wanted.types.isDisjoint(with: facts.eventTypes)
    else { return .nothingToReport }
    let failure = try transaction.callbacks.failure(
      app: app.id, naming: CallbackEvent.idStart(of: id, to: number), since: facts.push.createdAt,
      depth: depth)
    return switch failure {
    case .none: .fine
    case .unknown: .unknown
    case .waiting(let error, let since): .failing(error: error, since: since)
    case .givenUp(let error, let at): .givenUp(error: error, at: at)
    }
  }
}

extension PluggedChannels {
  /// The channel that brings a push to a registration besides the direct connection, or was to: of several
  /// the one that has not refused it, or else the last. Then those that have refused it before, with their
  /// reasons.
  fileprivate func ways(
    of targets: PushTargets, to number: RegistrationNumber
  ) -> (meant: ChannelID?, former: [String]) {
    let meant = services.map(\.id).filter { targets.on($0).meant.contains(number) }
    let refusals = meant.map { id in targets.on(id).refused.filter { $0.value.contains(number) }.keys.min() }
    let last = refusals.firstIndex(of: nil) ?? meant.count - 1
    let former = zip(meant, refusals).enumerated().filter { $0.offset != last }.compactMap { _, way in
      way.1.map { "\(info(way.0).name): \($0)" }
    }
    return (meant.indices.contains(last) ? meant[last] : nil, former)
  }
}

extension WhyFacts.Push {
  fileprivate init(_ row: PushRow, _ content: PushContent?, _ audience: Audience?) {
    self.init(createdAt: row.createdAt, expiresAt: row.expiresAt)
    platforms = row.platforms
    strategy = Strategy(number: row.strategy) ?? .jpush
    isOnlineOnly = row.isOnlineOnly
    self.audience = audience
  }
}

extension WhyFacts {
  /// The events that may have callbacks.
  fileprivate var eventTypes: CallbackTypes {
    var types: CallbackTypes = .handedOver
    if isShown || isTapped || way?.state == .accepted { types.insert(.delivered) }
    if case .acknowledged = own { types.insert(.delivered) }
    if isTapped { types.insert(.clicked) }
    if !types.contains(.delivered) { types.insert(.notDelivered) }
    return types
  }

  /// Adds what is stored of a registration as a target of the push.
  fileprivate mutating func add(_ targets: PushTargets, _ rows: TargetRows, of number: RegistrationNumber) {
    isTarget = targets.all.contains(number)
    isLeftOut = rows.push.leftOut.flatMap { NumberSet(serialized: $0) }?.contains(number) ?? false
    isCapped = rows.push.capped.flatMap { NumberSet(serialized: $0) }?.contains(number) ?? false
    isQuiet = rows.push.quiet.flatMap { NumberSet(serialized: $0) }?.contains(number) ?? false
    isUnreached = isTarget && !targets.own.contains(number) && !targets.meantForVendors.contains(number)
    let isOnly = rows.push.target == number
    // The moment of an end is that of a single device only if the push was for it alone.
    let endedAt = isOnly ? rows.outcome?.endedAt : nil
    own = OwnWay(targets, number, at: rows.outcome?.status == .delivered ? endedAt : nil)
    isShown = targets.shown.contains(number)
    isTapped = targets.tapped.contains(number)
    shownAt = isOnly ? rows.outcome?.shownAt : nil
    tappedAt = isOnly ? rows.outcome?.tappedAt : nil
  }
}

extension WhyFacts.OwnWay {
  fileprivate init(_ targets: PushTargets, _ number: RegistrationNumber, at moment: Timestamp?) {
    func isLost(_ reason: LossReason) -> Bool { targets.lost[reason]?.contains(number) == true }
    self =
      if targets.acknowledged.contains(number) {
        .acknowledged(moment)
      } else if targets.waiting.contains(number) {
        .waiting
      } else if isLost(.queueFull) {
        .queueFull
      } else if isLost(.replaced) {
        .replaced
      } else if isLost(.handedOver) {
        .handedOver
      } else {
        targets.own.contains(number) ? .over : .notMeant
      }
  }
}

extension WhyFacts {
  /// What is stored of the way by a channel for a registration as a target of the push.
  fileprivate func way(
    by channel: ChannelInfo, _ targets: PushTargets, _ rows: TargetRows, of number: RegistrationNumber
  ) -> ChannelWay {
    let state = ChannelState(targets.on(channel.id), number)
    // What the service's answer did not end, ended for another reason.
    let isOfVendor = state != .accepted || rows.outcome?.status == .delivered
    let isOnly = own == .notMeant && rows.push.target == number
    var way = ChannelWay(channel, state, answeredAt: isOnly && isOfVendor ? rows.outcome?.endedAt : nil)
    if channel.abilities.contains(.sendsReceipts) {
      way.hasArrived = targets.on(channel.id).arrived.contains(number)
    }
    return way
  }
}

extension WhyFacts.ChannelState {
  fileprivate init(_ targets: ChannelTargets, _ number: RegistrationNumber) {
    let refusal = targets.refused.filter { $0.value.contains(number) }.keys.min()
    self =
      if targets.accepted.contains(number) {
        .accepted
      } else if let refusal {
        .refused(refusal)
      } else if targets.waiting.contains(number) {
        .waiting
      } else {
        targets.meant.contains(number) ? .over : .notMeant
      }
  }
}
