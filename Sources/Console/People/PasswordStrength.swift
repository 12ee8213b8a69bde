/// Estimates how many guesses a password withstands, in the manner of zxcvbn (Wheeler, USENIX Security 2016):
/// it is taken apart into common words, rows of keys, sequences, repetitions and dates, in the way that costs
/// a guesser least.
struct PasswordStrength: Sendable {
  /// What makes a password, or a part of it, easy to guess.
  enum Weakness: Sendable, Equatable {
    /// The person's address or name, the account's name, or ours.
    case own
    /// A common password or word.
    case common
    case keyboard, sequence, repetition, date
    /// None of these makes most of it: it is only too short.
    case short
  }

  /// A part of the password that is easy to guess.
  struct Match: Sendable {
    let start, end: Int
    let guesses: Double
    let weakness: Weakness
  }

  /// Guesses until it is found, on the average of many attackers.
  let guesses: Double
  /// The weakness of most of it.
  let weakness: Weakness

  /// What follows these characters adds nothing: a password that is good is good by then.
  private static let most = 64

  /// Estimates a password of a person with the names in `own`, in lower case.
  init(_ password: String, own: Set<String>) {
    self.init(Self.simplified(Array(password.prefix(Self.most))), own: own, isUnit: false)
  }

  /// With one sign in place of each character of many scalars, such as a letter under a heap of marks: no
  /// word has them, and to compare them would take as long as there are marks.
  static func simplified(_ letters: [Character]) -> [Character] {
    var signs: [Character: Character] = [:]
    return letters.map { letter in
      guard letter.unicodeScalars.count > 3 else { return letter }
      if let sign = signs[letter] { return sign }
      // For private use, and so far apart that they are no sequence.
      let sign = Character(Unicode.Scalar(UInt32(0xE000 + 97 * signs.count)) ?? "\u{FFFD}")
      signs[letter] = sign
      return sign
    }
  }

  init(_ letters: [Character], own: Set<String>, isUnit: Bool) {
    let matches = PasswordPatterns(letters, own: own, findsRepetitions: !isUnit).matches
    (guesses, weakness) = Self.cheapest(matches, of: letters.count)
  }

  /// The cheapest way to cover a password with matches, and with guesses character by character between them
  /// (zxcvbn's search: the parts may come in any order, so their guesses are multiplied by the factorial of
  /// their number).
  private static func cheapest(_ matches: [Match], of count: Int) -> (Double, Weakness) {
    guard count > 0 else { return (0, .short) }
    struct Step {
      let product: Double
      let match: Match
    }
    // For each end and number of parts the cheapest last part.
    var steps: [[Int: Step]] = Array(repeating: [:], count: count)
    func put(_ match: Match, behind parts: Int, _ product: Double) {
      let product = product * match.guesses
      if let known = steps[match.end][parts + 1], known.product <= product { return }
      steps[match.end][parts + 1] = Step(product: product, match: match)
    }
    func plain(_ start: Int, _ end: Int) -> Match {
      let guesses = power(10, end - start + 1)
      return Match(
        start: start, end: end, guesses: start == end ? guesses + 1 : guesses + 51, weakness: .short)
    }
    let byEnd = Dictionary(grouping: matches, by: \.end)
    for end in 0..<count {
      for match in byEnd[end] ?? [] {
        if match.start == 0 {
          put(match, behind: 0, 1)
        } else {
          for (parts, step) in steps[match.start - 1] { put(match, behind: parts, step.product) }
        }
      }
      put(plain(0, end), behind: 0, 1)
      for start in 1..<max(end + 1, 1) {
        for (parts, step) in steps[start - 1] where step.match.weakness != .short {
          put(plain(start, end), behind: parts, step.product)
        }
      }
    }
    var factorial = 1.0
    var best: (guesses: Double, parts: Int) = (.infinity, 0)
    for parts in 1...count {
      factorial *= Double(parts)
      guard let step = steps[count - 1][parts] else { continue }
      let total = factorial * step.product + power(10_000, parts - 1)
      if total < best.guesses { best = (total, parts) }
    }
    var (end, parts) = (count - 1, best.parts)
    var chosen: [Match] = []
    while end >= 0, let step = steps[end][parts] {
      chosen.append(step.match)
      (end, parts) = (step.match.start - 1, parts - 1)
    }
    if chosen.contains(where: { $0.weakness == .own }) { return (best.guesses, .own) }
    let longest = chosen.filter { $0.weakness != .short }.max { $0.end - $0.start < $1.end - $1.start }
    // Only what is one nearly as a whole is a common password; others are made of common words.
    if let longest, longest.weakness == .common, (longest.end - longest.start + 1) * 5 < count * 4 {
      return (best.guesses, .short)
    }
    return (best.guesses, longest?.weakness ?? .short)
  }

  static func power(_ base: Double, _ exponent: Int) -> Double {
    var result = 1.0
    for _ in 0..<max(0, exponent) { result *= base }
    return result
  }
}
