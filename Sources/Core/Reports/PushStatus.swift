import Storage

/// A push in a word: the first of these in this order that is true. The raw values are those of the API.
package enum PushStatus: String, Sendable {
  /// Every target has it.
  case delivered
  /// It was recalled, or a later push replaced it, before every target had it; overridden also if newer
  /// pushes with its collapse ID reached before it all that do not have it.
  case recalled, overridden
  /// It may still reach a target.
  case open
  /// Some targets have it, and the others will not get it, for whatever reason.
  case partial
  /// No target has it: its time ran out, newer pushes took its place, no channel took it for any device, or
  /// the registration of its device was replaced.
  case expired, dropped, refused, replaced

  /// Whether the customer stopped it.
  package var isWithdrawn: Bool { self == .recalled || self == .overridden }

  /// The status that is stored, which is of the direct connection, or of a channel if nothing went over that.
  init(_ stored: OutcomeStatus) {
    self =
      switch stored {
      case .open: .open
      case .delivered: .delivered
      case .expired: .expired
      case .recalled: .recalled
      case .overridden: .overridden
      case .dropped: .dropped
      case .refused: .refused
      case .replaced: .replaced
      }
  }

  /// The status of a push with these targets. `stored` says only how it ended for targets that do not have
  /// it.
  init(
    _ targets: PushTargets, _ withdrawal: OutcomeRow.Withdrawal?, _ stored: OutcomeStatus?, isAlive: Bool
  ) {
    if targets.haveAll {
      self = .delivered
    } else if let withdrawal {
      self = PushStatus(withdrawal.status)
    } else if !targets.pending.isEmpty {
      self = .open
    } else if targets.isOverridden {
      // Newer pushes with its collapse ID took its place.
      self = .overridden
    } else if !targets.delivered.isEmpty {
      self = .partial
    } else {
      switch stored {
      case .dropped: self = .dropped
      case .refused: self = .refused
      case .replaced: self = .replaced
      case .delivered: self = targets.expired.isEmpty ? .refused : .expired
      case .expired, .recalled, .overridden: self = .expired
      case .open, nil: self = isAlive ? .open : .expired
      }
    }
  }
}
