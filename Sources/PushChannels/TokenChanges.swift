import PushBase

/// Which registrations have other tokens now than when something was read of them. Moments are counts, so that what was read
/// while a change was being stored is out of date as well.
struct TokenChanges: Sendable {
  /// Registrations that are known one by one; with more, all that was read before is out of date.
  private static let most = 4096

  /// The present moment; what is read carries the moment at which the reading began.
  private(set) var now: UInt64 = 0
  private var latest: [RegistrationNumber: UInt64] = [:]
  private var latestOfAll: UInt64 = 0

  /// Notes a change.
  mutating func note(_ numbers: [RegistrationNumber]) {
    now += 1
    for number in numbers { latest[number] = now }
    guard latest.count > Self.most else { return }
    forgetAll()
    latestOfAll = now
  }

  /// Whether what was read of a registration at a moment is out of date.
  func hasChanged(_ number: RegistrationNumber, since moment: UInt64) -> Bool {
    latestOfAll > moment || latest[number].map { $0 > moment } ?? false
  }

  /// Nothing that was read is in hand any more.
  mutating func forgetAll() { latest = [:] }
}
