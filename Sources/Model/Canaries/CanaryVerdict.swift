import BorealisBase

/// How the devices that got a push first have done so far.
package struct CanaryFigures: Equatable, Sendable {
  /// Percent of them whose outcome has to be known.
  package static let leastKnown = 10

  /// How many they are, how many of them have the push, and for how many it failed through a fault of the
  /// push or of what the app proves itself with. Of all others nothing is known.
  package let targets, succeeded, failed: Int
  /// Whether the push was recalled.
  package let isRecalled: Bool
  /// When the last of those get it who wait for the end of their quiet hours; nil if none does.
  package let heldUntil: Timestamp?

  package init(
    targets: Int, succeeded: Int, failed: Int, isRecalled: Bool = false, heldUntil: Timestamp? = nil
  ) {
    (self.targets, self.succeeded, self.failed) = (targets, succeeded, failed)
    (self.isRecalled, self.heldUntil) = (isRecalled, heldUntil)
  }

  /// Devices with a known outcome.
  package var known: Int { succeeded + failed }

  /// Whether enough outcomes are known to decide by them.
  package var areEnough: Bool { known > 0 && known * 100 >= targets * Self.leastKnown }

  /// Percent of known outcomes that are failures, rounded up; nil if none is known.
  package var failurePercent: Int? { known == 0 ? nil : (failed * 100 + known - 1) / known }
}

/// What the figures of a canary mean.
package enum CanaryVerdict: Equatable, Sendable {
  /// Too little is known.
  case wait
  /// The rest gets the push.
  case goOn
  /// It failed for too many.
  case tooManyFailures
  /// Too little became known in the time that there was.
  case tooLittleKnown
  /// It was recalled.
  case recalled

  /// How often the figures are looked at once more while too little is known, each a tenth of the canary's
  /// wait later: up to twice the wait in all.
  package static let moreLooks = 10

  /// Judges a canary. `isLast` says that it does not wait any longer.
  package init(_ figures: CanaryFigures, of canary: Canary, isLast: Bool) {
    if figures.isRecalled {
      self = .recalled
    } else if figures.areEnough {
      self = figures.failed * 100 > canary.maxFailures * figures.known ? .tooManyFailures : .goOn
    } else {
      self = isLast ? .tooLittleKnown : .wait
    }
  }
}

extension ChannelWords {
  /// Whether a reason why a push was not accepted is a fault of the push, or of what the app proves itself
  /// with, rather than the state of a device: only these are failures of a canary.
  package func blamesSender(_ reason: String) -> Bool {
    if reason == ChannelEnd.noCredential { return true }
    if ChannelEnd.ours.contains(reason) { return false }
    // Receipts are about single devices, but for one.
    if let receipt = ReceiptReason(rawValue: reason) { return receipt == .contentRefused }
    return switch meaning(of: reason).fault {
    case .credential, .size, .other: true
    case .token, .overload, .notificationsOff, .device: false
    }
  }
}
