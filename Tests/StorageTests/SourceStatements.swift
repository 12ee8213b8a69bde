import Foundation

@testable import Storage

/// A statement that the program can prepare.
struct SourceStatement: Hashable {
  /// The file that holds it.
  let file: String
  let sql: String

  /// What SQLite prepares for everybody's rows, with single blanks.
  var words: String {
    let text = (try? SQLText.expand(sql, for: .sqlite, in: .all)) ?? sql
    return text.split { $0.isWhitespace }.joined(separator: " ")
  }
}

/// All SQL in the sources of the store, found by its words: whatever is added there is found, too.
struct SourceStatements {
  /// Whole statements, and those that are put together of two constants.
  private(set) var all: [SourceStatement] = []
  /// Statements with names or numbers that are known only when they run.
  private(set) var composed: [SourceStatement] = []
  /// Parts of statements that go with nothing.
  private(set) var unknown: [SourceStatement] = []

  init() throws {
    let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    let folder = tests.deletingLastPathComponent().appending(path: "Sources/Storage")
    let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter {
      $0.hasSuffix(".swift")
    }
    for name in names.sorted() {
      let source = try Data(contentsOf: folder.appending(path: name))
      add(SwiftLiteral.all(in: [UInt8](source)), of: String(name.split(separator: "/").last ?? ""))
    }
    addDeletions()
  }

  /// These are put together of constants that stand in lists.
  private mutating func addDeletions() {
    func statement(_ sql: String) -> SourceStatement {
      SourceStatement(file: "PushRepository+Writing.swift", sql: sql)
    }
    for (starts, end) in [
      (PushDeletions.swept, PushDeletions.ended), (PushDeletions.remains, PushDeletions.gone),
    ] {
      let parts = Set((starts + [end]).map { statement("\($0)").words })
      all.removeAll { parts.contains($0.words) }
      unknown.removeAll { parts.contains($0.words) }
      all += starts.map { statement("\($0) \(end)") }
    }
  }

  private mutating func add(_ literals: [SwiftLiteral], of file: String) {
    var declared: [Substring: SwiftLiteral] = [:]
    for literal in literals {
      if let name = literal.code.firstMatch(of: /(?:let|var) (\w+): StaticString (?:=|\{)\s*$/)?.1 {
        declared[name] = literal
      }
    }
    var heads: Set<Substring> = []
    for literal in literals {
      guard let name = literal.code.firstMatch(of: /Self\.(\w+),\s*$/)?.1,
        let head = declared[name]
      else { continue }
      heads.insert(name)
      all.append(SourceStatement(file: file, sql: "\(head.text) \(literal.text)"))
    }
    let completed = Set(heads.compactMap { declared[$0]?.text })
    for literal in literals where !completed.contains(literal.text) {
      let found = SourceStatement(file: file, sql: literal.text)
      if literal.text.contains(/^\s*(?:SELECT|INSERT INTO|UPDATE|DELETE FROM|WITH)\s/) {
        let isPart = literal.isInterpolated || literal.text.hasSuffix(" ")
        if isPart { composed.append(found) } else { all.append(found) }
      } else if literal.text.contains(
        /^\s*(?:\(\s*SELECT|WHERE|AND|OR|FROM|JOIN|LEFT JOIN|ORDER BY|LIMIT|\{own)\s/),
        !literal.code.contains(/Self\.\w+,\s*$/)
      {
        if literal.isInterpolated { composed.append(found) } else { unknown.append(found) }
      }
    }
  }
}

/// A text in a source of Swift, with the code between it and the one before.
struct SwiftLiteral {
  let code: String
  let text: String
  let isInterpolated: Bool

  static func all(in source: [UInt8]) -> [SwiftLiteral] {
    var literals: [SwiftLiteral] = []
    var rest = source[...]
    var code: [UInt8] = []
    while let first = rest.first {
      if rest.starts(with: "//".utf8) {
        rest = rest.drop { $0 != UInt8(ascii: "\n") }
      } else if first == UInt8(ascii: "\"") {
        let mark = rest.starts(with: "\"\"\"".utf8) ? 3 : 1
        rest = rest.dropFirst(mark)
        let (text, isInterpolated) = read(&rest, endingIn: Array(repeating: first, count: mark))
        literals.append(
          SwiftLiteral(
            code: String(decoding: code, as: UTF8.self), text: String(decoding: text, as: UTF8.self),
            isInterpolated: isInterpolated))
        code.removeAll(keepingCapacity: true)
      } else {
        code.append(first)
        rest = rest.dropFirst()
      }
    }
    return literals
  }

  private static func read(
    _ rest: inout ArraySlice<UInt8>, endingIn mark: [UInt8]
  ) -> (text: [UInt8], isInterpolated: Bool) {
    var text: [UInt8] = []
    var isInterpolated = false
    while let first = rest.first, !rest.starts(with: mark) {
      rest = rest.dropFirst()
      guard first == UInt8(ascii: "\\"), let escaped = rest.popFirst() else {
        text.append(first)
        continue
      }
      switch escaped {
      case UInt8(ascii: "("):
        isInterpolated = true
        var depth = 1
        while depth > 0, let next = rest.popFirst() {
          if next == UInt8(ascii: "(") { depth += 1 }
          if next == UInt8(ascii: ")") { depth -= 1 }
        }
      case UInt8(ascii: "\n"): break
      default: text.append(escaped)
      }
    }
    rest = rest.dropFirst(mark.count)
    // In several lines, the last break and what indents the mark is not part of the text.
    if mark.count > 1, let end = text.lastIndex(of: UInt8(ascii: "\n")) { text.removeSubrange(end...) }
    return (text, isInterpolated)
  }
}
