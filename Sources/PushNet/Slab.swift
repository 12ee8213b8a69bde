/// Storage for many small values under stable indexes with generations, growing by whole chunks, so that a million
/// connections never move in memory. Not thread-safe: it belongs to one loop.
public struct Slab<Element> {
  private static var chunkBits: Int { 10 }

  private var chunks: [[Element]] = []
  private var generations: [[UInt32]] = []
  private var free: [UInt32] = []
  private var used: UInt32 = 0
  private let blank: Element

  /// Starts empty; unused slots hold `blank`.
  public init(blank: Element) { self.blank = blank }

  /// How many slots are taken.
  public var count: Int { Int(used) - free.count }

  /// One more than the largest index ever taken.
  public var capacity: Int { Int(used) }

  /// Takes a slot and returns its index and generation.
  public mutating func insert(_ element: Element) -> (slot: UInt32, generation: UInt32) {
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
    return (slot, generation(of: slot))
  }

  /// Gives a slot back; its generation changes, so that late reports about it are recognised.
  public mutating func remove(_ slot: UInt32) {
    self[slot] = blank
    let chunk = Int(slot) >> Self.chunkBits
    let index = Int(slot) & (1 << Self.chunkBits - 1)
    generations[chunk][index] = (generations[chunk][index] &+ 1) & 0xff_ffff
    free.append(slot)
  }

  /// Tells whether a slot is still what it was when the generation was read.
  public func isCurrent(_ slot: UInt32, _ generation: UInt32) -> Bool {
    slot < used && self.generation(of: slot) == generation
  }

  /// The value in a slot.
  public subscript(slot: UInt32) -> Element {
    _read { yield chunks[Int(slot) >> Self.chunkBits][Int(slot) & (1 << Self.chunkBits - 1)] }
    _modify { yield &chunks[Int(slot) >> Self.chunkBits][Int(slot) & (1 << Self.chunkBits - 1)] }
  }

  private func generation(of slot: UInt32) -> UInt32 {
    generations[Int(slot) >> Self.chunkBits][Int(slot) & (1 << Self.chunkBits - 1)]
  }
}
