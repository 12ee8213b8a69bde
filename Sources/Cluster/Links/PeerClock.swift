/// How the clock of another node differs from this one's, and thereby how long what it says was on its way:
/// nodes say when they said something, and of all that has come lately what was quickest shows the
/// difference. What stood still on its way, at its sender, on the bus or here, is late against that. A state
/// machine without input or output; moments are nanoseconds of this node's clock since boot, those of the
/// other node milliseconds of its own.
package struct PeerClock: Sendable {
  /// Nanoseconds for which the quickest counts at least, and half of what it counts at most: clocks run apart
  /// a little.
  private static let window: UInt64 = 300_000_000_000

  /// This clock's reading less the other's, of the quickest of this window and of the one before.
  private var least: Int64?
  private var before: Int64?
  private var since: UInt64 = 0

  /// Nothing has come.
  package init() {}

  /// Something has come that was said at a moment; 0 if that is not known.
  package mutating func note(_ said: UInt64, now: UInt64) {
    guard let difference = Self.difference(said, now) else { return }
    if now >= since + Self.window {
      (before, least, since) = (now >= since + 2 * Self.window ? nil : least, nil, now)
    }
    least = min(least ?? difference, difference)
  }

  /// A moment of the other clock on this one; nil if it is not known how they differ.
  package func moment(_ said: UInt64) -> UInt64? {
    guard said > 0, said < Self.most, let least = smallest else { return nil }
    return UInt64(clamping: Int64(said * 1_000_000) + least)
  }

  /// How long ago something was said, 0 if that is not known.
  package func age(_ said: UInt64, now: UInt64) -> UInt64 {
    moment(said).map { now > $0 ? now - $0 : 0 } ?? 0
  }

  private var smallest: Int64? {
    guard let least else { return before }
    return min(least, before ?? least)
  }

  /// A hundred years.
  private static let most: UInt64 = 3_155_760_000_000

  private static func difference(_ said: UInt64, _ now: UInt64) -> Int64? {
    guard said > 0, said < most, let now = Int64(exactly: now) else { return nil }
    return now - Int64(said * 1_000_000)
  }
}
