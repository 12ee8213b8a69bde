/// Finds what a guesser tries first in a password.
struct PasswordPatterns {
  typealias Match = PasswordStrength.Match

  private(set) var matches: [Match] = []
  /// As it is, and in lower case.
  private let letters, plain: [Character]
  private let own: Set<String>

  init(_ letters: [Character], own: Set<String>, findsRepetitions: Bool) {
    self.letters = letters
    self.own = own
    plain = letters.map { $0.lowercased().first ?? $0 }
    findWords()
    findRuns()
    if findsRepetitions { findRepetitions() }
    findDates()
  }

  private mutating func add(
    _ start: Int, _ end: Int, _ guesses: Double, _ weakness: PasswordStrength.Weakness
  ) {
    // A part of several characters is never quite free: the guesser has to try its kind.
    let least: Double = end > start ? 50 : 10
    let isAll = start == 0 && end == letters.count - 1
    matches.append(
      Match(start: start, end: end, guesses: isAll ? guesses : max(guesses, least), weakness: weakness))
  }

  // MARK: Words

  /// Characters that replace letters; the second reading differs in those that can mean two.
  private static let signs: [[Character: Character]] = [
    [
      "4": "a", "@": "a", "8": "b", "3": "e", "6": "g", "9": "g", "1": "i", "!": "i", "|": "i", "0": "o",
      "$": "s",
      "5": "s", "7": "t", "+": "t", "2": "z",
    ],
    ["4": "a", "@": "a", "3": "e", "1": "l", "|": "l", "!": "l", "0": "o", "$": "s", "5": "s", "7": "l"],
  ]

  private mutating func findWords() {
    findWords(in: plain, reversed: false) { _ in 1 }
    findWords(in: plain.reversed(), reversed: true) { _ in 2 }
    for signs in Self.signs where plain.contains(where: { signs[$0] != nil }) {
      let read = plain.map { signs[$0] ?? $0 }
      // Each sign is one more thing to try.
      findWords(in: read, reversed: false) { [plain] range in
        let count = range.count { plain[$0] != read[$0] }
        return count == 0 ? nil : PasswordStrength.power(2, min(count, 4))
      }
    }
  }

  /// `cost` says how much more a reading takes than the word itself; nil if it is no reading at all.
  private mutating func findWords(in text: [Character], reversed: Bool, cost: (Range<Int>) -> Double?) {
    let count = text.count
    let longestOwn = own.map(\.count).max() ?? 0
    for start in 0..<count {
      var word = ""
      for end in start..<min(count, start + max(CommonWords.longest, longestOwn)) {
        word.append(text[end])
        guard word.count >= 3 else { continue }
        let isOwn = own.contains(word)
        guard let rank = isOwn ? 1 : CommonWords.rank(of: word) else { continue }
        guard let cost = cost(start..<(end + 1)) else { continue }
        let (first, last) = reversed ? (count - 1 - end, count - 1 - start) : (start, end)
        add(first, last, Double(rank) * cost * capitals(first...last), isOwn ? .own : .common)
      }
    }
  }

  /// How many more guesses capitals take: at the beginning, at the end or everywhere they are tried first.
  private func capitals(_ range: ClosedRange<Int>) -> Double {
    let count = range.count { letters[$0].isUppercase }
    if count == 0 { return 1 }
    let isUsual =
      count == range.count
      || (count == 1 && (letters[range.lowerBound].isUppercase || letters[range.upperBound].isUppercase))
    return isUsual ? 2 : PasswordStrength.power(2, min(count, range.count - count) + 1)
  }

  // MARK: Sequences and rows of keys

  private static let rows: [[Character]] = [
    Array("`1234567890-="), Array("\u{0}qwertyuiop[]\\"), Array("\u{0}asdfghjkl;'"), Array("\u{0}zxcvbnm,./"),
  ]

  private static let places: [Character: (row: Int, column: Int)] = {
    var places: [Character: (row: Int, column: Int)] = [:]
    for (row, keys) in rows.enumerated() {
      for (column, key) in keys.enumerated() { places[key] = (row, column) }
    }
    for (shifted, key) in zip("!@#$%^&*()_+", "1234567890-=") { places[shifted] = places[key] }
    return places
  }()

  /// The way from a key to one beside it, nil if it is not; the key itself is none.
  private static func step(_ one: Character, _ other: Character) -> Int? {
    guard let from = places[one], let to = places[other] else { return nil }
    let (down, right) = (to.row - from.row, to.column - from.column)
    // Each row of keys stands half a key further right.
    let isBeside =
      (down == 0 && abs(right) == 1) || (down == 1 && (right == 0 || right == -1))
      || (down == -1 && (right == 0 || right == 1))
    return isBeside ? down * 4 + right : nil
  }

  private mutating func findRuns() {
    var start = 0
    while start < plain.count - 1 {
      let (keys, turns) = keyRun(from: start)
      if keys - start >= 3 {
        let length = Double(keys - start + 1)
        add(start, keys, 47 * length * PasswordStrength.power(4.6, turns), .keyboard)
      }
      let end = sequence(from: start)
      if end - start >= 2 {
        let base: Double = "aAzZ019".contains(letters[start]) ? 4 : letters[start].isNumber ? 10 : 26
        add(start, end, base * Double(end - start + 1) * 2, .sequence)
      }
      start += 1
    }
  }

