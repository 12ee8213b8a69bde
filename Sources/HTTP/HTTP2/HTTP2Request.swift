/// A complete request.
package struct HTTP2Request: Sendable {
  /// The stream that it came on, which identifies it in its connection.
  package let streamID: Int32
  /// All fields in the order received, pseudo fields first, with duplicates; trailers are dropped.
  package let headers: HTTP2Headers
  package internal(set) var body: [UInt8] = []

  /// The value of `:method`.
  package var method: String { headers.text(":method") ?? "" }
  /// The value of `:path`.
  package var path: String { headers.text(":path") ?? "" }
}

/// An answer to a request.
package struct HTTP2Answer: Sendable {
  /// The status code, three digits.
  package var status: Int
  /// Fields beside the status.
  package var headers: HTTP2Headers
  /// The body; may be empty.
  package var body: [UInt8]
  /// Largest piece of the body in one DATA frame.
  package var chunkBytes: Int

  /// Makes an answer.
  package init(status: Int, headers: HTTP2Headers = .init(), body: [UInt8] = [], chunkBytes: Int = .max) {
    self.status = status
    self.headers = headers
    self.body = body
    self.chunkBytes = chunkBytes
  }

  /// The fields to send.
  var fields: HTTP2Headers {
    var fields = HTTP2Headers(reserving: headers.byteCount + 10, fields: headers.count + 1)
    fields.append(":status", text: String(status))
    for index in 0..<headers.count {
      fields.append(
        name: headers.name(at: index), headers.value(at: index), headers.fields[index].compression)
    }
    return fields
  }
}

/// Events of a peer other than requests.
package enum HTTP2Notice: Equatable, Sendable {
  /// It acknowledged our settings: limits set before apply from now on.
  case settingsAcknowledged
  /// It sent a PING.
  case ping
  /// It answered our PING with this number.
  case pong(UInt64)
  /// It sent a PRIORITY frame.
  case priority
  /// It reset a stream.
  case reset(streamID: Int32, HTTP2ErrorCode)
  /// It sent a GOAWAY.
  case goAway(HTTP2ErrorCode)
  /// It violated the protocol; with the reason. A stream above a limit that it has acknowledged is reported
  /// for stream 0, and the connection ends; one above a limit that it has not seen yet is refused, and
  /// reported with its number.
  case violation(streamID: Int32, String)
  /// It opened a stream above the last one of our GOAWAY, which gets no answer.
  case ignoredStream(Int32)
}
