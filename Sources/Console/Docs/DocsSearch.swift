import BorealisBase

/// What readers search: the sections of all pages, and the operations of the API.
struct DocsIndex: Sendable {
  /// A part of a page with an address of its own.
  struct Section: Sendable {
    let path: String
    let anchor: String?
    /// What the page is called, in English and in Chinese.
    let page: Phrase
    /// Nil for the beginning of a page.
    let heading: String?
    /// What the lists of pages say of the page, at its beginning only.
    let remark: Phrase
    let text: [UInt8]
    /// Whether it is about the past: readers look for what holds today first.
    let isHistory: Bool
  }

  /// A section that matches.
  struct Hit: Sendable {
    let section: Section
    let excerpt: [Excerpt]
  }

  /// A piece of a text, and whether it matches.
  struct Excerpt: Sendable, Equatable {
    let text: String
    let isMatch: Bool
  }

  /// Characters of a query and different terms of it that count, results, and results of one page.
  static let (mostCharacters, mostTerms, mostHits, mostOfPage) = (100, 8, 30, 3)

  let sections: [Section]

  /// All that the program has, read at the first search.
  static let whole: DocsIndex = {
    let chinese = Dictionary(
      DocsContents.list(in: .chinese).entries.map { ($0.path, $0) }, uniquingKeysWith: { first, _ in first })
    let english = Dictionary(
      DocsContents.list(in: .english).entries.map { ($0.path, $0) }, uniquingKeysWith: { first, _ in first })
    let pages = DocsLibrary.pages.values.sorted { $0.path < $1.path }.flatMap { page in
      let (one, other) = (english[page.path], chinese[page.path])
      return sections(
        of: page, Phrase(page.title, other?.title ?? page.title),
        remark: Phrase(one?.text ?? "", other?.text ?? ""))
    }
    return DocsIndex(sections: pages + APIReference.sections)
  }()

  private static func sections(of page: DocsPage, _ title: Phrase, remark: Phrase) -> [Section] {
    let isHistory = page.path.hasPrefix("\(DocsContents.decisionsPath)/") || page.file == "CHANGELOG.md"
    let parts = MarkdownPage.sections(of: DocsLibrary.text(page.file) ?? "")
    return parts.enumerated().compactMap { place, part in
      guard let heading = part.heading else { return nil }
      let isFirst = place == 1 && heading.level == 1
      return Section(
        path: page.path, anchor: isFirst ? nil : heading.anchor, page: title,
        heading: isFirst ? nil : heading.text, remark: isFirst ? remark : Phrase("", ""),
        text: Array(part.text.utf8),
        isHistory: isHistory)
    }
  }

  // MARK: Searching

  /// The sections that match most of the terms of a query, the best first. Looks at each byte of the texts
  /// once for each term.
  func search(_ query: String) -> [Hit] {
    let terms = Self.terms(of: query)
    guard !terms.isEmpty else { return [] }
    let phrase = terms.count > 1 ? Array(query.prefix(Self.mostCharacters).utf8).map(Self.folded) : []
    var found: [(section: Section, terms: Int, weight: Int)] = []
    for section in sections {
      let weights = terms.map { Self.weight(of: $0, in: section) }
      let count = weights.count { $0 > 0 }
      guard count > 0 else { continue }
      let sum = weights.reduce(0, +) + (phrase.isEmpty ? 0 : 4 * Self.weight(of: phrase, in: section))
      found.append((section, count, section.isHistory ? sum / 3 : sum))
    }
    let most = found.map(\.terms).max() ?? 0
    let best = found.enumerated().filter { $0.element.terms == most }.sorted {
      ($1.element.weight, $0.offset) < ($0.element.weight, $1.offset)
    }
    var (ofPage, hits): ([String: Int], [Hit]) = ([:], [])
    for (_, found) in best where hits.count < Self.mostHits {
      ofPage[found.section.path, default: 0] += 1
      guard ofPage[found.section.path, default: 0] <= Self.mostOfPage else { continue }
      hits.append(
        Hit(section: found.section, excerpt: Self.excerpt(of: found.section, terms, phrase: phrase)))
    }
    return hits
  }

  /// The terms of a query: words, and of Chinese, which has no blanks between words, each two characters that
  /// stand side by side.
  static func terms(of query: String) -> [[UInt8]] {
    var terms: [[UInt8]] = []
    func add(_ text: String) {
      let term = text.utf8.map(folded)
      if !term.isEmpty, terms.count < mostTerms, !terms.contains(term) { terms.append(term) }
    }
    var (word, isChinese) = ("", false)
    func end() {
      let characters = Array(word)
      if isChinese, characters.count > 2 {
        for place in 0..<characters.count - 1 { add(String(characters[place...place + 1])) }
      } else {
        add(word)
      }
      word = ""
    }
    for character in query.prefix(mostCharacters) {
      let isHan = character.unicodeScalars.contains { (0x2E80...0x9FFF).contains($0.value) }
      let isPart = isHan || character.isLetter || character.isNumber || "_-./".contains(character)
      if !isPart || isHan != isChinese { end() }
      isChinese = isHan
      if isPart { word.append(character) }
    }
    end()
    return terms
  }

