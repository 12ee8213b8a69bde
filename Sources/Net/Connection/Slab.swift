/// Storage for many small values under stable indexes with generations, growing by whole chunks, so that a
/// million connections never move in memory. Not thread-safe: it belongs to one loop.
@frozen
public struct Slab<Element> {
  @usableFromInline static var chunkBits: Int { 10 }
  /// Set in a slot's generation while the slot is in use.
  @usableFromInline static var taken: UInt32 { 1 << 31 }

  @usableFromInline var chunks: [[Element]] = []
  @usableFromInline var generations: [[UInt32]] = []
  @usableFromInline var free: [UInt32] = []
  @usableFromInline var used: UInt32 = 0
  @usableFromInline let blank: Element

  /// Starts empty; unused slots hold `blank`.
  @inlinable
  public init(blank: Element) { self.blank = blank }

  /// How many slots are taken.
  @inlinable
  public var count: Int { Int(used) - free.count }

  /// One more than the largest index ever taken.
  @inlinable
  public var capacity: Int { Int(used) }

  /// Takes a slot and returns its index and generation: how often it was taken before, or the low 24 bits of
  /// what is given, which must be another one each time.
  @inlinable
  public mutating func insert(
    _ element: Element, generation given: UInt32? = nil
  ) -> (slot: UInt32, generation: UInt32) {
    let slot: UInt32
    if let reused = free.popLast() {
      slot = reused
    } else {
      slot = used
      used += 1
      if Int(slot) >> Self.chunkBits == chunks.count {
        chunks.append(Array(repeating: blank, count: 1 << Self.chunkBits))
        generations.append(Array(repeating: 0, count: 1 << Self.chunkBits))
      }
    }
    self[slot] = element
    let own = generation(of: slot)
    precondition(own & Self.taken == 0, "a slot is given out twice")
    let generation = given.map { $0 & 0xff_ffff } ?? own
    mark(slot, generation | Self.taken)
    return (slot, generation)
  }

  @inlinable
  mutating func mark(_ slot: UInt32, _ generation: UInt32) {
    generations[Int(slot) >> Self.chunkBits][Int(slot) & (1 << Self.chunkBits - 1)] = generation
  }

  /// Gives a slot back; its generation changes, so that late reports about it are recognised.
  @inlinable
  public mutating func remove(_ slot: UInt32) {
    let generation = generation(of: slot)
    precondition(slot < used && generation & Self.taken != 0, "a slot is given back twice")
    self[slot] = blank
    mark(slot, (generation &+ 1) & 0xff_ffff)
    free.append(slot)
  }

  /// Whether a slot still has the element of this generation.
  @inlinable
  public func isCurrent(_ slot: UInt32, _ generation: UInt32) -> Bool {
    slot < used && self.generation(of: slot) == generation | Self.taken
  }

  /// The value in a slot.
  @inlinable
  public subscript(slot: UInt32) -> Element {
    _read { yield chunks[Int(slot) >> Self.chunkBits][Int(slot) & (1 << Self.chunkBits - 1)] }
    _modify { yield &chunks[Int(slot) >> Self.chunkBits][Int(slot) & (1 << Self.chunkBits - 1)] }
  }

  /// The generation of a slot in use, as `insert` returned it.
  @inlinable
  public func generation(taken slot: UInt32) -> UInt32 { generation(of: slot) & ~Self.taken }

  @inlinable
  func generation(of slot: UInt32) -> UInt32 {
    generations[Int(slot) >> Self.chunkBits][Int(slot) & (1 << Self.chunkBits - 1)]
  }
}
