/// How a notification announces itself on the devices of a channel.
package enum PushTone: Hashable, Sendable {
  /// With a sound.
  case loud
  /// Without one, for this reason.
  case silent(WhyCause)
  /// As the app has registered it with the channel's service, which only the service knows.
  case registered
}

extension ChannelPreview {
  /// How devices announce it.
  package var tone: PushTone {
    switch messageClass {
    case .marketing: .silent(isByDefault ? .classMissing : .marketingClass)
    case _ where isMuted: .silent(.noSound)
    case .service: .loud
    case nil: .registered
    }
  }
}
