import PushBase

/// The pushes that were handled last, so that a repeat is told apart: a set with a bound, the oldest leaves first.
public struct RecentMessages: Sendable {
  /// How many are remembered unless told otherwise.
  public static let defaultCapacity = 2048

  /// The most that are remembered.
  public let capacity: Int
  private var known: Set<MessageID> = []
  /// A ring: once full, `oldest` is the place that the next one takes.
  private var ring: [MessageID] = []
  private var oldest = 0

  /// Remembers nothing yet; `capacity` is at least 1.
  public init(capacity: Int = defaultCapacity) { self.capacity = max(1, capacity) }

  /// How many are remembered now.
  public var count: Int { ring.count }

  /// Tells whether a push is among the remembered ones.
  public func contains(_ id: MessageID) -> Bool { known.contains(id) }

  /// Remembers a push and forgets the oldest when there are too many. Says false when it was known already.
  @discardableResult
  public mutating func insert(_ id: MessageID) -> Bool {
    guard known.insert(id).inserted else { return false }
    if ring.count < capacity {
      ring.append(id)
    } else {
      known.remove(ring[oldest])
      ring[oldest] = id
      oldest = (oldest + 1) % capacity
    }
    return true
  }

  /// All remembered ones, the oldest first.
  public var oldestFirst: [MessageID] { Array(ring[oldest...]) + ring[..<oldest] }
}
