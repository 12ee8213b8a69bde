import BorealisBase
import Model

extension PluggedChannels {
  /// A channel to a service, for a push.
  struct Way {
    let channel: any ServiceChannel
    /// The token that the push goes to; nil if the channel has nothing to bring of it.
    let slot: TokenSlot?

    init(_ channel: any ServiceChannel, for content: PushContent?) {
      self.channel = channel
      slot = content.flatMap { channel.slot(for: $0) }
    }
  }

  /// The channels that could bring a content to devices of a platform, whether the app has a credential for
  /// them or not.
  func ways(for content: PushContent?, _ strategy: Strategy, on platform: Platform) -> [Way] {
    services.compactMap { plugged in
      let (info, way) = (plugged.channel.info, Way(plugged.channel, for: content))
      let own = content?.strategy(of: info.id, else: strategy) ?? strategy
      return way.slot != nil && info.platforms.contains(platform)
        && Routing.mayUseVendor(own, on: platform) ? way : nil
    }
  }
}
