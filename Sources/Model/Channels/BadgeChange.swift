/// What a push does to the number on the app's icon. The server keeps a number for each registration, so that
/// a push can add to it.
package enum BadgeChange: Equatable, Sendable {
  /// Leaves the number as it is.
  case unchanged
  /// Sets the number; 0 removes it.
  case set(Int32)
  /// Adds to it; a negative number takes off.
  case add(Int32)

  /// Whether the number after it does not depend on the one before.
  package var isAbsolute: Bool { if case .set = self { true } else { false } }

  /// The numbers that an icon can have here.
  package static let range: ClosedRange<Int64> = 0...99_999

  /// The number after a push, brought into `range`, to be sent and stored; nil if the push leaves it as it
  /// is.
  package func applied(to stored: Int64) -> Int64? {
    switch self {
    case .unchanged: nil
    case .set(let number): Self.clamped(Int64(number))
    case .add(let change): Self.clamped(Self.clamped(stored) + Int64(change))
    }
  }

  private static func clamped(_ number: Int64) -> Int64 {
    min(max(number, range.lowerBound), range.upperBound)
  }
}
