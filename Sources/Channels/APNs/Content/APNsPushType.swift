import BorealisBase

/// The APNs push type (`apns-push-type`). The raw values are stored in the database.
package enum APNsPushType: UInt8, CaseIterable, Sendable {
  /// Shows, sounds or numbers something.
  case alert = 1
  /// Wakes the app without showing anything.
  case background = 2
  /// Announces a call.
  case voip = 3
  /// Starts, changes or ends a Live Activity.
  case liveActivity = 4

  /// The value of the header.
  package var name: String {
    switch self {
    case .alert: "alert"
    case .background: "background"
    case .voip: "voip"
    case .liveActivity: "liveactivity"
    }
  }

  /// What follows the bundle ID in `apns-topic`.
  package var topicSuffix: String {
    switch self {
    case .alert, .background: ""
    case .voip: ".voip"
    case .liveActivity: ".push-type.liveactivity"
    }
  }

  /// The kinds of tokens that Apple takes for it.
  package var tokenKinds: [APNsTokenKind] {
    switch self {
    case .alert, .background: [.device]
    case .voip: [.voip]
    case .liveActivity: [.liveActivity, .liveActivityStart]
    }
  }

  /// The largest payload that Apple takes, in bytes of UTF-8.
  package var maximumPayload: Int { self == .voip ? 5120 : 4096 }

  /// The priorities that Apple takes with this kind.
  var priorities: [APNsPriority] {
    switch self {
    case .alert: [.immediate, .considerate, .powerSaving]
    case .background: [.considerate, .powerSaving]
    case .voip: [.immediate]
    case .liveActivity: [.immediate, .considerate]
    }
  }
}

/// How soon Apple delivers (`apns-priority`). The raw value is the header's.
package enum APNsPriority: UInt8, CaseIterable, Sendable {
  /// At once.
  case immediate = 10
  /// With regard to the device's power.
  case considerate = 5
  /// Power above all: never wakes the device.
  case powerSaving = 1
}
