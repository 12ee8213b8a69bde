/// The offsets of a zone as a file of the IANA database has them (RFC 8536): moments at which the offset
/// changes, and a rule for all that come after the last of these.
package struct ZoneFile: Zone, Equatable {
  /// From when on, in seconds since 1970-01-01T00:00:00Z, each of `offsets` counts; ascending.
  private let changes: [Int64]
  private let offsets: [Int64]
  /// Before the first change.
  private let first: Int64
  /// After the last change; nil if that goes on for ever.
  private let rule: ZoneRule?

  /// Reads the content of a file of version 2 or later; nil for anything else.
  package init?(_ bytes: [UInt8]) {
    var reader = Reader(bytes: bytes)
    // The first part is for readers of version 1, which cannot tell of moments after 2038.
    guard let old = reader.header(), old.version >= UInt8(ascii: "2"), reader.skip(old.length(ofTime: 4)),
      let header = reader.header(), let body = reader.read(header.length(ofTime: 8))
    else { return nil }
    let types = header.times * 9
    var offsets: [Int64] = []
    for type in 0..<header.types {
      offsets.append(Int64(Int32(truncatingIfNeeded: Reader.number(body, at: types + type * 6, bytes: 4))))
    }
    guard let first = offsets.first, offsets.allSatisfy({ abs($0) <= Self.largestOffset }) else { return nil }
    var (changes, shown): ([Int64], [Int64]) = ([], [])
    for place in 0..<header.times {
      let moment = Reader.number(body, at: place * 8, bytes: 8)
      let type = Int(body[header.times * 8 + place])
      guard type < offsets.count, changes.last.map({ $0 < moment }) ?? true else { return nil }
      changes.append(moment)
      shown.append(offsets[type])
    }
    (self.changes, self.offsets, self.first) = (changes, shown, first)
    guard let footer = reader.footer() else { return nil }
    rule = ZoneRule(footer)
    guard rule != nil || footer.isEmpty else { return nil }
  }

  /// A day: no clock is further from UTC.
  private static let largestOffset: Int64 = 86_400

  /// Seconds ahead of UTC at a moment.
  package func offset(at second: Int64) -> Int64 {
    guard let last = changes.last else { return rule?.offset(at: second) ?? first }
    if second >= last, let rule { return rule.offset(at: second) }
    var (low, high) = (0, changes.count)
    while low < high {
      let middle = (low + high) / 2
      if changes[middle] <= second { low = middle + 1 } else { high = middle }
    }
    return low == 0 ? first : offsets[low - 1]
  }

  /// What is left of a file.
  private struct Reader {
    let bytes: [UInt8]
    var next = 0

    struct Header {
      let version: UInt8
      let times, types, characters, leaps, standards, universals: Int

      /// Bytes of what follows, with moments of so many bytes.
      func length(ofTime size: Int) -> Int {
        times * (size + 1) + types * 6 + characters + leaps * (size + 4) + standards + universals
      }
    }

    mutating func header() -> Header? {
      guard let head = read(44), head[0..<4].elementsEqual("TZif".utf8) else { return nil }
      let counts = (0..<6).map { Int(Self.number(head, at: 20 + $0 * 4, bytes: 4)) }
      // The largest file has some hundreds.
      guard counts.allSatisfy({ $0 <= 100_000 }) else { return nil }
      return Header(
        version: head[4], times: counts[3], types: counts[4], characters: counts[5], leaps: counts[2],
        standards: counts[1], universals: counts[0])
    }

    mutating func skip(_ count: Int) -> Bool {
      guard count <= bytes.count - next else { return false }
      next += count
      return true
    }

    mutating func read(_ count: Int) -> [UInt8]? {
      let start = next
      return skip(count) ? Array(bytes[start..<next]) : nil
    }

    /// The line at the end.
    func footer() -> String? {
      guard bytes.count - next >= 2, bytes[next] == 10, bytes.last == 10 else { return nil }
      return String(decoding: bytes[(next + 1)..<(bytes.count - 1)], as: UTF8.self)
    }

    static func number(_ bytes: [UInt8], at place: Int, bytes count: Int) -> Int64 {
      bytes[place..<(place + count)].reduce(0) { $0 << 8 | Int64($1) }
    }
  }
}

