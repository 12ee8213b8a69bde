import BorealisBase

/// The members of a request that the server accepts without doing what they ask for, since they only affect
/// how a notification looks or which feature of a maker is used. The sender sees their names in a header of
/// the response, and people on the push's page. One list for each request; used by one thread.
package final class IgnoredMembers {
  /// The response header.
  package static let header = "X-Borealis-Ignored"
  /// Names that are kept, so that the header is short enough for every client.
  package static let most = 20
  /// Bytes of a name that are kept.
  private static let longest = 100

  /// Their paths in the request, in order, each once.
  package private(set) var names: [String] = []

  /// Makes an empty list.
  package init() {}

  /// Adds the path of a member.
  package func add(_ path: String) {
    guard names.count < Self.most else { return }
    let name = String(decoding: path.utf8.prefix(Self.longest), as: UTF8.self)
    if !names.contains(name) { names.append(name) }
  }

  /// Adds the paths of another list, each after a prefix.
  package func add(_ paths: [String], below prefix: String = "") {
    for path in paths { add(prefix + path) }
  }

  /// The value of the response header, nil for no names: paths joined by commas, with `%XX` for bytes other
  /// than visible ASCII and for commas and percent signs.
  package static func headerValue(_ names: [String]) -> String? {
    guard !names.isEmpty else { return nil }
    var value: [UInt8] = []
    for name in names {
      if !value.isEmpty { value += [UInt8(ascii: ","), UInt8(ascii: " ")] }
      for byte in name.utf8 {
        if (0x21...0x7e).contains(byte), byte != UInt8(ascii: ","), byte != UInt8(ascii: "%") {
          value.append(byte)
        } else {
          value.append(UInt8(ascii: "%"))
          for digit in [byte >> 4, byte & 15] { value.append(digit < 10 ? 48 + digit : 55 + digit) }
        }
      }
    }
    return String(decoding: value, as: UTF8.self)
  }
}

extension JSONValue {
  /// Whether a member with this value asks for nothing: `null`, `false`, `"false"`, `""`, 0, and arrays and
  /// objects without anything else. Such members are accepted everywhere, known or not.
  package var asksForNothing: Bool {
    switch self {
    case .null, .bool(false), .string(""), .string("false"): true
    case .bool, .string: false
    case .number(let number): number.double == 0
    case .array(let elements): elements.isEmpty
    case .object(let object): object.members.allSatisfy { $0.value.asksForNothing }
    }
  }
}
