import BorealisBase

/// The pushes that were handled last, to detect duplicates: a bounded set that drops the oldest.
public struct RecentMessages: Sendable {
  /// How many are remembered by default.
  public static let defaultCapacity = 2048

  /// The most that are remembered.
  public let capacity: Int
  private var known: Set<MessageID> = []
  /// A ring: once full, `oldest` is the index of the next one.
  private var ring: [MessageID] = []
  private var oldest = 0

  /// Makes an empty set; `capacity` is at least 1.
  public init(capacity: Int = defaultCapacity) { self.capacity = max(1, capacity) }

  /// How many are remembered now.
  public var count: Int { ring.count }

  /// Whether a push is remembered.
  public func contains(_ id: MessageID) -> Bool { known.contains(id) }

  /// Remembers a push and drops the oldest when there are too many. Returns false when it was known already.
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
