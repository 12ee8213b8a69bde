import BorealisBase
import Model

/// What one channel would make of a push.
package struct PushPreview: Sendable {
  package let channel: ChannelInfo
  /// What its service would get.
  package let preview: ChannelPreview
  /// What it has said of the app's quota today; nil if nothing.
  package let quota: ChannelQuota?
}

extension PluggedChannels {
  /// What the channels that an app has credentials for would make of a push, in their order; those that have
  /// nothing to say of it are left out.
  package func previews(of content: PushContent, in app: App, secondsToLive: Int) -> [PushPreview] {
    services.compactMap { plugged in
      plugged.channel.preview(of: content, in: app, secondsToLive: secondsToLive).map {
        PushPreview(
          channel: plugged.channel.info, preview: $0, quota: plugged.channel.quota(of: app))
      }
    }
  }

  /// What the service of a channel has said of an app's quota today; nil if nothing, or if there is no such
  /// channel.
  package func quota(of app: App, on name: String) -> ChannelQuota? {
    services.first { $0.channel.info.name == name }?.channel.quota(of: app)
  }
}
