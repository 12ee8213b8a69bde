import Channels
import Model

extension PushRules {
  /// The default rules with the channel to Apple plugged in.
  static let withAPNs = PushRules(renderers: [APNsContentRenderer()])
}