  /// The end of a run over keys beside each other, and how often it turns.
  private func keyRun(from start: Int) -> (end: Int, turns: Int) {
    var (end, turns) = (start, 0)
    var last: Int?
    while end + 1 < plain.count, let step = Self.step(plain[end], plain[end + 1]) {
      if step != last { turns += 1 }
      (last, end) = (step, end + 1)
    }
    return (end, turns)
  }

  /// The end of characters of which each is as far from the one before.
  private func sequence(from start: Int) -> Int {
    func code(_ place: Int) -> Int? {
      let scalars = plain[place].unicodeScalars
      return scalars.count == 1 ? scalars.first.map { Int($0.value) } : nil
    }
    guard start + 1 < plain.count, let first = code(start), let second = code(start + 1) else { return start }
    let step = second - first
    guard step != 0, abs(step) <= 5 else { return start }
    var (end, last) = (start + 1, second)
    while end + 1 < plain.count, let next = code(end + 1), next - last == step {
      (end, last) = (end + 1, next)
    }
    return end
  }

  // MARK: Repetitions and dates

  private mutating func findRepetitions() {
    let count = plain.count
    func repeats(at place: Int, _ width: Int) -> Bool {
      place >= 0 && place + 2 * width <= count
        && (0..<width).allSatisfy { plain[place + $0] == plain[place + width + $0] }
    }
    for width in 1...max(1, count / 2) {
      // One from each beginning of a run on.
      for start in 0..<count where repeats(at: start, width) && !repeats(at: start - 1, width) {
        var times = 2
        while repeats(at: start + (times - 1) * width, width) { times += 1 }
        guard times * width >= 3 else { continue }
        // What is repeated is not looked through for repetitions again: shorter ones stand here on their own.
        let unit = Array(letters[start..<(start + width)])
        let guesses = width == 1 ? 11 : PasswordStrength(unit, own: own, isUnit: true).guesses
        add(start, start + times * width - 1, guesses * Double(times), .repetition)
      }
    }
  }

  private mutating func findDates() {
    for start in 0..<plain.count {
      for length in [4, 6, 8, 10] where start + length <= plain.count {
        let text = plain[start..<(start + length)]
        let digits = text.filter(\.isASCII).filter(\.isNumber).compactMap(\.wholeNumberValue)
        let others = text.filter { !$0.isNumber }
        let hasMarks = others.count == 2 && Set(others).count == 1 && "-/. _".contains(others[0])
        guard digits.count == length || (hasMarks && length > 6), digits.count + others.count == length else {
          continue
        }
        let isYear = length == 4
        let year = isYear ? Self.number(digits[...]) : Self.year(digits)
        guard let year, (1900...2059).contains(year) else { continue }
        let distance = Double(max(abs(year - 2000), 20))
        add(start, start + length - 1, isYear ? distance : 365 * distance * (hasMarks ? 4 : 1), .date)
      }
    }
  }

  /// The year of a date of six or eight digits in the usual orders.
  private static func year(_ digits: [Int]) -> Int? {
    func isDay(_ one: Int, _ other: Int) -> Bool {
      (1...31).contains(one) && (1...31).contains(other) && min(one, other) <= 12
    }
    let short = digits.count == 6
    guard short || digits.count == 8 else { return nil }
    let width = short ? 2 : 4
    for (year, rest) in [
      (digits.prefix(width), digits.dropFirst(width)), (digits.suffix(width), digits.dropLast(width)),
    ] {
      guard isDay(number(rest.prefix(2)), number(rest.suffix(2))) else { continue }
      let number = number(year)
      return short ? (number > 50 ? 1900 + number : 2000 + number) : number
    }
    return nil
  }

  private static func number(_ digits: ArraySlice<Int>) -> Int { digits.reduce(0) { $0 * 10 + $1 } }
}

/// Common passwords, words and names by rank (`Assets/common-words.txt`). They are searched in place in the
/// binary, so that nothing is loaded and no memory used.
enum CommonWords {
  /// Letters of the longest.
  static let longest = 24

  private static let text = embeddedFiles["common-words.txt"] ?? ""

  /// The place of a word in lower case in the lists, from 1 on; nil for any other.
  static func rank(of word: String) -> Int? {
    var word = word
    return word.withUTF8 { word in
      guard (3...longest).contains(word.count) else { return nil }
      var copy = text
      return copy.withUTF8 { find(word, in: $0) }
    }
  }

  private static func find(_ word: UnsafeBufferPointer<UInt8>, in lines: UnsafeBufferPointer<UInt8>) -> Int? {
    let (newline, space) = (UInt8(ascii: "\n"), UInt8(ascii: " "))
    var (low, high) = (0, lines.count)
    while low < high {
      var start = (low + high) / 2
      while start > low, lines[start - 1] != newline { start -= 1 }
      var end = start
      while end < high, lines[end] != newline { end += 1 }
      let line = lines[start..<end]
      let name = line.prefix { $0 != space }
      if name.elementsEqual(word) {
        return line.dropFirst(name.count + 1).reduce(0) { $0 * 10 + Int($1) - 48 }
      }
      if name.lexicographicallyPrecedes(word) { low = end + 1 } else { high = start }
    }
    return nil
  }
}
