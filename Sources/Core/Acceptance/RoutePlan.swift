import BorealisBase
import Model
import Synchronization

/// Which way a push goes to the members of its audience.
struct RoutePlan: Sendable {
  /// Who gets one leg of a vendor's channel.
  struct Leg: Sendable {
    let leg: DeliveryLeg
    let targets: Recipients

    /// It without some of its targets, nil if nobody is left.
    fileprivate func without(_ numbers: NumberSet) -> Leg? {
      let left = targets.subtracting(numbers)
      return left.isEmpty ? nil : Leg(leg: leg, targets: left)
    }
  }

  /// Who gets something over our connection, now or later.
  var own: Recipients
  /// The legs of channels to outside services; none is empty.
  private(set) var vendors: [Leg] = []
  /// The legs of those who get something over our connection now, and their notification by a vendor's
  /// channel if they do not acknowledge it in time; none is empty.
  private(set) var later: [Leg] = []
  /// The audience's members on iOS, nil for none.
  var ios: NumberSet?
  /// What some of the audience's members get in their language; nil if all get the same.
  var languages: PushLanguages?

  /// Has devices wait over our connection for what would go any way now but an addition, such as a call: it
  /// is routed when their quiet hours end. Returns those of them for whom there is something to wait.
  mutating func hold(_ numbers: NumberSet) -> NumberSet {
    var held = own.numbers.intersection(numbers)
    for way in vendors where way.leg.isMain {
      held.formUnion(way.targets.numbers.intersection(numbers))
    }
    vendors = vendors.compactMap { $0.leg.isMain ? $0.without(numbers) : $0 }
    later = later.compactMap { $0.leg.isMain ? $0.without(numbers) : $0 }
    own = Recipients(own.numbers.union(held))
    return held
  }

  /// Leaves some of the audience out.
  mutating func leaveOut(_ numbers: NumberSet) {
    own = own.subtracting(numbers)
    vendors = vendors.compactMap { $0.without(numbers) }
    later = later.compactMap { $0.without(numbers) }
    ios?.subtract(numbers)
    if ios?.isEmpty == true { ios = nil }
  }

  /// All who get something, now or later.
  var reached: Recipients {
    guard !vendors.isEmpty else { return own }
    return Recipients(vendors.reduce(into: own.numbers) { $0.formUnion($1.targets.numbers) })
  }

  /// Whether there are no targets.
  var isEmpty: Bool { own.isEmpty && vendors.isEmpty }

  init(own: Recipients) { self.own = own }

  /// Who gets a leg.
  subscript(leg: DeliveryLeg) -> Recipients {
    if leg.channel == .passthrough { return own }
    return vendors.first { $0.leg == leg }?.targets ?? .few([])
  }

  fileprivate mutating func add(_ targets: Recipients, to leg: DeliveryLeg) {
    Self.add(targets, to: leg, &vendors)
  }

  fileprivate mutating func addLater(_ targets: Recipients, to leg: DeliveryLeg) {
    Self.add(targets, to: leg, &later)
  }

  private static func add(_ targets: Recipients, to leg: DeliveryLeg, _ legs: inout [Leg]) {
    guard !targets.isEmpty else { return }
    if let known = legs.firstIndex(where: { $0.leg == leg }) {
      legs[known] = Leg(leg: leg, targets: Recipients(legs[known].targets.numbers.union(targets.numbers)))
    } else {
      legs.append(Leg(leg: leg, targets: targets))
    }
  }
}

/// The inputs of routes besides the device.
struct RouteTerms: Sendable {
  let strategy: Strategy
  /// Those of channels that the sender chose a way for.
  private let strategies: [ChannelID: Strategy]
  /// The ways to devices that another channel reaches as well, by the channels' places in `vendors`, with the
  /// other one's place.
  private let forBoth: [Int: (other: Int, way: Way)]
  let content: PushContent
  /// What channels could bring in place of our connection: of two for one device the first counts.
  let vendors: [ChannelOffer]
  /// What they could bring in addition.
  let additions: [ChannelOffer]
  /// Whose apps show it in their own pages alone, since the users have turned notifications off.
  fileprivate let onlyInApp: NumberSet
  /// By what a device may get it besides our connection, and by whose rules.
  fileprivate struct Way {
    let offer: ChannelOffer?
    let strategy: Strategy
  }

  /// Only devices that are online now.
  let isOnlineOnly: Bool
  /// What is not acknowledged in time goes to a vendor's channel.
  let fallsBackLater: Bool

  init(_ request: PushRequest, offers: [ChannelOffer], onlyInApp: NumberSet = NumberSet()) {
    self.init(
      request.content, request.options.strategy, offers: offers, onlyInApp: onlyInApp,
      isOnlineOnly: request.options.timeToLive == 0,
      fallsBackLater: request.options.fallbackAfter != nil)
  }

