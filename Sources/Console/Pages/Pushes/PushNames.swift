import BorealisBase
import Storage

/// Pushes in people's words.
enum PushNames {
  /// What kind it is.
  static func kinds(_ traits: PushTraits, _ call: PageCall) -> String {
    names(HistoryForm.kinds.map { ($0.phrase, $0.traits) }, traits, call)
  }

  /// Its audience.
  static func audiences(_ traits: PushTraits, _ call: PageCall) -> String {
    names(HistoryForm.audiences.map { ($0.phrase, $0.traits) }, traits, call)
  }

  private static func names(
    _ all: [(phrase: Phrase, traits: PushTraits)], _ traits: PushTraits, _ call: PageCall
  ) -> String {
    all.filter { !traits.isDisjoint(with: $0.traits) }.map { call($0.phrase) }.joined(
      separator: call(Words.comma))
  }

  /// Who made it.
  static func sender(
    _ sender: PushSender, _ name: String?, _ traits: PushTraits, _ call: PageCall
  ) -> String {
    let kind =
      switch sender {
      case .api: traits.contains(.batch) ? Words.senderBatch : Words.senderAPI
      case .schedule: Words.senderSchedule
      case .group: Words.senderGroup
      case .person: Words.senderConsole
      }
    return name.map { "\(call(kind))\(call(Words.colon))\($0)" } ?? call(kind)
  }
}

extension PushSummary {
  /// How it ended, in lists: the word, and its mark. What is over for its time has expired, even
  /// before the sweep comes. One to several is called complete: its outcome differs from target to target,
  /// and lists do not read it.
  func state(at now: Timestamp, _ counts: PushCounts?) -> (phrase: Phrase, mark: StateMark) {
    let status = status == .open && expiresAt <= now ? .expired : status
    if status == .delivered, targetCount <= 1, let counts, counts.onlyAccepted > 0 {
      return (Words.stateAccepted, .accepted)
    }
    let isPlain = status == .open || status.isWithdrawn || targetCount <= 1
    return isPlain ? (status.phrase, status.mark) : (Words.complete, .over)
  }
}

extension OutcomeStatus {
  var phrase: Phrase {
    switch self {
    case .open: Words.stateOpen
    case .delivered: Words.stateDelivered
    case .expired: Words.stateExpired
    case .recalled: Words.stateRecalled
    case .overridden: Words.stateOverridden
    default: Words.stateFailed
    }
  }

  /// Its mark in lists.
  var mark: StateMark {
    switch self {
    case .open: .open
    case .delivered: .done
    case .expired, .recalled, .overridden: .over
    default: .failed
    }
  }
}

/// The time zone of days.
enum ZoneText {
  /// A moment by a zone's clock with its offset (RFC 3339), such as `2026-03-01T08:00:00+08:00`.
  static func moment(_ time: Timestamp, in zone: any Zone) -> String {
    let local = zone.local(time).text
    return local.replacing(" ", with: "T") + zone.offsetText(at: time)
  }

  /// Such as `UTC+08:00`.
  static func name(_ zone: any Zone, at now: Timestamp) -> String { "UTC\(zone.offsetText(at: now))" }
}

extension Platform {
  /// What people call it.
  var label: String {
    switch self {
    case .ios: "iOS"
    case .android: "Android"
    case .hmos: "HarmonyOS"
    case .quickapp: "Quick App"
    }
  }
}
