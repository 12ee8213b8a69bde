/// Texts of services.
enum VendorText {
  /// What somebody else says, as one line of bounded length.
  static func line(_ text: String) -> String {
    let plain = text.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : Character($0) }
    return String(String(plain).split(separator: " ").joined(separator: " ").prefix(200))
  }
}
