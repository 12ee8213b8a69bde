/// Sessions that wait for something, the first to come first. Each is in it once: whoever adds one sees to that.
struct SessionQueue {
  private var tokens: [SessionToken] = []
  private var head = 0

  var isEmpty: Bool { head == tokens.count }

  mutating func append(_ token: SessionToken) { tokens.append(token) }

  /// Takes out the first, at most so many.
  mutating func take(_ most: Int) -> [SessionToken] {
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
