/// An array that grows in chunks of 4096 elements, so that growth never moves what is there: a push must not
/// wait while a million records are copied.
struct ChunkedArray<Element: Sendable>: Sendable {
  private static var bits: Int { 12 }

  private var chunks: [[Element]] = []
  private let blank: Element

  /// Starts empty; new elements are copies of `blank`.
  init(blank: Element) { self.blank = blank }

  /// How many elements there is room for; all of them may be read.
  var count: Int { chunks.count << Self.bits }

  /// Grows the array to include an index.
  mutating func reach(_ index: UInt32) {
    while count <= Int(index) { chunks.append(Array(repeating: blank, count: 1 << Self.bits)) }
  }

  /// Elements of a chunk.
  static var chunkCount: Int { 1 << bits }

  /// A chunk by its place; nil behind the last one.
  func chunk(_ index: Int) -> [Element]? { index < chunks.count ? chunks[index] : nil }

  subscript(index: UInt32) -> Element {
    _read { yield chunks[Int(index) >> Self.bits][Int(index) & (1 << Self.bits - 1)] }
    _modify { yield &chunks[Int(index) >> Self.bits][Int(index) & (1 << Self.bits - 1)] }
  }
}