  /// For a push that was accepted before: nothing is sent again by another way if it is not acknowledged.
  init(
    _ content: PushContent, _ strategy: Strategy, offers: [ChannelOffer], onlyInApp: NumberSet,
    isOnlineOnly: Bool = false, fallsBackLater: Bool = false
  ) {
    self.strategy = strategy
    self.content = content
    self.onlyInApp = onlyInApp
    vendors = offers.filter(\.leg.isMain)
    additions = offers.filter { !$0.leg.isMain }
    let vendors = vendors
    var forBoth: [Int: (other: Int, way: Way)] = [:]
    for (place, offer) in vendors.enumerated() {
      guard let chosen = content.wayForBoth(of: offer.leg.channel),
        let other = vendors.firstIndex(where: { $0.leg.channel == chosen.other }), other != place
      else { continue }
      let rules = Strategy(chosen.rule, ios: strategy.ios)
      forBoth[place] = (other, Way(offer: chosen.isOverOther ? vendors[other] : offer, strategy: rules))
    }
    self.forBoth = forBoth
    strategies = content.forChannels.reduce(into: [:]) { found, one in
      let own = content.strategy(of: one.channel, else: strategy)
      if own != strategy { found[one.channel] = own }
    }
    self.isOnlineOnly = isOnlineOnly
    self.fallsBackLater = fallsBackLater
  }

  /// Whether the push has something for our connection.
  var hasOwnContent: Bool { !content.variants.isEmpty }

  /// The platforms for which channels have something, such as calls, and our connection has nothing.
  private var platformsOfChannels: PlatformSet {
    content.platforms.subtracting(content.passthroughPlatforms)
  }

  /// Whether all targets use the direct connection.
  var isPlain: Bool {
    Routing.usesDirect(strategy) && vendors.isEmpty && additions.isEmpty && !isOnlineOnly && hasOwnContent
      && platformsOfChannels.isEmpty
  }

  /// The platforms on which routes differ from device to device, or from those of other platforms.
  fileprivate var platforms: PlatformSet {
    vendors.reduce(into: platformsOfChannels.union(PlatformSet(.ios))) { $0.formUnion($1.platforms) }
  }

  /// Whether our connection has something for devices that no vendor's channel reaches.
  fileprivate func reachesWithoutVendor(reachable: Bool) -> Bool {
    Routing.reachesWithoutVendor(strategy, reachable: reachable, onlineOnly: isOnlineOnly)
  }

  /// The way to devices for which the offer at a place is the first; nil for none.
  fileprivate func way(_ place: Int?) -> Way {
    let offer = place.map { vendors[$0] }
    return Way(offer: offer, strategy: offer.flatMap { strategies[$0.leg.channel] } ?? strategy)
  }

  /// The way to those of them that the other channel reaches as well, with the other one's place; nil if that
  /// is the same.
  fileprivate func wayForBoth(_ place: Int) -> (other: Int, way: Way)? { forBoth[place] }

  /// The route of devices that are alike.
  fileprivate func route(
    _ platform: Platform, isReachable: Bool, isOnlyInApp: Bool, _ way: Way
  ) -> PushRoute {
    Routing.route(
      RouteInput(
        platform: platform, parts: content.parts(for: platform), isOnline: isReachable,
        appState: isReachable ? .foreground : .background, vendor: way.offer?.leg.channel,
        strategy: way.strategy,
        onlineOnly: isOnlineOnly, fallsBackLater: fallsBackLater, isOnlyInApp: isOnlyInApp))
  }
}

extension PushRoute {
  fileprivate var usesOwn: Bool { !keep.isEmpty || now.contains { $0.channel == .passthrough } }
  fileprivate var usesVendor: Bool { now.contains { $0.channel != .passthrough } }
}

extension AppDirectory {
  /// Divides an audience by the table of routes, as its devices are now.
  func plan(_ audience: Recipients, _ terms: RouteTerms) -> RoutePlan {
    state.withLock { state in
      var plan = RoutePlan(own: terms.isPlain ? audience : .few([]))
      if !terms.isPlain {
        if terms.hasOwnContent {
          switch audience {
          case .few(let numbers): state.add(numbers, terms, to: &plan)
          case .many(let set): state.add(set, terms, to: &plan)
          }
        } else {
          var taken = NumberSet()
          for offer in terms.vendors {
            // As everywhere, of two offers for one device the first counts.
            let members = state.table.members(of: offer)
              .intersection(state.table.members(platforms: offer.platforms)).subtracting(taken)
            plan.add(audience.intersection(members), to: offer.leg)
            taken.formUnion(members)
          }
        }
        for offer in terms.additions {
          plan.add(audience.intersection(state.table.members(of: offer)), to: offer.leg)
        }
      }
      // Nothing waits here for an imported registration: what its device gets before it comes, it gets by its
      // tokens or elsewhere.
      if !state.table.awaited.isEmpty { plan.own = plan.own.subtracting(state.table.awaited) }
      plan.ios = state.ios(of: audience)
      return plan
    }
  }
}

extension RegistrationTable {
  fileprivate func members(of offer: ChannelOffer) -> NumberSet {
    members(holding: offer.slot, for: offer.services)
  }
}

