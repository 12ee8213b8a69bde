import BorealisBase
import Model

extension AppDirectory {
  /// Those of some registrations who get each of some languages, by what their devices have reported; all
  /// others get the default. Of many it reads the column of languages once, without the lock.
  func readers(of languages: [LanguageTag], among recipients: Recipients) -> [NumberSet] {
    switch recipients {
    case .many(let set):
      let (facts, end) = state.withLock { ($0.table.facts, $0.table.records.count) }
      return facts.readers(of: languages, among: set, below: end)
    case .few(let numbers):
      let reported = state.withLock { state in numbers.map { state.table.facts.facts(of: $0)[.language] } }
      var found = [NumberSet](repeating: NumberSet(), count: languages.count)
      for (number, reported) in zip(numbers, reported) {
        guard let place = reported.flatMap({ LanguageTag.place(of: $0, among: languages) }) else { continue }
        found[place].insert(number)
      }
      return found
    }
  }
}

extension FactTable {
  /// Words of 64 registrations in a step.
  private static let words = ChunkedArray<UInt16>.chunkCount / 64

  fileprivate func readers(of languages: [LanguageTag], among set: NumberSet, below end: Int) -> [NumberSet] {
    guard let column = columns[.language] else {
      return [NumberSet](repeating: NumberSet(), count: languages.count)
    }
    // For each value the place of its language, from 1; 0 for the default.
    let places = column.values.map { value in
      value.number == nil ? 0 : LanguageTag.place(of: value.text, among: languages).map { $0 + 1 } ?? 0
    }
    let words = Self.words
    var found = languages.map { _ in RoaringWriter() }
    var step = [UInt64](repeating: 0, count: words * languages.count)
    for chunk in 0..<(end + 64 * words - 1) / (64 * words) {
      if let values = column.places.chunk(chunk) {
        for (word, members) in set.words(from: 64 * words * chunk, count: words).enumerated() {
          var rest = members
          while rest != 0 {
            let place = places[Int(values[64 * word + rest.trailingZeroBitCount])]
            if place > 0 { step[(place - 1) * words + word] |= rest & ~(rest - 1) }
            rest &= rest - 1
          }
        }
      }
      for language in languages.indices {
        found[language].append(Array(step[words * language..<words * (language + 1)]))
      }
      for index in step.indices { step[index] = 0 }
    }
    return found.map { $0.finish() }
  }
}
