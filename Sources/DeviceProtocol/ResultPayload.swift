import BorealisBase

/// The payload of a RESULT. Only successful queries have one.
public enum ResultPayload: Hashable, Sendable {
  /// Nothing.
  case none
  /// The result of GET_ALIAS; empty when there is no alias.
  case alias(String)
  /// The result of GET_TAGS.
  case tags([String])
  /// The result of CHECK_TAG: whether the device has the tag.
  case hasTag(Bool)
  /// The result of GET_KEY: the key, encrypted for this device.
  case key([UInt8])

  /// Decodes the payload of the RESULT of an operation of type `operation`. Throws when it does not fit this
  /// operation.
  public init(_ bytes: [UInt8], answering operation: FrameType, code: ResultCode) throws(FrameError) {
    self = try bytes.withSpan { bytes throws(FrameError) in
      try Self(bytes, answering: operation, code: code)
    }
  }

  private init(_ span: Span<UInt8>, answering operation: FrameType, code: ResultCode) throws(FrameError) {
    var reader = try BodyReader(0..<span.count, in: span)
    switch operation {
    case _ where code != .ok: self = .none
    case .getAlias: self = .alias(try reader.text(in: span))
    case .getTags: self = .tags(try reader.texts(in: span))
    case .checkTag:
      let flag = try reader.integer(UInt8.self, in: span)
      guard flag <= 1 else { throw .invalidValue }
      self = .hasTag(flag == 1)
    case .getKey: self = .key(try reader.counted(in: span))
    default: self = .none
    }
    try reader.finish()
  }
}
