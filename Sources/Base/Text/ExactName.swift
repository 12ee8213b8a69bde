/// A name that counts byte for byte: the key of tables in memory that have to agree with the database, which
/// compares bytes. Swift's own comparison takes canonically equivalent texts for equal, such as é as one
/// scalar and as two.
public struct ExactName: Hashable, Sendable {
  /// The name.
  public let text: String

  /// Wraps a name.
  public init(_ text: String) { self.text = text }

  /// Whether both have the same bytes.
  public static func == (left: Self, right: Self) -> Bool { left.text.hasSameBytes(as: right.text) }

  /// Hashes the bytes.
  public func hash(into hasher: inout Hasher) { text.hashBytes(into: &hasher) }
}

extension String {
  /// Whether another text has the same bytes in UTF-8; `==` also holds for canonically equivalent ones.
  @inlinable public func hasSameBytes(as other: String) -> Bool {
    // The first two are quick, and most texts differ in them. Whatever else equals ASCII has more bytes.
    utf8.count == other.utf8.count && self == other
      && (isKnownASCII || utf8.elementsEqual(other.utf8))
  }

  /// Hashes the bytes in UTF-8.
  public func hashBytes(into hasher: inout Hasher) {
    let inOnePiece: Void? = utf8.withContiguousStorageIfAvailable {
      hasher.combine(bytes: UnsafeRawBufferPointer($0))
    }
    if inOnePiece == nil { for byte in utf8 { hasher.combine(byte) } }
  }
}
