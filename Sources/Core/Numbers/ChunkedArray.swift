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

  /// A bit for each element of a chunk, in words of 64 from the first element on: whether it is wanted.
  /// Behind the last chunk none is.
  func words(ofChunk index: Int, where isWanted: (Element) -> Bool) -> [UInt64] {
    var words = [UInt64](repeating: 0, count: Self.chunkCount / 64)
    guard index < chunks.count else { return words }
    let chunk = chunks[index]
    let elements = chunk.span
    for word in words.indices {
      var bits: UInt64 = 0
      for place in 0..<64 as Range<Int> where isWanted(elements[64 * word + place]) {
        bits |= 1 << UInt64(place)
      }
      words[word] = bits
    }
    return words
  }
}
