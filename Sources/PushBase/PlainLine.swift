extension StringProtocol {
  /// Whether the text can stand in a header, a line of mail or of the log: without control characters (C0, DEL, C1) and
  /// Unicode's separators of lines and paragraphs.
  public var isPlainLine: Bool {
    unicodeScalars.allSatisfy { scalar in
      switch scalar.value {
      case 0..<0x20, 0x7f..<0xa0, 0x2028, 0x2029: false
      default: true
      }
    }
  }
}
