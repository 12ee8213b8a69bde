/// The values of `apns-push-type`, and which topics go with them.
enum SimulatedPushType: String, CaseIterable, Sendable {
  case alert, background, voip, complication, fileprovider, mdm, location, liveactivity, pushtotalk, widgets
  case controls

  private static let table = allCases.map { (type: $0, bytes: Array($0.rawValue.utf8)[...]) }

  /// Finds the exact lower-case word.
  init?(bytes: HeaderValue) {
    for entry in Self.table where entry.bytes == bytes {
      self = entry.type
      return
    }
    return nil
  }

  /// What follows the bundle ID in the topic.
  var suffix: String {
    switch self {
    case .alert, .background, .mdm: ""
    case .voip: ".voip"
    case .complication: ".complication"
    case .fileprovider: ".pushkit.fileprovider"
    case .location: ".location-query"
    case .liveactivity: ".push-type.liveactivity"
    case .pushtotalk: ".voip-ptt"
    case .widgets: ".push-type.widgets"
    case .controls: ".push-type.controls"
    }
  }

  /// The largest payload in bytes.
  var payloadLimit: Int { self == .voip ? 5120 : 4096 }

  private static let suffixes = allCases.map { Array($0.suffix.utf8) }.filter { !$0.isEmpty }
  private static let managementPrefix = Array("com.apple.mgmt.".utf8)

  /// Whether a topic is one that this type is sent to.
  func fits(topic: HeaderValue) -> Bool {
    if self == .mdm { return topic.starts(with: Self.managementPrefix) }
    let suffix = Array(suffix.utf8)
    if suffix.isEmpty { return Self.bundle(of: topic).count == topic.count }
    return topic.count > suffix.count && topic.suffix(suffix.count).elementsEqual(suffix)
  }

  /// A topic without the suffix of a type, if it has one.
  static func bundle(of topic: HeaderValue) -> HeaderValue {
    for suffix in suffixes
    where topic.count > suffix.count && topic.suffix(suffix.count).elementsEqual(suffix) {
      return topic.dropLast(suffix.count)
    }
    return topic
  }
}
