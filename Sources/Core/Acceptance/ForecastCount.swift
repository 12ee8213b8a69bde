import BorealisBase
import Model
import Storage

/// Counts what becomes of a push by the routes that it would go. The table of routes, the channels' rules and
/// the causes are those of sending and of diagnosis: here they are only applied to sets of devices.
struct ForecastCount {
  private let push: PushRequest
  private let app: App
  private let plan: RoutePlan
  private let offers: [ChannelOffer]
  private let conditions: ForecastConditions
  /// Members of the audience whose devices show no notifications.
  private let off: NumberSet
  /// Those whose notification a channel to a service brings.
  private let elsewhere: NumberSet
  /// Those that wait for the end of their quiet hours.
  private let held: NumberSet

  private(set) var rows: [PushForecast.Row] = []
  /// Why members of the audience get nothing.
  private(set) var nothing: [PushForecast.Reason] = []
  /// How many get something.
  let reached: Int

  init(
    _ push: PushRequest, _ audience: Recipients, _ plan: RoutePlan, held: NumberSet, _ offers: [ChannelOffer],
    in app: App, _ conditions: ForecastConditions
  ) throws(StorageError) {
    self.push = push
    self.app = app
    self.plan = plan
    self.held = held
    self.offers = offers
    self.conditions = conditions
    off = app.directory.notificationsOff(among: audience)
    var (all, elsewhere) = (plan.own.numbers, NumberSet())
    for way in plan.vendors {
      all.formUnion(way.targets.numbers)
      if way.leg.isMain { elsewhere.formUnion(way.targets.numbers) }
    }
    self.elsewhere = elsewhere
    reached = all.count
    try countOwn()
    countHeld()
    for way in plan.vendors { try count(way, .now) }
    for way in plan.later { try count(way, .unacknowledged) }
    rows.removeAll { $0.devices == 0 }
    try countNothing(audience.numbers.subtracting(all))
  }

  // MARK: The direct connection

  private mutating func countOwn() throws(StorageError) {
    let own = plan.own.numbers.subtracting(held)
    let reachable = app.directory.reachable
    for (moment, members) in [
      (PushForecast.Moment.now, own.intersection(reachable)), (.later, own.subtracting(reachable)),
    ] where !members.isEmpty {
      var row = PushForecast.Row(DeliveryLeg(.passthrough), moment)
      for platform in Platform.allCases {
        let some = members.intersection(app.directory.members(platforms: PlatformSet(platform)))
        guard !some.isEmpty else { continue }
        let with = some.intersection(elsewhere)
        add(with, on: platform, viaVendor: true, to: &row)
        let without = some.subtracting(with)
        add(without, on: platform, viaVendor: false, to: &row)
        guard moment == .later else { continue }
        for (cause, devices) in try causes(without, on: platform) {
          if let cause { row.explain(devices.count, cause) }
        }
      }
      rows.append(row)
    }
  }

  /// Over which channel they get it is not known before.
  private mutating func countHeld() {
    var row = PushForecast.Row(DeliveryLeg(.passthrough), .held)
    row.add(held.count, .waiting, .held)
    rows.append(row)
  }

  private func add(
    _ members: NumberSet, on platform: Platform, viaVendor: Bool, to row: inout PushForecast.Row
  ) {
    let parts = Routing.ownParts(
      platform, of: push.content.parts(for: platform), strategy: push.options.strategy, viaVendor: viaVendor)
    let tone: PushTone = parts.contains(.notification) ? .loud : .silent(.messageOnly)
    add(members, tone, hidingFrom: off, to: &row)
  }

  /// Counts devices that get something in a tone, and of them those that do not show it.
  private func add(
    _ members: NumberSet, _ tone: PushTone, hidingFrom off: NumberSet, to row: inout PushForecast.Row
  ) {
    let hidden = tone.isShown ? members.intersectionCount(off) : 0
    row.add(hidden, .hidden, .permissionOff)
    let (effect, cause) = tone.effect
    row.add(members.count - hidden, effect, cause)
  }

  // MARK: Channels to services

