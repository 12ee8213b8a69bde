import BorealisBase

/// In which order pushes count devices' icons on, so that none that is sent late sets an older number than a
/// device has got. What is known is of this process only.
struct BadgeOrder: Sendable {
  /// The most devices that are known one by one.
  private static let most = 16_384

  /// The newest push that has counted each device's icon on.
  private var newest: [RegistrationNumber: MessageID] = [:]
  /// Counts how often numbers have come from the database.
  private(set) var now: UInt64 = 0
  /// When the newest number came that each device was sent.
  private var sent: [RegistrationNumber: UInt64] = [:]
  private var newestSent: UInt64 = 0
  /// Devices that are not known one by one may have been sent numbers up to this one.
  private var forgotten: UInt64 = 0

  /// A push counts the icons of devices on, in a transaction of the one writer; returns those whose icons a
  /// newer one has counted on.
  mutating func count(_ push: MessageID, on numbers: [RegistrationNumber]) -> [RegistrationNumber] {
    var outdated: [RegistrationNumber] = []
    for number in numbers {
      if let other = newest[number], other > push { outdated.append(number) } else { newest[number] = push }
    }
    if newest.count > Self.most { newest = [:] }
    return outdated
  }

  /// Records that numbers were read from the database; returns a moment after all before.
  mutating func advance() -> UInt64 {
    now += 1
    return now
  }

  /// A device is sent a number that came at a moment.
  mutating func send(_ number: RegistrationNumber, readAt moment: UInt64) {
    sent[number] = max(sent[number] ?? 0, moment)
    newestSent = max(newestSent, moment)
    guard sent.count > Self.most else { return }
    sent = [:]
    forgotten = newestSent
  }

  /// Whether a device may have been sent a newer number than one that came at a moment.
  func isOutdated(_ number: RegistrationNumber, readAt moment: UInt64) -> Bool {
    max(forgotten, sent[number] ?? 0) > moment
  }

  /// Nothing that has its number is still to be sent.
  mutating func forgetAll() { (newest, sent) = ([:], [:]) }
}
