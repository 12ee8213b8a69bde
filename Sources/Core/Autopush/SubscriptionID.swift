import BorealisBase

/// The name that a browser gives a subscription to Web Push, the `channelID` of the autopush protocol: a UUID
/// that it chooses at random.
package struct SubscriptionID: Hashable, Sendable {
  /// Its 16 bytes.
  package let bytes: [UInt8]

  /// Takes 16 bytes; any other number gives nil.
  init?(_ bytes: some Collection<UInt8>) {
    guard bytes.count == 16 else { return nil }
    self.bytes = Array(bytes)
  }

  /// Reads a UUID in the form of RFC 9562, in either case; nil for anything else.
  package init?(_ text: String) {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.map(\.utf8.count) == [8, 4, 4, 4, 12], let bytes = Hex.decode(parts.joined().lowercased())
    else { return nil }
    self.init(bytes)
  }

  /// The UUID in lower case.
  package var text: String {
    let digits = Hex.encode(bytes)
    var (parts, rest): ([Substring], Substring) = ([], digits[...])
    for count in [8, 4, 4, 4, 12] {
      parts.append(rest.prefix(count))
      rest = rest.dropFirst(count)
    }
    return parts.joined(separator: "-")
  }
}
