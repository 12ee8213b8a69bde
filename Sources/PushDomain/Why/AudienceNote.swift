import PushBase
import PushJSON

/// Who a push was for, as its sender named them: read from the push object that was kept, so that it can be told later why a
/// device was not among them.
public struct AudienceNote: Equatable, Sendable {
  /// Devices needed one of these tags, if there are any.
  public var tags: [String] = []
  /// Devices needed each of these tags.
  public var tagsAnd: [String] = []
  /// Devices must have had none of these tags.
  public var tagsNot: [String] = []
  /// Devices needed one of these aliases, if there are any.
  public var aliases: [String] = []
  /// Whether registration IDs were named, or a file that names devices.
  public var namesDevices = false
  /// The Live Activity whose token they needed, if one was named.
  public var liveActivity: String?
  /// Whether only devices for tests were meant.
  public var isForTestDevices = false

  /// Everybody.
  public init() {}

  /// Reads a push object that was accepted once; nil if it says nothing about an audience. What the rules of today would
  /// refuse is read all the same.
  public init?(pushObject bytes: [UInt8]) {
    guard let object = try? parseJSON(bytes), let audience = object["audience"] else { return nil }
    func names(_ key: String) -> [String] { (audience[key]?.array ?? []).compactMap(\.string) }
    tags = names("tag")
    tagsAnd = names("tag_and")
    tagsNot = names("tag_not")
    aliases = names("alias")
    namesDevices = audience["registration_id"] != nil || audience["file"] != nil
    liveActivity = audience["live_activity_id"]?.string
    isForTestDevices = object["options"]?["test_model"]?.bool == true
  }
}
