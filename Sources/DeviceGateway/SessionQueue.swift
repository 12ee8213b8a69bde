/// A FIFO queue of sessions. Each is in it once, which the caller ensures.
struct SessionQueue {
  private var tokens: [SessionToken] = []
  private var head = 0

  var isEmpty: Bool { head == tokens.count }

  mutating func append(_ token: SessionToken) { tokens.append(token) }

  /// Removes the first sessions, at most this many.
  mutating func popFirst(upTo most: Int) -> [SessionToken] {
    let taken = tokens[head...].prefix(most)
    head += taken.count
    defer {
      if head > tokens.count / 2 {
        tokens.removeFirst(head)
        head = 0
      }
    }
    return Array(taken)
  }
}
