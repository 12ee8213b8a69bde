import Core

/// The operations of each session that have no result, in the order in which they came. The home is asked for
/// one of a session at a time: a later one may come there when an earlier one was lost, or get its result
/// first and then not be repeated to the next home with that.
struct OperationOrder: Sendable {
  private var numbers: [Location: [UInt32]] = [:]

  /// Adds an operation behind the others of its session; true if it is its turn.
  mutating func add(_ number: UInt32, of session: Location) -> Bool {
    numbers[session, default: []].append(number)
    return isNext(number, of: session)
  }

  /// Whether it is an operation's turn.
  func isNext(_ number: UInt32, of session: Location) -> Bool { numbers[session]?.first == number }

  /// An operation has a result, or gets none any more; the one whose turn it is now, if it was another's
  /// before.
  mutating func end(_ number: UInt32, of session: Location) -> UInt32? {
    guard let index = numbers[session]?.firstIndex(of: number) else { return nil }
    numbers[session]?.remove(at: index)
    guard let next = numbers[session]?.first else {
      numbers[session] = nil
      return nil
    }
    return index == 0 ? next : nil
  }

  /// Removes and returns all operations of a session, the current one first.
  mutating func end(_ session: Location) -> [UInt32] { numbers.removeValue(forKey: session) ?? [] }
}
