/// What senders may wish of a channel alone: its object in `options.third_party_channel`, as the channel
/// describes it.
package struct ChannelOptions: Hashable, Sendable {
  /// JPush's name of the object: "huawei".
  package let key: String
  /// The members that the channel obeys, besides those that choose the way. All others have no effect.
  package let fields: [String: FieldKind]
  /// Members that do nothing without another one, by the other one.
  package let needs: [String: Set<String>]
  /// Whether its service tells service messages from marketing: it is then told `options.classification`.
  package let hasClasses: Bool

  package init(
    _ key: String, fields: [String: FieldKind] = [:], needs: [String: Set<String>] = [:],
    hasClasses: Bool = false
  ) {
    self.key = key
    self.fields = fields
    self.needs = needs
    self.hasClasses = hasClasses
  }
}
