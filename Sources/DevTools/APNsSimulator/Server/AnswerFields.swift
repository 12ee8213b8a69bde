import HTTP

extension Decision.Answer {
  /// The bytes per DATA frame of a split body.
  private static let piece = 7

  /// The answer as HTTP/2 carries it.
  var http: HTTP2Answer {
    var headers = HTTP2Headers()
    // IDs never come again: in the table of fields they would only be in the way.
    headers.append("apns-id", id, .neverIndexed)
    if let uniqueID { headers.append("apns-unique-id", uniqueID, .neverIndexed) }
    if let retryAfter { headers.append("retry-after", text: String(retryAfter)) }
    let body = body == .absent ? [] : verdict.body
    if !body.isEmpty { headers.append("content-type", text: "application/json") }
    return HTTP2Answer(
      status: verdict.status, headers: headers, body: body,
      chunkBytes: self.body == .split ? Self.piece : .max)
  }
}

extension SimulatedRequest {
  /// Takes over what came on a stream, without copying values.
  init(_ request: HTTP2Request) {
    self.init(reserving: request.headers.count)
    for index in 0..<request.headers.count {
      add(request.headers.name(at: index), request.headers.value(at: index))
    }
    body = request.body
  }
}