/// The clocks of a zone that are changed on the same days each year, or never, as POSIX writes it in the
/// variable `TZ`, with the hours that RFC 8536 allows beyond that.
package struct ZoneRule: Equatable, Sendable {
  private let standard: Int64
  /// The clocks of the summer, and when they begin and end; nil for none.
  private let summer: Summer?

  private struct Summer: Equatable {
    let offset: Int64
    let start, end: Day
  }

  /// A moment of each year: a day, and seconds after its midnight.
  private struct Day: Equatable {
    enum Kind: Equatable {
      /// 1 to 365; February 29 is never counted.
      case withoutLeapDay(Int)
      /// 0 to 365.
      case ofYear(Int)
      /// A day of the week, 0 for Sunday, in a week of a month; 5 for the last one.
      case ofMonth(Int, week: Int, weekday: Int)
    }

    let kind: Kind
    let seconds: Int64

    /// Seconds after 1970-01-01 00:00:00, on clocks that are not changed.
    func count(in year: Int64) -> Int64 {
      let january = LocalDate(year: Int(year), month: 1, day: 1)?.dayNumber ?? 0
      let day: Int64
      switch kind {
      case .ofYear(let number): day = january + Int64(number)
      case .withoutLeapDay(let number):
        let isLeap = LocalDate(year: Int(year), month: 2, day: 29) != nil
        day = january + Int64(number) - 1 + (isLeap && number >= 60 ? 1 : 0)
      case .ofMonth(let month, let week, let weekday):
        let first = LocalDate(year: Int(year), month: month, day: 1) ?? LocalDate(dayNumber: january)
        // 0 is Monday of a date, and Sunday here.
        let wait = (weekday + 6 - first.weekday + 7) % 7
        var date = first.adding(days: Int64(wait + 7 * (week - 1)))
        if date.month != month { date = date.adding(days: -7) }
        day = date.dayNumber
      }
      return day * 86_400 + seconds
    }
  }

  /// Reads such a text; nil for anything else.
  package init?(_ text: String) {
    var scanner = Scanner(rest: Array(text.utf8)[...])
    guard scanner.name(), let west = scanner.time(hours: 24) else { return nil }
    standard = -west
    guard !scanner.rest.isEmpty else {
      summer = nil
      return
    }
    guard scanner.name() else { return nil }
    var offset = standard + 3600
    if scanner.rest.first != UInt8(ascii: ",") {
      guard let west = scanner.time(hours: 24) else { return nil }
      offset = -west
    }
    guard let start = scanner.day(), let end = scanner.day(), scanner.rest.isEmpty else { return nil }
    summer = Summer(offset: offset, start: start, end: end)
  }

  package func offset(at second: Int64) -> Int64 {
    guard let summer else { return standard }
    let year = min(max(LocalTime(count: second + standard).date.year, 1), 9999)
    let (start, end) = (summer.start.count(in: year) - standard, summer.end.count(in: year) - summer.offset)
    let isSummer =
      start < end ? (start..<end).contains(second) : !(end..<start).contains(second)
    return isSummer ? summer.offset : standard
  }

  private struct Scanner {
    var rest: ArraySlice<UInt8>

    mutating func skip(_ character: Unicode.Scalar) -> Bool {
      guard rest.first == UInt8(ascii: character) else { return false }
      rest.removeFirst()
      return true
    }

    mutating func name() -> Bool {
      if skip("<") {
        guard let end = rest.firstIndex(of: UInt8(ascii: ">")) else { return false }
        rest = rest[(end + 1)...]
        return true
      }
      let letters = rest.prefix { (65...90).contains($0) || (97...122).contains($0) }
      rest = rest.dropFirst(letters.count)
      return !letters.isEmpty
    }

    mutating func number(in range: ClosedRange<Int64>) -> Int64? {
      let digits = rest.prefix { (48...57).contains($0) }
      guard (1...3).contains(digits.count) else { return nil }
      rest = rest.dropFirst(digits.count)
      let value = digits.reduce(Int64(0)) { $0 * 10 + Int64($1 - 48) }
      return range.contains(value) ? value : nil
    }

    /// `[+-]hh[:mm[:ss]]` in seconds.
    mutating func time(hours: Int64) -> Int64? {
      let isNegative = skip("-")
      if !isNegative { _ = skip("+") }
      guard var seconds = number(in: 0...hours).map({ $0 * 3600 }) else { return nil }
      for unit in [60, 1] as [Int64] {
        guard skip(":") else { break }
        guard let part = number(in: 0...59) else { return nil }
        seconds += part * unit
      }
      return isNegative ? -seconds : seconds
    }

    mutating func day() -> Day? {
      guard skip(",") else { return nil }
      let kind: Day.Kind
      if skip("M") {
        guard let month = number(in: 1...12), skip("."), let week = number(in: 1...5), skip("."),
          let weekday = number(in: 0...6)
        else { return nil }
        kind = .ofMonth(Int(month), week: Int(week), weekday: Int(weekday))
      } else if skip("J") {
        guard let day = number(in: 1...365) else { return nil }
        kind = .withoutLeapDay(Int(day))
      } else {
        guard let day = number(in: 0...365) else { return nil }
        kind = .ofYear(Int(day))
      }
      guard skip("/") else { return Day(kind: kind, seconds: 2 * 3600) }
      guard let seconds = time(hours: 167) else { return nil }
      return Day(kind: kind, seconds: seconds)
    }
  }
}
