import PushBase
import PushJSON

/// Which devices of an app a push is for. What is listed under one key is joined as the key says, and the
/// keys are joined by AND.
public struct AudienceFilter: Equatable, Sendable {
  /// Devices with any of these tags; empty for no condition.
  public var tag: [String]
  /// Devices with all of these tags; empty for no condition.
  public var tagAnd: [String]
  /// Devices with none of these tags; empty for no condition.
  public var tagNot: [String]
  /// Devices with any of these aliases; empty for no condition.
  public var alias: [String]
  /// These devices; empty for no condition. Texts that are no registration ID match no device.
  public var registrationID: [String]

  /// The devices with a Live Activity of this name; nil for no condition. Stands alone.
  public var liveActivityID: String?

  /// Makes a filter; an empty list is no condition.
  public init(
    tag: [String] = [], tagAnd: [String] = [], tagNot: [String] = [], alias: [String] = [],
    registrationID: [String] = [], liveActivityID: String? = nil
  ) {
    self.tag = tag
    self.tagAnd = tagAnd
    self.tagNot = tagNot
    self.alias = alias
    self.registrationID = registrationID
    self.liveActivityID = liveActivityID
  }

  /// Tells whether there is no condition at all; the parser never gives such a filter.
  public var isEmpty: Bool {
    tag.isEmpty && tagAnd.isEmpty && tagNot.isEmpty && alias.isEmpty && registrationID.isEmpty
      && liveActivityID == nil
  }
}

/// Who a push is for.
public enum Audience: Equatable, Sendable {
  /// Every device of the push's platforms.
  case all
  /// The devices that meet every condition.
  case filter(AudienceFilter)
  /// The devices that an uploaded file names.
  case file(String)

  /// The Live Activity that the push is for, if it is for one.
  public var liveActivityID: String? {
    if case .filter(let filter) = self { filter.liveActivityID } else { nil }
  }
}

/// Which audiences a request may have.
public enum AudienceKind: Equatable, Sendable {
  /// Everybody, or by names.
  case named
  /// A file only.
  case file
  /// Any of them.
  case any
}
