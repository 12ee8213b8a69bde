import PushBase
import PushDomain
import Synchronization

/// Which way a push goes to the members of its audience.
struct RoutePlan: Sendable {
  /// Who gets something over our connection, now or later.
  var own: Recipients
  /// Who gets something from Apple.
  var apns: Recipients = .few([])
  /// Who gets a call from Apple, beside all else.
  var calls: Recipients = .few([])
  /// The audience's members on iOS, nil for nobody.
  var ios: NumberSet?

  /// Whether nobody gets anything from Apple.
  var isWithoutApple: Bool { apns.isEmpty && calls.isEmpty }
  /// Whether nobody gets anything.
  var isEmpty: Bool { own.isEmpty && isWithoutApple }
}

/// What routes depend on, besides the device.
struct RouteTerms: Sendable {
  let strategy: Strategy
  /// What the push has for iOS.
  let iosParts: PushParts
  /// The services of Apple's that the app has credentials for, if the push has anything for Apple.
  let apns: APNsEnvironments
  /// The same for its call. Only Apple can bring one, so only a strategy without Apple drops it.
  let calls: APNsEnvironments
  /// The token that Apple needs for all but the call.
  let slot: APNsTokenSlot
  /// Whether the push has something for our connection.
  let hasOwnContent: Bool
  /// Only devices that are online now.
  let isOnlineOnly: Bool

  init(_ request: AcceptRequest, apns available: APNsEnvironments) {
    strategy = request.strategy
    iosParts = request.content.parts(for: .ios)
    let activity = request.content.apple.first { $0.slot.kind.isNamed }
    apns = request.content.apns == nil && activity == nil ? [] : available
    slot = activity?.slot ?? .device
    let mayCall = request.content.apns(for: .voip) != nil && request.strategy != .ownOnly
    calls = mayCall ? available : []
    hasOwnContent = !request.content.variants.isEmpty
    isOnlineOnly = request.timeToLive == 0
  }

  /// Whether everybody goes the way of our connection.
  var isPlain: Bool {
    strategy == .jpush && apns.isEmpty && calls.isEmpty && !isOnlineOnly && hasOwnContent
  }
}

/// iOS devices that have the same route.
private struct IOSClass {
  static let all = [false, true].flatMap { isInReach in
    [false, true].map { IOSClass(isInReach: isInReach, hasToken: $0) }
  }

  /// Connected and in the foreground.
  let isInReach: Bool
  /// Has a token for a service of Apple's that the app has credentials for.
  let hasToken: Bool
}

/// The routes of the iOS devices for which a push is meant.
private struct IOSRoutes {
  private let inReach: (withToken: Route, without: Route)
  private let away: (withToken: Route, without: Route)

  init(_ terms: RouteTerms) {
    func route(isInReach: Bool, hasToken: Bool) -> Route {
      Routing.route(
        RouteInput(
          platform: .ios, parts: terms.iosParts, isOnline: isInReach,
          appState: isInReach ? .foreground : .background, apnsAvailable: hasToken,
          strategy: terms.strategy, onlineOnly: terms.isOnlineOnly))
    }
    inReach = (route(isInReach: true, hasToken: true), route(isInReach: true, hasToken: false))
    away = (route(isInReach: false, hasToken: true), route(isInReach: false, hasToken: false))
  }

  subscript(kind: IOSClass) -> Route {
    let routes = kind.isInReach ? inReach : away
    return kind.hasToken ? routes.withToken : routes.without
  }
}

extension Route {
  fileprivate var usesOwn: Bool { !keep.isEmpty || now.contains { $0.channel == .passthrough } }
  fileprivate var usesAPNs: Bool { now.contains { $0.channel == .apns } }
}

extension AppDirectory {
  /// Divides an audience by the table of routes, as its devices are now.
  func plan(_ audience: Recipients, _ terms: RouteTerms) -> RoutePlan {
    let routes = terms.isPlain ? nil : IOSRoutes(terms)
    return state.withLock { state in
      var plan = RoutePlan(own: .few([]))
      if let routes {
        if terms.hasOwnContent {
          switch audience {
          case .few(let numbers): plan = state.plan(numbers, terms, routes)
          case .many(let set): plan = state.plan(set, terms, routes)
          }
        } else if !terms.apns.isEmpty {
          plan.apns = audience.intersection(state.table.members(tokensFor: terms.apns, as: terms.slot))
        }
        if !terms.calls.isEmpty {
          plan.calls = audience.intersection(state.table.members(tokensFor: terms.calls, as: .voip))
        }
      } else {
        plan.own = audience
      }
      plan.ios = state.ios(of: audience)
      return plan
    }
  }
}

extension AppDirectory.State {
  fileprivate func ios(of audience: Recipients) -> NumberSet? {
    switch audience {
    case .few(let numbers):
      let found = numbers.filter { table[$0].platform == Platform.ios.rawValue }
      return found.isEmpty ? nil : NumberSet(found)
    case .many(let set):
      let found = set.intersection(table.members(platforms: PlatformSet(.ios)))
      return found.isEmpty ? nil : found
    }
  }

  fileprivate func plan(
    _ numbers: [RegistrationNumber], _ terms: RouteTerms, _ routes: IOSRoutes
  ) -> RoutePlan {
    let tokens = table.members(tokensFor: terms.apns)
    var own: [RegistrationNumber] = []
    var apns: [RegistrationNumber] = []
    for number in numbers {
      guard table[number].platform == Platform.ios.rawValue else {
        let isWanted = !terms.isOnlineOnly || table[number].isOnline
        if isWanted, terms.strategy != .vendorOnly { own.append(number) }
        continue
      }
      let kind = IOSClass(
        isInReach: table[number].isOnline && table[number].isForeground, hasToken: tokens.contains(number))
      let route = routes[kind]
      if route.usesOwn { own.append(number) }
      if route.usesAPNs { apns.append(number) }
    }
    return RoutePlan(own: Recipients(own), apns: Recipients(apns))
  }

  fileprivate func plan(
    _ audience: NumberSet, _ terms: RouteTerms, _ routes: IOSRoutes
  ) -> RoutePlan {
    var ios = table.members(platforms: PlatformSet(.ios))
    ios.formIntersection(audience)
    var own = audience
    own.subtract(ios)
    if terms.strategy == .vendorOnly { own = NumberSet() }
    if terms.isOnlineOnly { own.formIntersection(onlineSet) }
    var apns = NumberSet()
    let tokens = table.members(tokensFor: terms.apns)
    for kind in IOSClass.all {
      let route = routes[kind]
      guard route.usesOwn || route.usesAPNs else { continue }
      var members = ios
      if kind.hasToken { members.formIntersection(tokens) } else { members.subtract(tokens) }
      if kind.isInReach { members.formIntersection(inReachSet) } else { members.subtract(inReachSet) }
      if route.usesOwn { own.formUnion(members) }
      if route.usesAPNs { apns.formUnion(members) }
    }
    return RoutePlan(own: Recipients(own), apns: Recipients(apns))
  }
}
