// What Apple's platforms have since version 26 only, for the older ones that the device library supports. On
// Linux `#available` is decided when the compiler runs, so that nothing of this has a cost there.

extension [UInt8] {
  /// Calls a function with the bytes, and returns its result; for code that may not use `span`.
  @inlinable
  public func withSpan<Result, Failure: Error>(
    _ body: (Span<UInt8>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try withUnsafeBufferPointer { bytes throws(Failure) in try body(bytes.span) }
  }
}

extension String {
  /// Calls a function with the text in UTF-8, and returns its result; for code that may not use `utf8.span`.
  @inlinable
  public func withUTF8Span<Result>(_ body: (Span<UInt8>) -> Result) -> Result {
    if #available(iOS 26, macOS 26, *) { return body(utf8.span) }
    var text = self
    return text.withUTF8 { body($0.span) }
  }

  /// The text that bytes are in UTF-8.
  @inlinable
  public init(validUTF8 bytes: Span<UInt8>) throws(InvalidUTF8) {
    guard #available(iOS 26, macOS 26, *) else {
      self = try Self.validated(bytes)
      return
    }
    do {
      self.init(copying: try UTF8Span(validating: bytes))
    } catch {
      throw InvalidUTF8(at: error.byteOffsets.lowerBound)
    }
  }

  /// The same by the means of older systems.
  @usableFromInline
  static func validated(_ bytes: Span<UInt8>) throws(InvalidUTF8) -> String {
    try bytes.withUnsafeBufferPointer { bytes throws(InvalidUTF8) in
      var parser = Unicode.UTF8.ForwardParser()
      var rest = bytes.makeIterator()
      var offset = 0
      scalars: while true {
        switch parser.parseScalar(from: &rest) {
        case .valid(let scalar): offset += scalar.count
        case .error: throw InvalidUTF8(at: offset)
        case .emptyInput: break scalars
        }
      }
      return String(decoding: bytes, as: UTF8.self)
    }
  }

  /// Whether the text is known to be ASCII without a look at all of it; false where that cannot be known.
  @inlinable
  var isKnownASCII: Bool {
    if #available(iOS 26, macOS 26, *) { utf8Span.isKnownASCII } else { false }
  }
}

/// Some bytes are not UTF-8.
public struct InvalidUTF8: Error, Hashable {
  /// The offset of the first byte at fault.
  public let offset: Int

  /// Wraps an offset.
  @inlinable public init(at offset: Int) { self.offset = offset }
}
