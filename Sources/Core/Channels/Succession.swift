import BorealisBase
import Model
import Storage

/// The channels by which a push goes on to devices whose token of one has turned out to be dead: those for
/// which the devices have a token as well, by the way that the sender chose for them. The channels after it
/// are asked in their order, as for a new push to devices that do not have that token.
struct Succession {
  /// A channel that comes after it.
  private struct Next {
    let offer: ChannelOffer
    let strategy: Strategy
  }

  private let next: [Next]
  private let platforms: PlatformSet
  /// Whether the direct connection brings it where none of them does.
  private let fallsBack: Bool

  init(
    after channel: ChannelID, _ content: PushContent, _ strategy: Strategy, _ plugged: PluggedChannels,
    in app: App
  ) {
    let all = plugged.carrying(content.parts)
    let place = all.firstIndex { $0.id == channel }
    let platforms = place.map { all[$0].channel.info.platforms } ?? []
    let chosen = content.wayForBoth(of: channel)
    var next: [Next] = []
    for other in place.map({ all[($0 + 1)...] }) ?? [] {
      guard !other.channel.info.platforms.isDisjoint(with: platforms) else { continue }
      var way = content.strategy(of: other.id, else: strategy)
      if let chosen, chosen.other == other.id {
        // The sender wants the maker's service for devices that both reach.
        guard chosen.isOverOther else { continue }
        way = Strategy(chosen.rule, ios: strategy.ios)
      }
      let offers = other.channel.offers(content, strategy, in: app).filter(\.leg.isMain)
      guard !offers.isEmpty, other.channel.mayTakeOver(in: app) else { continue }
      next += offers.map { Next(offer: $0, strategy: way) }
    }
    self.next = next
    self.platforms = platforms
    let own = content.strategy(of: channel, else: strategy)
    fallsBack = Platform.allCases.contains {
      platforms.contains($0) && Routing.fallsBackToOwn(own, on: $0, content.parts(for: $0))
    }
  }

  var isEmpty: Bool { next.isEmpty }

  /// Divides devices whose token is gone; those for whom there is no other way are left out. `targets` is
  /// what has become of the push so far.
  func divide(
    _ devices: NumberSet, _ targets: PushTargets, in directory: AppDirectory
  ) -> (legs: [DeliveryLeg: NumberSet], own: NumberSet) {
    var legs: [DeliveryLeg: NumberSet] = [:]
    var (left, own) = (devices, NumberSet())
    // Where the connection may bring it, it does so for a device that is there, if the other channel is only
    // for those that are not.
    let reachable = NumberSet(fallsBack ? directory.reachable(among: devices.members()) : [])
    for one in next {
      // A failure of the database after that has this asked again.
      left.subtract(targets.legs[one.offer.leg]?.meant ?? NumberSet())
      for platform in Platform.allCases
      where one.offer.platforms.contains(platform) && platforms.contains(platform) {
        let holders = directory.members(of: one.offer)
          .intersection(directory.members(platforms: PlatformSet(platform))).intersection(left)
        left.subtract(holders)
        for isReachable in [true, false] {
          let some = isReachable ? holders.intersection(reachable) : holders.subtracting(reachable)
          if Routing.usesVendor(one.strategy, on: platform, isReachable: isReachable) {
            legs[one.offer.leg, default: NumberSet()].formUnion(some)
          } else {
            own.formUnion(some)
          }
        }
      }
    }
    return (legs.filter { !$0.value.isEmpty }, fallsBack ? own.union(left) : NumberSet())
  }
}

extension Deliveries {
  /// Whether a push may go on over another channel to devices whose token of one is gone.
  package func goesOn(_ push: StoredPush, after channel: ChannelID, in app: App) -> Bool {
    !Succession(after: channel, push.content, push.strategy, channels, in: app).isEmpty
  }
}