  private static func weight(of term: [UInt8], in section: Section) -> Int {
    var weight = 0
    let isBeginning = section.heading == nil
    func look(_ text: String, _ points: Int) {
      let bytes = Array(text.utf8)
      guard let place = places(of: term, in: bytes, most: 1).first else { return }
      weight += isWord(term.count, at: place, in: bytes) ? 2 * points : points
    }
    look(section.page.english, isBeginning ? 12 : 4)
    look(section.heading ?? "", 10)
    look(section.remark.english, 6)
    // What has no Chinese name counts once.
    if section.page.chinese != section.page.english { look(section.page.chinese, isBeginning ? 12 : 4) }
    if section.remark.chinese != section.remark.english { look(section.remark.chinese, 6) }
    let found = places(of: term, in: section.text, most: 5)
    weight += found.reduce(0) { $0 + (isWord(term.count, at: $1, in: section.text) ? 2 : 1) }
    return weight
  }

  /// Where a term is in a text, letters of ASCII without their case and `_` and `-` as blanks; the first
  /// ones. A term that begins with a letter or a digit of ASCII begins a word.
  static func places(of term: [UInt8], in text: [UInt8], most: Int) -> [Int] {
    guard let first = term.first, text.count >= term.count else { return [] }
    var places: [Int] = []
    var place = 0
    let end = text.count - term.count
    let beginsWord = isPart(first)
    while place <= end {
      if folded(text[place]) == first, isEqual(term, text, at: place),
        !beginsWord || place == 0 || !isPart(folded(text[place - 1]))
      {
        places.append(place)
        if places.count == most { return places }
        place += term.count
      } else {
        place += 1
      }
    }
    return places
  }

  private static func isEqual(_ term: [UInt8], _ text: [UInt8], at place: Int) -> Bool {
    for index in term.indices where folded(text[place + index]) != term[index] { return false }
    return true
  }

  private static func folded(_ byte: UInt8) -> UInt8 {
    switch byte {
    case 65...90: byte | 0x20
    case UInt8(ascii: "_"), UInt8(ascii: "-"): 32
    default: byte
    }
  }

  /// Whether a folded byte is a letter or a digit of ASCII.
  private static func isPart(_ byte: UInt8) -> Bool { 97...122 ~= byte || 48...57 ~= byte }

  /// Whether no letter or digit stands at either side.
  private static func isWord(_ count: Int, at place: Int, in text: [UInt8]) -> Bool {
    func isPart(at index: Int) -> Bool { text.indices.contains(index) && Self.isPart(folded(text[index])) }
    return !isPart(at: place - 1) && !isPart(at: place + count)
  }

  // MARK: Excerpts

  /// Bytes of an excerpt before and behind the first match.
  private static let (before, behind) = (80, 160)

  /// The text around the first match, of the whole query if it is there, with all matches in it; the
  /// beginning of the text if only its headings match.
  static func excerpt(of section: Section, _ terms: [[UInt8]], phrase: [UInt8] = []) -> [Excerpt] {
    let text = section.text
    let whole = places(of: phrase, in: text, most: 1).first
    let first = whole ?? terms.lazy.compactMap { places(of: $0, in: text, most: 1).first }.min() ?? 0
    var start = max(0, first - before)
    // From the beginning of a word, and not within a character.
    if start > 0 { start = text[start..<first].firstIndex(of: 32).map { $0 + 1 } ?? start }
    while start < text.count, text[start] & 0xC0 == 0x80 { start += 1 }
    var end = min(text.count, max(first, start) + behind)
    if end < text.count { end = text[first..<end].lastIndex(of: 32) ?? end }
    while end > start, end < text.count, text[end] & 0xC0 == 0x80 { end -= 1 }
    let piece = Array(text[start..<end])
    var marks = [Bool](repeating: false, count: piece.count)
    for term in terms {
      for place in places(of: term, in: piece, most: 20) {
        for index in place..<place + term.count { marks[index] = true }
      }
    }
    var excerpts: [Excerpt] = start > 0 ? [Excerpt(text: "… ", isMatch: false)] : []
    var place = 0
    while place < piece.count {
      let next = marks[place...].firstIndex { $0 != marks[place] } ?? piece.count
      excerpts.append(
        Excerpt(text: String(decoding: piece[place..<next], as: UTF8.self), isMatch: marks[place]))
      place = next
    }
    if end < text.count { excerpts.append(Excerpt(text: " …", isMatch: false)) }
    return excerpts
  }
}