  private mutating func count(
    _ way: RoutePlan.Leg, _ moment: PushForecast.Moment
  ) throws(StorageError) {
    guard let channel = conditions.channels.serviceChannel(way.leg.channel),
      let offer = offers.first(where: { $0.leg == way.leg })
    else { return }
    var row = PushForecast.Row(way.leg, moment)
    let tone = channel.tone(of: push.content, on: way.leg)
    let off = offer.slot.needsPermission ? self.off : NumberSet()
    var left = conditions.left(
      channel, for: push.content, secondsToLive: push.options.timeToLive)
    for (service, members) in divide(way.targets.numbers, holding: offer.slot).parts {
      if let obstacle = try conditions.way(channel, for: service, push.content).obstacle {
        row.add(members.count, .waiting, obstacle)
        continue
      }
      // Whom the service takes first nobody knows.
      let fitting = left.map { members.first($0) } ?? members
      left = left.map { $0 - fitting.count }
      row.add(members.count - fitting.count, .waiting, .overQuota)
      add(fitting, tone, hidingFrom: off, to: &row)
    }
    rows.append(row)
  }

  // MARK: Nothing

  private mutating func countNothing(_ unreached: NumberSet) throws(StorageError) {
    guard !unreached.isEmpty else { return }
    let awaited = unreached.intersection(app.directory.awaited)
    nothing.add(awaited.count, .notRegistered)
    let others = unreached.subtracting(awaited)
    for platform in Platform.allCases {
      let members = others.intersection(app.directory.members(platforms: PlatformSet(platform)))
      for (cause, devices) in try causes(members, on: platform) {
        nothing.add(devices.count, cause ?? (push.options.timeToLive == 0 ? .onlineOnly : .noChannel))
      }
    }
  }

  /// Why no channel to a service brings devices of a platform the notification; nil for those whom none
  /// could reach, and for those whom one could if the push's options did not choose another way.
  private func causes(
    _ members: NumberSet, on platform: Platform
  ) throws(StorageError) -> [(cause: WhyCause?, devices: NumberSet)] {
    guard !members.isEmpty else { return [] }
    let ways = conditions.channels.ways(for: push.content, push.options.strategy, on: platform)
    // These have a token that the app has a credential for. Options of the push, such as `distribution`,
    // choose another way.
    var chosen = NumberSet()
    for offer in offers where offer.leg.isMain && offer.platforms.contains(platform) {
      chosen.formUnion(app.directory.members(holding: offer.slot, for: offer.services))
    }
    chosen.formIntersection(members)
    var left = members.subtracting(chosen)
    var bare = NumberSet()
    for way in ways {
      guard let slot = way.slot else { continue }
      let (parts, rest) = divide(left, holding: slot)
      left = rest
      for (service, held) in parts {
        let credential = try conditions.credential(way.channel, for: service)
        if credential == .missing { bare.formUnion(held) } else { chosen.formUnion(held) }
      }
    }
    let general = try left.isEmpty ? nil : causeWithoutToken(ways)
    return [(.noCredential, bare), (nil, chosen), (general, left)].filter { !$0.1.isEmpty }
  }

  /// Divides devices by the service that their token for a slot belongs to; the rest has no such token.
  private func divide(
    _ members: NumberSet, holding slot: TokenSlot
  ) -> (parts: [(service: ServiceID, members: NumberSet)], rest: NumberSet) {
    var (parts, rest) = ([(service: ServiceID, members: NumberSet)](), members)
    for service in ServiceID.all where !rest.isEmpty {
      let held = rest.intersection(app.directory.members(holding: slot, for: ServiceSet(service)))
      guard !held.isEmpty else { continue }
      rest.subtract(held)
      parts.append((service, held))
    }
    return (parts, rest)
  }

  /// The cause for devices without a token of any of these channels.
  private func causeWithoutToken(_ ways: [PluggedChannels.Way]) throws(StorageError) -> WhyCause? {
    var isMissing = false
    for way in ways {
      let credential = try conditions.credential(way.channel, for: .none)
      if credential.isPresent { return .noToken }
      isMissing = credential == .missing
    }
    return isMissing && ways.count == 1 ? .noCredential : nil
  }
}

extension PushTone {
  /// Whether the device has something to show.
  fileprivate var isShown: Bool {
    switch self {
    case .silent(.messageOnly), .silent(.wakesApp): false
    case .loud, .silent, .registered: true
    }
  }

  fileprivate var effect: (PushForecast.Effect, WhyCause?) {
    switch self {
    case .loud: (.loud, nil)
    case .silent(let cause): (.silent, cause)
    case .registered: (.registered, nil)
    }
  }
}

extension WhyFacts.Credential {
  /// Whether the app has one, usable or not.
  var isPresent: Bool { self != .missing && self != .notNeeded }
}

extension NumberSet {
  /// So many of its members: the smallest.
  fileprivate func first(_ count: Int) -> NumberSet {
    guard count < self.count else { return self }
    return member(at: max(0, count)).map { below($0) } ?? self
  }
}
