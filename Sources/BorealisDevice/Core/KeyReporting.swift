/// When the device's key is reported to the server again, after the server did not accept it. Milliseconds
/// are those of the caller's clock.
struct KeyReporting: Sendable {
  /// Milliseconds until the first time; each time after that twice as long.
  static let firstWait: UInt64 = 5000
  /// Times in one session. The next login begins anew.
  static let mostTries = 8

  private var tries = 0
  /// When; nil for not at all.
  private(set) var again: UInt64?

  /// A report has begun.
  mutating func begun() { again = nil }

  /// The server did not accept the key.
  mutating func failed(at now: UInt64) {
    guard tries < Self.mostTries else { return }
    again = now &+ Self.firstWait << UInt64(tries)
    tries += 1
  }

  /// Whether it is to be told now; true once.
  mutating func isDue(at now: UInt64) -> Bool {
    guard let again, again <= now else { return false }
    self.again = nil
    return true
  }
}
