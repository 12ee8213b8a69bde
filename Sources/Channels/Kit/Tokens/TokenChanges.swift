import BorealisBase

/// Tracks registrations whose tokens have changed since they were read. Versions are counters, so that tokens
/// read while a change was being stored are outdated as well.
struct TokenChanges: Sendable {
  /// The most registrations that are tracked one by one; with more, everything read before is outdated.
  private static let most = 4096

  /// The current version; tokens that are read carry the version at the start of the read.
  private(set) var now: UInt64 = 0
  private var latest: [RegistrationNumber: UInt64] = [:]
  private var latestOfAll: UInt64 = 0

  /// Records a change.
  mutating func note(_ numbers: [RegistrationNumber]) {
    now += 1
    for number in numbers { latest[number] = now }
    guard latest.count > Self.most else { return }
    forgetAll()
    latestOfAll = now
  }

  /// Whether a registration's token, read at a version, is outdated.
  func hasChanged(_ number: RegistrationNumber, since moment: UInt64) -> Bool {
    latestOfAll > moment || latest[number].map { $0 > moment } ?? false
  }

  /// Resets: nothing that was read before is in use.
  mutating func forgetAll() { latest = [:] }
}
