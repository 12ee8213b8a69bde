/// Why a message was refused. The connection cannot be used further, since its framing is in doubt.
package enum HTTPFault: Error, Sendable, Equatable, CaseIterable {
  /// The first line is not `method SP target SP HTTP/1.x`, or not a status line.
  case badStartLine
  /// The request line is over the limit.
  case targetTooLong
  /// The method is longer than any known one.
  case unknownMethod
  /// HTTP, but not HTTP/1.
  case unsupportedVersion
  /// A line feed without a carriage return.
  case bareLineFeed
  /// A field line that RFC 9112 section 5 does not allow: folded, space before the colon, control characters.
  case badField
  /// More bytes or more fields in the header than the limits.
  case headerTooLarge
  /// No `Host`, several, or an invalid one.
  case badHost
  /// `Content-Length` is repeated, is not a number, or appears with `Transfer-Encoding`.
  case badLength
  /// A transfer coding other than `chunked`.
  case unsupportedCoding
  /// An expectation other than `100-continue`.
  case unknownExpectation
  /// The body is, or is announced to be, over the limit.
  case bodyTooLarge
  /// There is no memory for the body; set by the owner of the connection, never by the parser.
  case busy
  /// The handler did not answer in time, and the request may have been carried out; never set by the parser.
  case unanswered
  /// Nobody can serve the request now, and it was not carried out; never set by the parser.
  case unserved
  /// A chunk's size line or end is malformed, or the extensions are over the limit.
  case badChunk
  /// The peer closed in the middle of a message.
  case cutShort
  /// The message took too long; set by the owner of the connection, never by the parser.
  case timeout

  /// The status to answer a request with (RFC 9110 section 15).
  package var status: Int {
    switch self {
    case .badStartLine, .bareLineFeed, .badField, .badHost, .badLength, .badChunk, .cutShort: 400
    case .timeout: 408
    case .bodyTooLarge: 413
    case .targetTooLong: 414
    case .unknownExpectation: 417
    case .headerTooLarge: 431
    case .unknownMethod, .unsupportedCoding: 501
    case .busy, .unanswered, .unserved: 503
    case .unsupportedVersion: 505
    }
  }
}

/// How much of a message is held in memory.
package struct HTTPLimits: Sendable, Equatable {
  /// Bytes of the request line or status line.
  package let startLine: Int
  /// Bytes of all field lines together; the same again for the trailer.
  package let header: Int
  /// Number of field lines.
  package let fields: Int
  /// Bytes of the body.
  package let body: Int

  /// The limits for requests: 72 KiB, 16 KiB, 100 fields, 1 MiB. Paths of Getui's API name up to 1,000 CIDs
  /// of 64 bytes.
  package init(startLine: Int = 72 << 10, header: Int = 16 << 10, fields: Int = 100, body: Int = 1 << 20) {
    self.startLine = startLine
    self.header = header
    self.fields = fields
    self.body = body
  }
  /// Bytes of one chunk's size line.
  static let chunkLine = 256
  /// Bytes of all chunk extensions together.
  static let chunkExtensions = 4096
}
