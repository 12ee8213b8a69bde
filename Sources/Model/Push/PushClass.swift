/// The class of a notification, of which a device gets a limited number in a day. What the sender says is a
/// system notification (`classification` 1) has none, and neither has a push without a notification: a custom
/// message, a call, or an update of a Live Activity.
package enum PushClass: String, CaseIterable, Sendable {
  /// The sender does not say what it is.
  case normal
  /// The sender says that it is marketing (`classification` 0).
  case marketing
}

extension PushRequest {
  /// The class whose number for a device is limited; nil for none.
  package var limitedClass: PushClass? {
    // One that replaces another adds none to what the device shows.
    options.overrideMessageID == nil ? shownClass : nil
  }

  /// The class of what devices show of it, whether that replaces another push or not; nil for none.
  package var shownClass: PushClass? {
    guard content.hasNotification || content.content(for: .allVendors) != nil else { return nil }
    switch options.classification {
    case nil: return .normal
    case 0: return .marketing
    default: return nil
    }
  }
}
