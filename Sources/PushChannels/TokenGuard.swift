/// Keeps a wrong setting from wiping out an app's tokens. A token that the service calls bad is only suspected at first. If more
/// than a share of the answers of a minute are of that kind, the guard raises an alarm and drops every suspicion; else a
/// suspicion that is a minute old is confirmed, unless the token has worked since.
///
/// One for each app and service; time is `TimeSource.monotonic`.
public struct TokenGuard<Token: Hashable & Sendable>: Sendable {
  /// What to do after an answer.
  public enum Verdict: Equatable, Sendable {
    /// Go on.
    case fine
    /// Stop sending and alert the operator: this response reached the limit. Returned once.
    case alarm
  }

  private struct Slot: Sendable {
    let number: UInt64
    var answers = 0
    var bad = 0
  }
  private struct Suspect: Sendable {
    let token: Token
    let since: UInt64
  }

  /// Over how many seconds answers are counted, and for how long a suspicion waits.
  public static var seconds: UInt64 { 60 }

  /// The share of bad answers, in percent, above which the alarm is raised.
  public let percent: Int
  /// How many bad answers an alarm needs at least.
  public let minimum: Int
  /// Whether the alarm is raised.
  public private(set) var isAlarmed = false
  /// One for each second that had an answer.
  private var slots: [Slot] = []
  /// In the order of their suspicion; those that were cleared since are not in `open`.
  private var suspects: [Suspect] = []
  /// The current suspicions, by token.
  private var open: [Token: Suspect] = [:]

  /// Makes a guard; by default 10 % and 10 bad responses.
  public init(percent: Int = 10, minimum: Int = 10) {
    self.percent = percent
    self.minimum = minimum
  }

  /// Counts an answer that says nothing against its token.
  public mutating func good(at nanoseconds: UInt64) { slot(nanoseconds) { $0.answers += 1 } }

  /// Counts an answer that calls a token bad, and suspects the token.
  public mutating func bad(_ token: Token, at nanoseconds: UInt64) -> Verdict {
    guard !isAlarmed else { return .fine }
    slot(nanoseconds) {
      $0.answers += 1
      $0.bad += 1
    }
    if open[token] == nil {
      let suspect = Suspect(token: token, since: nanoseconds)
      suspects.append(suspect)
      open[token] = suspect
    }
    let (answers, bad) = slots.reduce((0, 0)) { ($0.0 + $1.answers, $0.1 + $1.bad) }
    guard bad >= minimum, bad * 100 > answers * percent else { return .fine }
    isAlarmed = true
    suspects = []
    open = [:]
    return .alarm
  }

  /// A token works: clears its suspicion if `isOlder` returns true for it, since the suspicion may be newer.
  public mutating func clear(_ token: Token, if isOlder: (Token) -> Bool) {
    guard let suspect = open[token], isOlder(suspect.token) else { return }
    open[token] = nil
  }

  /// Hands out the tokens whose suspicion is confirmed. Call it about once a second.
  public mutating func confirmed(at nanoseconds: UInt64) -> [Token] {
    let age = Self.seconds * 1_000_000_000
    let count = suspects.prefix { nanoseconds >= $0.since && nanoseconds - $0.since >= age }.count
    defer { suspects.removeFirst(count) }
    return suspects.prefix(count).compactMap { suspect in
      guard open[suspect.token]?.since == suspect.since else { return nil }
      return open.removeValue(forKey: suspect.token)?.token
    }
  }

  /// Ends the alarm when somebody resumes sending, and resets the counters.
  public mutating func reset() {
    isAlarmed = false
    slots = []
    suspects = []
    open = [:]
  }

  private mutating func slot(_ nanoseconds: UInt64, _ change: (inout Slot) -> Void) {
    let number = nanoseconds / 1_000_000_000
    if slots.last?.number != number {
      slots.removeAll { $0.number + Self.seconds <= number }
      slots.append(Slot(number: number))
    }
    change(&slots[slots.count - 1])
  }
}
