import BorealisProtocol

/// The operations that give a new registration the alias, the tags and the tokens of the old one, and when
/// they are sent once more. Milliseconds are those of the caller's clock.
struct Restoration: Sendable {
  /// Milliseconds until they are first sent again; doubles each time.
  static let firstPause: UInt64 = 5000
  /// The longest such time.
  static let longestPause: UInt64 = 600_000

  /// The server would refuse the same again, until the app asks for something else or releases the alias
  /// elsewhere.
  private static let finalCodes: Set<ResultCode> = [
    .ok, .nothingSet, .aliasIllegal, .aliasTooLong, .tagIllegal, .tagTooLong, .tooManyTags, .tagsTooLong,
    .requestInvalid, .deviceTagsFull, .aliasFull, ResultCode(rawValue: 6026),
  ]
  /// What lasts for hours, or as long as the registration: sent again after the next login.
  private static let lastingCodes: Set<ResultCode> = [
    .stopped, .blacklisted, .userInvalid, .appTagsFull, .newTagsUsedUp,
  ]

  /// Their numbers, until each has its result.
  private(set) var inFlight: Set<UInt32> = []
  /// When to send all of them again; nil for not before the next login.
  private(set) var again: UInt64?
  private var pause = Self.firstPause
  private var isIncomplete = false
  private var isPassing = false

  mutating func begun(_ number: UInt32) { inFlight.insert(number) }

  /// An operation has ended, which may be one of these. True if it was the last one, and none is to be sent
  /// again.
  mutating func ended(_ number: UInt32, _ code: ResultCode, at now: UInt64) -> Bool {
    guard inFlight.remove(number) != nil else { return false }
    if !Self.finalCodes.contains(code) {
      isIncomplete = true
      if !Self.lastingCodes.contains(code) { isPassing = true }
    }
    guard inFlight.isEmpty else { return false }
    if isPassing {
      again = now &+ pause
      pause = min(2 * pause, Self.longestPause)
    }
    defer { (isIncomplete, isPassing) = (false, false) }
    return !isIncomplete
  }

  /// Whether they are to be sent again now; true once. Behind an operation of the app they would undo it:
  /// then they wait.
  mutating func isDue(at now: UInt64, isIdle: Bool) -> Bool {
    guard let again, again <= now else { return false }
    self.again = isIdle ? nil : now &+ Self.firstPause
    return isIdle
  }
}
