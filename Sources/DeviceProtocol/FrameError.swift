/// Why bytes are not a frame of the device protocol. The connection they came from is closed. The bodies of
/// what nodes of a cluster tell each other are refused with the same errors.
public enum FrameError: Error, Hashable, Sendable {
  /// The length field says 0; a frame has at least its type.
  case emptyFrame
  /// The length field is padded: fewer bytes would be sufficient.
  case lengthNotMinimal
  /// The length field has more than three bytes.
  case lengthTooLong
  /// The length is over the limit that applies at this point of the connection.
  case frameTooLarge
  /// No frame of this direction has this type in version 1.
  case unknownType
  /// The body ends before its last field.
  case truncatedBody
  /// The body has bytes after its last field.
  case trailingBytes
  /// A text field is not UTF-8.
  case invalidUTF8
  /// A count or a counted field is shorter or longer than its limits, or does not fit the body.
  case invalidCount
  /// A field has a value that version 1 does not know, or a reserved bit is set.
  case invalidValue
  /// HELLO does not start with the magic bytes: the peer speaks another protocol.
  case badMagic
}
