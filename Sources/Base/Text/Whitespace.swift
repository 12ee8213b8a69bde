extension StringProtocol {
  /// The text without white space at its ends.
  package var withoutOuterWhitespace: String {
    let start = drop(while: \.isWhitespace)
    return String(start.reversed().drop(while: \.isWhitespace).reversed())
  }
}
