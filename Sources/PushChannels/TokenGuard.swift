/// Keeps a wrong credential or setting from wiping out an app's tokens. A token that the service calls bad is only suspected at
/// first, and given up after a minute in which other tokens work. Invented tokens, which anybody can tell, must not stop the sending:
/// so the alarm is raised only if tokens are refused that have worked, or if hardly any token works at all.
///
/// One for each app and service; time is `TimeSource.monotonic`.
public struct TokenGuard<Token: Hashable & Sendable>: Sendable {
  /// What an answer that calls a token bad means.
  public enum Verdict: Equatable, Sendable {
    /// The token is suspected.
    case suspected
    /// Nothing yet about the token: it is to be asked for again.
    case unclear
    /// The same for all tokens: stop sending and alert the operator. Returned once.
    case alarm
  }

  private struct Slot: Sendable {
    let number: UInt64
    var answers = 0
  }
  private struct Suspect: Sendable {
    let token: Token
    let since: UInt64
    /// Whether it is known to have worked.
    let hasWorked: Bool
  }

  /// For how many seconds a suspicion waits, and over how many tokens that work are counted.
  public static var seconds: UInt64 { 60 }
  /// For how many seconds tokens that work are waited for before the alarm is raised about others: the first answers after a start
  /// may be about invented tokens alone.
  public static var patience: UInt64 { 5 }
  /// How many tokens prove something.
  private static var few: Int { 3 }
  /// How many tokens that never worked one that works stands for.
  private static var others: Int { 100 }
  /// The most suspicions; what is refused beyond that is suspected another time.
  private static var most: Int { 16_384 }
  private static var second: UInt64 { 1_000_000_000 }

  /// The share of tokens that have worked, in percent, above which their refusals raise the alarm.
  public let percent: Int
  /// How many refused tokens that needs, and how many of others put the credential in doubt.
  public let minimum: Int
  /// Whether the alarm is raised.
  public private(set) var isAlarmed = false
  /// The tokens that have worked.
  private var known = HashSample()
  private var workedAt: UInt64?
  /// Answers that took a token of `known`, one slot for each second that had some.
  private var slots: [Slot] = []
  /// In the order of their suspicion; those that were cleared since are not in `open`.
  private var suspects: [Suspect] = []
  /// The current suspicions, by token; so many are of tokens that have worked.
  private var open: [Token: Suspect] = [:]
  private var lost = 0
  private var doubtsSince: UInt64?

  /// Makes a guard; by default 10 % and 10 tokens.
  public init(percent: Int = 10, minimum: Int = 10) {
    self.percent = percent
    self.minimum = minimum
  }

  /// A token works. That clears its suspicion as `clear` does.
  public mutating func works(_ token: Token, at nanoseconds: UInt64, ifOlder isOlder: (Token) -> Bool) {
    workedAt = nanoseconds
    if known.insert(token.hashValue) {
      let number = nanoseconds / Self.second
      if slots.last?.number != number {
        dropSlots(before: nanoseconds)
        slots.append(Slot(number: number))
      }
      slots[slots.count - 1].answers += 1
    }
    clear(token, ifOlder: isOlder)
  }

  /// Clears a token's suspicion if `isOlder` returns true for it, since the suspicion may be newer.
  public mutating func clear(_ token: Token, ifOlder isOlder: (Token) -> Bool) {
    guard let suspect = open[token], isOlder(suspect.token) else { return }
    remove(suspect)
  }

  /// An answer calls a token bad.
  public mutating func bad(_ token: Token, at nanoseconds: UInt64) -> Verdict {
    guard !isAlarmed else { return .unclear }
    if open[token] == nil, suspects.count < Self.most {
      let suspect = Suspect(
        token: token, since: nanoseconds, hasWorked: known.contains(token.hashValue))
      suspects.append(suspect)
      open[token] = suspect
      if suspect.hasWorked { lost += 1 }
    }
    dropSlots(before: nanoseconds)
    let working = slots.reduce(0) { $0 + $1.answers }
    let areManyLost = lost >= minimum && lost * 100 > (working + lost) * percent
    if areManyLost || lost >= Self.few && lost > working { return alarm() }
    let invented = open.count - lost
    guard invented >= minimum,
      known.estimate < Self.few || invented > known.estimate * Self.others
    else {
      doubtsSince = nil
      return .suspected
    }
    let waited = doubtsSince.map { nanoseconds - min($0, nanoseconds) }
    guard let waited, waited < Self.seconds * Self.second else {
      doubtsSince = nanoseconds
      return .unclear
    }
    return waited < Self.patience * Self.second ? .unclear : alarm()
  }

  /// Hands out the tokens whose suspicion is confirmed. Call it about once a second.
  public mutating func confirmed(at nanoseconds: UInt64) -> [Token] {
    let age = Self.seconds * Self.second
    let count = suspects.prefix { nanoseconds >= $0.since && nanoseconds - $0.since >= age }.count
    guard count > 0 else { return [] }
    let old = Array(suspects.prefix(count))
    suspects.removeFirst(count)
    return old.compactMap { suspect in
      guard open[suspect.token]?.since == suspect.since else { return nil }
      let token = remove(suspect)
      // If no other works, it may not be the token's fault. One that may have worked is not judged by what was before.
      let mayHaveWorked = suspect.hasWorked || !known.samples(token.hashValue)
      let from = mayHaveWorked ? suspect.since : suspect.since - min(suspect.since, age)
      return workedAt.map { $0 >= from } == true ? token : nil
    }
  }

  /// Ends the alarm when sending begins again. What has worked is still known.
  public mutating func reset() {
    isAlarmed = false
    slots = []
  }

  private mutating func alarm() -> Verdict {
    isAlarmed = true
    suspects = []
    open = [:]
    lost = 0
    doubtsSince = nil
    return .alarm
  }

  @discardableResult private mutating func remove(_ suspect: Suspect) -> Token {
    let token = open.removeValue(forKey: suspect.token)?.token ?? suspect.token
    if suspect.hasWorked { lost -= 1 }
    return token
  }

  private mutating func dropSlots(before nanoseconds: UInt64) {
    let number = nanoseconds / Self.second
    slots.removeAll { $0.number + Self.seconds <= number }
  }
}

/// A bounded sample of values, by their hashes: of many every second one is kept, then every fourth, and so on.
private struct HashSample: Sendable {
  private static let most = 4096
  private var hashes: Set<Int> = []
  private var shift = 0

  /// About how many values were inserted.
  var estimate: Int { hashes.count << shift }

  /// Whether the sample has a value once it was inserted.
  func samples(_ hash: Int) -> Bool { hash & (1 << shift - 1) == 0 }

  func contains(_ hash: Int) -> Bool { hashes.contains(hash) }

  /// Returns whether the value is in the sample.
  mutating func insert(_ hash: Int) -> Bool {
    guard samples(hash) else { return false }
    hashes.insert(hash)
    while hashes.count > Self.most, shift < 40 {
      shift += 1
      hashes = hashes.filter { samples($0) }
    }
    return samples(hash)
  }
}
