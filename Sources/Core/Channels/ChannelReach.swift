import BorealisBase
import Model

/// Whom one channel can bring a notification, for tests of it.
package struct ChannelReach: Sendable {
  /// How many registrations.
  package let count: Int
  /// The first of them.
  package let first: [(id: RegistrationID, platform: Platform)]
  private let members: NumberSet

  /// Whether a registration is one of them.
  package func contains(_ number: RegistrationNumber) -> Bool { members.contains(number) }

  fileprivate init(_ members: NumberSet, first: [(id: RegistrationID, platform: Platform)]) {
    self.members = members
    self.first = first
    count = members.count
  }
}

extension PluggedChannels {
  /// The registrations of an app to which a channel would bring a content now, with the first `limit` of
  /// them. None without a credential.
  package func reach(
    of channel: ChannelID, _ content: PushContent, in app: App, limit: Int
  ) -> ChannelReach {
    let offers = serviceChannel(channel)?.offers(content, .vendorOnly, in: app) ?? []
    return app.directory.reach(of: offers.filter(\.leg.isMain), limit: limit)
  }
}

extension AppDirectory {
  fileprivate func reach(of offers: [ChannelOffer], limit: Int) -> ChannelReach {
    state.withLock { state in
      var members = NumberSet()
      for offer in offers {
        members.formUnion(
          state.table.members(holding: offer.slot, for: offer.services)
            .intersection(state.table.members(platforms: offer.platforms)))
      }
      let first = members.members(limit: limit).compactMap { number in
        Platform(rawValue: state.table.records[number.rawValue].platform).map {
          (id: state.table.records[number.rawValue].id, platform: $0)
        }
      }
      return ChannelReach(members, first: first)
    }
  }
}
