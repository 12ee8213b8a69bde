import Foundation
import Testing

/// Wording and line length of sources and pages.
@Suite struct WordingTests {
  /// Text files that people read; the data of the rules and of other parties is left out.
  static func paths() throws -> [String] {
    var paths = ["README.md"]
    for ending in [".md", ".swift", ".java", ".py", ".js", ".h", ".c"] {
      for folder in ["Docs", "Sources", "Tests"] {
        paths += try Repository.files(under: folder, ending: ending)
      }
    }
    return paths.filter { path in
      !["Tests/Fuzz/corpus/", "Tests/TidyTests/Wording"].contains { path.hasPrefix($0) }
    }
  }

  @Test(arguments: [Wording.names, Wording.phrases])
  func theListsAreSortedAndSayWhatToWrite(rules: [Wording.Rule]) {
    #expect(rules.map(\.term) == Set(rules.map(\.term)).sorted())
    for rule in rules { #expect(!rule.instead.isEmpty, "\(rule.term)") }
  }

  @Test func nobodyUsesAvoidedWords() throws {
    let search = WordSearch(names: Wording.names, phrases: Wording.phrases)
    let paths = try Self.paths()
    #expect(paths.count > 500)
    for path in paths {
      var text = try Repository.text(path)
      for name in Wording.published { text = text.replacingOccurrences(of: name, with: " ") }
      for rule in search.matches(in: text) + search.matches(in: path) {
        Issue.record("\(path): write “\(rule.instead)” instead of “\(rule.term)”")
      }
    }
  }

  /// Code blocks, tables, pictures and links may be longer.
  @Test func linesOfPagesFitTheScreen() throws {
    for path in try Repository.files(under: "Docs", ending: ".md") + ["README.md"] {
      var isCode = false
      for (index, line) in try Repository.text(path).split(separator: "\n", omittingEmptySubsequences: false)
        .enumerated()
      {
        if line.hasPrefix("```") { isCode.toggle() }
        let isExempt = isCode || line.hasPrefix("    ") || line.hasPrefix("|") || line.contains("](")
        if !isExempt { #expect(line.count <= 130, "\(path):\(index + 1)") }
      }
    }
  }

  @Test(arguments: [
    ("let isStranger = 1", ["Stranger"]), ("A stranger came.", ["Stranger"]), ("strange", []),
    ("canWaitLonger()", ["canWait"]), ("it can wait", []), ("in\n  /// earnest", ["in earnest"]),
    ("In earnest", ["in earnest"]), ("inearnest", []), ("STRANGER_LIMIT", ["Stranger"]),
  ])
  func wordsAreFound(text: String, expected: [String]) {
    let search = WordSearch(
      names: [.init("Stranger", "x"), .init("canWait", "x")], phrases: [.init("in earnest", "x")])
    #expect(search.matches(in: text).map(\.term) == expected)
  }
}

/// Finds names and phrases in text. Identifiers are split where their parts begin, so that a name is found
/// inside longer ones; a phrase may go over lines of a comment.
struct WordSearch {
  private typealias Entry = (parts: [String], rule: Wording.Rule)

  /// By the first part, or word.
  private let names: [String: [Entry]]
  private let phrases: [String: [Entry]]

  init(names: [Wording.Rule], phrases: [Wording.Rule]) {
    self.names = Dictionary(grouping: names.map { (Self.parts(of: $0.term), $0) }) { $0.parts[0] }
    self.phrases = Dictionary(
      grouping: phrases.map { ($0.term.split(separator: " ").map(String.init), $0) }
    ) { $0.parts[0] }
  }

  /// The rules that a text breaks, each once, names first.
  func matches(in text: String) -> [Wording.Rule] {
    var found: [String: Wording.Rule] = [:]
    let words = Self.words(of: text)
    var known: [String: [String]] = [:]
    for (index, word) in words.enumerated() {
      let parts = known[word] ?? Self.parts(of: word)
      known[word] = parts
      for (place, part) in parts.enumerated() {
        for entry in names[part] ?? [] where parts[place...].starts(with: entry.parts) {
          found[entry.rule.term] = entry.rule
        }
      }
      for entry in phrases[word.lowercased()] ?? []
      where words[index...].prefix(entry.parts.count).map({ $0.lowercased() }) == entry.parts {
        found[entry.rule.term] = entry.rule
      }
    }
    return found.values.sorted { $0.term < $1.term }
  }

  private static func isPart(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
      true
    default: byte >= 0x80
    }
  }

  private static func words(of text: String) -> [String] {
    text.utf8.split { !isPart($0) }.map { String(decoding: $0, as: UTF8.self) }
  }

  /// The parts of an identifier in lower case: a part begins with a capital behind a small letter, or behind
  /// `_`.
  private static func parts(of word: String) -> [String] {
    var parts: [[UInt8]] = [[]]
    var wasSmall = false
    for byte in word.utf8 {
      let isCapital = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
      if byte == UInt8(ascii: "_") || isCapital && wasSmall { parts.append([]) }
      wasSmall = !isCapital
      if byte != UInt8(ascii: "_") { parts[parts.count - 1].append(isCapital ? byte | 0x20 : byte) }
    }
    return parts.filter { !$0.isEmpty }.map { String(decoding: $0, as: UTF8.self) }
  }
}
