extension StringProtocol {
  /// Whether the text fits into a header, or a line of mail or of the log: it has no control characters (C0,
  /// DEL, C1) or Unicode line or paragraph separators.
  public var isPlainLine: Bool {
    unicodeScalars.allSatisfy { scalar in
      switch scalar.value {
      case 0..<0x20, 0x7f..<0xa0, 0x2028, 0x2029: false
      default: true
      }
    }
  }
}
