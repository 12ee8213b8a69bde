import BorealisBase
import Model

/// How far a push, or a part of it, has come on one way.
package struct PushFunnel: Sendable {
  /// Who was to get it.
  package private(set) var target = NumberSet()
  /// The targets that it was handed to: devices that acknowledged it, or those for which a channel's service
  /// accepted it. What was written to a connection counts only once the device acknowledges it: nobody has
  /// seen it arrive before.
  package private(set) var sent = NumberSet()
  /// Who is known to have it: by their own word, or by a receipt of the channel's service.
  package private(set) var received = NumberSet()
  /// Who showed it, and whose users tapped it.
  package private(set) var shown = NumberSet(), tapped = NumberSet()

  /// For nobody.
  package init() {}

  fileprivate init(own members: NumberSet, of targets: PushTargets) {
    target = targets.own.intersection(members)
    received = targets.acknowledged.intersection(members)
    sent = received
    let own = targets.on(.passthrough)
    shown = own.shown.intersection(members)
    tapped = own.tapped.intersection(members)
  }

  /// How far it has come in the app's own pages for some who get it over our connection.
  fileprivate func inApp(_ targets: PushTargets) -> PushFunnel {
    var inApp = self
    inApp.shown = targets.inAppShown.intersection(target)
    inApp.tapped = targets.inAppTapped.intersection(target)
    return inApp
  }

  fileprivate init(_ channel: ChannelTargets) {
    target = channel.meant
    sent = channel.handed
    received = channel.arrived
    shown = channel.shown
    tapped = channel.tapped
  }

  /// Whether it was for nobody.
  package var isEmpty: Bool { target.isEmpty }

  /// Either way: a device counts once.
  package func union(_ other: PushFunnel) -> PushFunnel {
    var both = self
    both.target.formUnion(other.target)
    both.sent.formUnion(other.sent)
    both.received.formUnion(other.received)
    both.shown.formUnion(other.shown)
    both.tapped.formUnion(other.tapped)
    return both
  }
}

extension PushReport {
  /// Over our connection, to iOS.
  package var ownIOS: PushFunnel { PushFunnel(own: targets.ios, of: targets) }

  /// Over our connection, to the other platforms.
  package var ownOthers: PushFunnel { PushFunnel(own: others, of: targets) }

  /// By a channel.
  package func funnel(of channel: ChannelID) -> PushFunnel {
    channel == .passthrough ? ownIOS.union(ownOthers) : PushFunnel(targets.on(channel))
  }

  /// By one leg of a channel to an outside service.
  package func funnel(ofLeg leg: DeliveryLeg) -> PushFunnel { PushFunnel(targets.on(leg: leg)) }

  /// By channel with targets, passthrough first.
  package var funnels: [(channel: ChannelID, funnel: PushFunnel)] {
    targets.channels.map { ($0, funnel(of: $0)) }
  }

  /// What our connection carries of one part to iOS: to those who get their notification by another channel
  /// only the rest.
  package func ownIOS(_ part: PushParts) -> PushFunnel {
    PushFunnel(own: members(.ios, getting: part, of: iosParts, targets.ios), of: targets)
  }

  /// What our connection carries of one part to the other platforms: as for iOS.
  package func ownOthers(_ part: PushParts) -> PushFunnel {
    // Their rules are the same (`Routing.ownParts`).
    let all = otherParts.reduce(into: NumberSet()) {
      $0.formUnion(members(.android, getting: part, of: $1.parts, $1.targets))
    }
    return PushFunnel(own: all, of: targets)
  }

  /// The in-app message, on all platforms; for nobody unless the push is one.
  package var inApp: PushFunnel { inAppIOS.union(inAppOthers) }

  /// The same on iOS.
  package var inAppIOS: PushFunnel { isInApp ? ownIOS(.notification).inApp(targets) : PushFunnel() }

  /// The same on the other platforms.
  package var inAppOthers: PushFunnel { isInApp ? ownOthers(.notification).inApp(targets) : PushFunnel() }

  /// To whom of some on a platform, for whom the push has some parts, our connection brings one of them.
  private func members(
    _ platform: Platform, getting part: PushParts, of parts: PushParts, _ some: NumberSet
  ) -> NumberSet {
    let alone = Routing.ownParts(platform, of: parts, strategy: strategy, viaVendor: false)
    let rest = Routing.ownParts(platform, of: parts, strategy: strategy, viaVendor: true)
    let viaVendor = targets.servedForNotifications.intersection(some)
    var members = NumberSet()
    if !alone.isDisjoint(with: part) { members.formUnion(some.subtracting(viaVendor)) }
    // If nothing is left beside the notification, our connection had that before the channel took it over.
    if !(rest.isEmpty ? alone : rest).isDisjoint(with: part) { members.formUnion(viaVendor) }
    return members
  }

  private var others: NumberSet { targets.all.subtracting(targets.ios) }
}

extension PushTargets {
  /// Of `delivered`, the targets that are known to have the push: by their own word or by a receipt of a
  /// channel's service.
  package var received: NumberSet {
    channels.reduce(into: NumberSet()) { $0.formUnion(on($1).arrived) }.intersection(delivered)
  }

  /// The rest of `delivered`: a channel's service accepted it, and nobody knows whether they have it.
  package var onlyAccepted: NumberSet { delivered.subtracting(received) }
}