extension AppDirectory.State {
  fileprivate func ios(of audience: Recipients) -> NumberSet? {
    switch audience {
    case .few(let numbers):
      let found = numbers.filter { table.records[$0.rawValue].platform == Platform.ios.rawValue }
      return found.isEmpty ? nil : NumberSet(found)
    case .many(let set):
      let found = set.intersection(table.members(platforms: PlatformSet(.ios)))
      return found.isEmpty ? nil : found
    }
  }

  fileprivate func add(_ numbers: [RegistrationNumber], _ terms: RouteTerms, to plan: inout RoutePlan) {
    let platforms = terms.platforms
    let (reachesOnline, reachesAway) = (
      terms.reachesWithoutVendor(reachable: true), terms.reachesWithoutVendor(reachable: false)
    )
    let holders = terms.vendors.map { table.members(of: $0) }
    var own: [RegistrationNumber] = []
    var vendors = terms.vendors.map { _ in [RegistrationNumber]() }
    var later = vendors
    for number in numbers {
      let record = table.records[number.rawValue]
      guard let platform = Platform(rawValue: record.platform), platforms.contains(platform) else {
        if record.isOnline ? reachesOnline : reachesAway { own.append(number) }
        continue
      }
      let state: AppVisibility = record.isForeground ? .foreground : .background
      let isReachable = Routing.isReachable(platform, isOnline: record.isOnline, state)
      var place = terms.vendors.indices.first {
        terms.vendors[$0].platforms.contains(platform) && holders[$0].contains(number)
      }
      var way = terms.way(place)
      if let other = place.flatMap({ terms.wayForBoth($0) }), holders[other.other].contains(number) {
        way = other.way
        if way.offer?.leg == terms.vendors[other.other].leg { place = other.other }
      }
      let route = terms.route(
        platform, isReachable: isReachable, isOnlyInApp: terms.onlyInApp.contains(number), way)
      if route.usesOwn { own.append(number) }
      if route.usesVendor, let place { vendors[place].append(number) }
      if route.ifUnacknowledged != nil, let place { later[place].append(number) }
    }
    plan.own = Recipients(own)
    for (offer, numbers) in zip(terms.vendors, vendors) { plan.add(Recipients(numbers), to: offer.leg) }
    for (offer, numbers) in zip(terms.vendors, later) { plan.addLater(Recipients(numbers), to: offer.leg) }
  }

  fileprivate func add(_ audience: NumberSet, _ terms: RouteTerms, to plan: inout RoutePlan) {
    var own = NumberSet()
    if terms.reachesWithoutVendor(reachable: true) {
      own = audience.subtracting(table.members(platforms: terms.platforms))
      if !terms.reachesWithoutVendor(reachable: false) { own.formIntersection(onlineSet) }
    }
    for platform in Platform.allCases where terms.platforms.contains(platform) {
      var left = table.members(platforms: PlatformSet(platform))
      left.formIntersection(audience)
      let reachable = Routing.needsForeground(platform) ? reachableSet : onlineSet
      for (place, offer) in terms.vendors.enumerated() where offer.platforms.contains(platform) {
        var members = left.intersection(table.members(of: offer))
        left.subtract(members)
        if let other = terms.wayForBoth(place) {
          let both = members.intersection(table.members(of: terms.vendors[other.other]))
          members.subtract(both)
          add(both, platform, other.way, terms, reachable, own: &own, to: &plan)
        }
        add(members, platform, terms.way(place), terms, reachable, own: &own, to: &plan)
      }
      add(left, platform, terms.way(nil), terms, reachable, own: &own, to: &plan)
    }
    plan.own = Recipients(own)
  }

  /// Adds devices of a platform that one channel could reach, or none.
  private func add(
    _ members: NumberSet, _ platform: Platform, _ way: RouteTerms.Way, _ terms: RouteTerms,
    _ reachable: NumberSet, own: inout NumberSet, to plan: inout RoutePlan
  ) {
    guard !members.isEmpty else { return }
    var (brought, later) = (NumberSet(), NumberSet())
    var groups = [(members, isOnlyInApp: false)]
    if !terms.onlyInApp.isEmpty {
      groups = [
        (members.subtracting(terms.onlyInApp), false), (members.intersection(terms.onlyInApp), true),
      ]
    }
    for (group, isOnlyInApp) in groups {
      for isReachable in [false, true] where !group.isEmpty {
        let route = terms.route(platform, isReachable: isReachable, isOnlyInApp: isOnlyInApp, way)
        guard route.usesOwn || route.usesVendor else { continue }
        let some = isReachable ? group.intersection(reachable) : group.subtracting(reachable)
        if route.usesOwn { own.formUnion(some) }
        if route.usesVendor { brought.formUnion(some) }
        if route.ifUnacknowledged != nil { later.formUnion(some) }
      }
    }
    guard let leg = way.offer?.leg else { return }
    plan.add(Recipients(brought), to: leg)
    plan.addLater(Recipients(later), to: leg)
  }
}
