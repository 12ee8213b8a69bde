import BorealisBase
import Model

/// A condition that is ready to be evaluated: for each fact that it names it has the column, and knows for
/// each value whether it matches. Parts that name the same fact only become one. Evaluating reads each column
/// and each set in order, a chunk at a time, so the cost depends only on the number of registrations and of
/// facts and sets.
struct ConditionSearch {
  private indirect enum Node {
    case everybody
    case nobody
    /// A fact, and for each place of its values whether it matches, 1 or 0.
    case column(Int, [UInt8])
    case leaf(Leaf)
    case not(Node)
    case all([Node])
    case any([Node])
  }

  /// Registrations of one step: a bit of 64 words for each.
  private static let step = ChunkedArray<UInt16>.chunkCount
  private static let words = step / 64

  private let facts: FactTable
  private var columns: [FactTable.Column] = []
  private var places: [DeviceFact: Int] = [:]
  private var root = Node.nobody
  /// How many numbers of columns were read.
  private(set) var reads = 0

  /// Who meets a condition that is neither about facts nor about others.
  enum Leaf {
    /// The members of a set.
    case set(NumberSet)
    /// Those whose moment in a column is in a range.
    case moments(ChunkedArray<UInt32>, Range<UInt32>)
  }

  /// Prepares a condition. `leaf` is called for each one in it that is neither about facts nor about others.
  init(_ condition: DeviceCondition, in facts: FactTable, _ leaf: (DeviceCondition) -> Leaf) {
    self.facts = facts
    root = prepare(condition, leaf)
  }

  /// The registrations below a number that are meant, of whom some may be gone.
  mutating func numbers(below end: Int) -> NumberSet {
    var found = RoaringWriter()
    for chunk in 0..<(end + Self.step - 1) / Self.step {
      let all = [UInt64](repeating: .max, count: Self.words)
      found.append(evaluate(root, chunk, among: all))
    }
    return found.finish()
  }

  // MARK: Preparation

  private mutating func prepare(
    _ condition: DeviceCondition, _ leaf: (DeviceCondition) -> Leaf
  ) -> Node {
    switch condition {
    case .known(let fact): return column(fact) { _ in true }
    case .compare(let fact, let comparison, let value): return column(fact) { comparison.holds($0, value) }
    case .not(let inner):
      switch prepare(inner, leaf) {
      case .everybody: return .nobody
      case .nobody: return .everybody
      case .column(let column, let table): return .column(column, table.map { 1 - $0 })
      case .not(let node): return node
      case let node: return .not(node)
      }
    case .all(let parts): return join(parts, isAll: true, leaf)
    case .any(let parts): return join(parts, isAll: false, leaf)
    default: return .leaf(leaf(condition))
    }
  }

  private mutating func column(_ fact: DeviceFact, _ matches: (String) -> Bool) -> Node {
    guard let column = facts.columns[fact] else { return .nobody }
    if places[fact] == nil {
      places[fact] = columns.count
      columns.append(column)
    }
    var table = column.values.map { value -> UInt8 in value.number != nil && matches(value.text) ? 1 : 0 }
    table[0] = 0
    return .column(places[fact] ?? 0, table)
  }

  private mutating func join(
    _ parts: [DeviceCondition], isAll: Bool, _ leaf: (DeviceCondition) -> Leaf
  ) -> Node {
    var tables: [Int: [UInt8]] = [:]
    var others: [Node] = []
    for part in parts {
      switch prepare(part, leaf) {
      case .everybody: if !isAll { return .everybody }
      case .nobody: if isAll { return .nobody }
      case .column(let column, let table):
        guard let known = tables[column] else {
          tables[column] = table
          continue
        }
        tables[column] = zip(known, table).map { isAll ? $0 & $1 : $0 | $1 }
      case let node: others.append(node)
      }
    }
    let nodes = tables.sorted { $0.key < $1.key }.map { Node.column($0.key, $0.value) } + others
    switch nodes.count {
    case 0: return isAll ? .everybody : .nobody
    case 1: return nodes[0]
    default: return isAll ? .all(nodes) : .any(nodes)
    }
  }

  // MARK: Evaluation

  /// Those among some registrations of a chunk that a node means.
  private mutating func evaluate(_ node: Node, _ chunk: Int, among mask: [UInt64]) -> [UInt64] {
    switch node {
    case .everybody: return mask
    case .nobody: return [UInt64](repeating: 0, count: Self.words)
    case .column(let column, let table): return read(column, table, chunk, among: mask)
    case .leaf(.set(let set)):
      return zip(mask, set.words(from: chunk * Self.step, count: Self.words)).map { $0 & $1 }
    case .leaf(.moments(let column, let range)):
      return zip(mask, column.words(ofChunk: chunk) { range.contains($0) }).map { $0 & $1 }
    case .not(let inner): return zip(mask, evaluate(inner, chunk, among: mask)).map { $0 & ~$1 }
    case .all(let parts):
      var left = mask
      for part in parts where left.contains(where: { $0 != 0 }) { left = evaluate(part, chunk, among: left) }
      return left
    case .any(let parts):
      var (left, found) = (mask, [UInt64](repeating: 0, count: Self.words))
      for part in parts where left.contains(where: { $0 != 0 }) {
        let more = evaluate(part, chunk, among: left)
        for word in 0..<Self.words {
          found[word] |= more[word]
          left[word] &= ~more[word]
        }
      }
      return found
    }
  }

  /// Words without anybody to look for are passed over.
  private mutating func read(
    _ column: Int, _ table: [UInt8], _ chunk: Int, among mask: [UInt64]
  ) -> [UInt64] {
    guard let places = columns[column].places.chunk(chunk) else {
      return table[0] == 1 ? mask : [UInt64](repeating: 0, count: Self.words)
    }
    var found = [UInt64](repeating: 0, count: Self.words)
    let (places64, table64) = (places.span, table.span)
    for word in 0..<Self.words where mask[word] != 0 {
      reads += 64
      var bits: UInt64 = 0
      let first = 64 * word
      for place in 0..<64 as Range<Int> {
        bits |= UInt64(table64[Int(places64[first + place])]) << UInt64(place)
      }
      found[word] = bits & mask[word]
    }
    return found
  }
}
