/// Turns the SQL of the repositories into PostgreSQL's. All but a few words are the same:
/// Docs/decisions/0049.
enum PostgresSQL {
  /// The text for PostgreSQL.
  static func rewrite(_ sql: some Sequence<UInt8>) -> String {
    let words = tokens(String(decoding: Array(sql), as: UTF8.self))
    var result = ""
    var parameters = 0
    var index = 0
    func word(_ offset: Int) -> Substring { index + offset < words.count ? words[index + offset] : "" }
    while index < words.count {
      let current = word(0)
      switch current {
      case " " where result.hasSuffix(" "): break
      case "?":
        if let number = Int(word(1)) {
          result += "$\(number)"
          index += 1
        } else {
          parameters += 1
          result += "$\(parameters)"
        }
      // INDEXED BY name
      case "INDEXED": index += 4
      case "CROSS": index += 1
      case "x" where word(1).first == "'":
        result += "'\\x\(word(1).dropFirst())::bytea"
        index += 1
      case "GLOB":
        result += "LIKE \(word(2).replacing("*", with: "%"))"
        index += 2
      default:
        // name COLLATE NOCASE, and what it is compared with
        if word(2) == "COLLATE", word(4) == "NOCASE" {
          result += "lower(\(current))"
          index += 4
          if word(2) == "=", word(4) == "?" {
            parameters += 1
            result += " = lower($\(parameters) COLLATE \"C\")"
            index += 4
          }
        } else {
          result += current
        }
      }
      index += 1
    }
    return result
  }

  /// Words, numbers, texts in quotes, white space, and single characters of all else. Comments go.
  private static func tokens(_ sql: String) -> [Substring] {
    var tokens: [Substring] = []
    var rest = sql[...]
    while let first = rest.first {
      let token: Substring
      if first == "'" {
        let end = rest.dropFirst().firstIndex(of: "'") ?? rest.indices.last ?? rest.startIndex
        token = rest[...end]
      } else if rest.hasPrefix("--") {
        rest = rest.drop { !$0.isNewline }
        continue
      } else if first.isNumber {
        token = rest.prefix { $0.isNumber }
      } else if first.isLetter || first == "_" {
        token = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
      } else if first.isWhitespace {
        token = " "
        rest = rest.drop { $0.isWhitespace }
        tokens.append(token)
        continue
      } else {
        token = rest.prefix(1)
      }
      tokens.append(token)
      rest = rest[token.endIndex...]
    }
    return tokens
  }
}
