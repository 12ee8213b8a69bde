import BorealisBase

/// Texts as they stand in addresses and forms.
enum AddressText {
  /// The query of an address with those of the fields that are not empty.
  static func query(_ fields: [(name: String, value: String)]) -> String {
    let given = fields.filter { !$0.value.isEmpty }.map { "\($0.name)=\(encode($0.value))" }
    return given.isEmpty ? "" : "?" + given.joined(separator: "&")
  }

  /// Percent-encodes all but what RFC 3986 section 2.3 calls unreserved.
  static func encode(_ text: String) -> String {
    var output: [UInt8] = []
    for byte in text.utf8 {
      switch byte {
      case 48...57, 65...90, 97...122, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
        UInt8(ascii: "~"):
        output.append(byte)
      default: output += "%\(Hex.encode([byte]))".utf8
      }
    }
    return String(decoding: output, as: UTF8.self)
  }
}
