/// The fields of a request that the rules or the log know by name.
enum HeaderName: String, CaseIterable, Sendable {
  case method = ":method"
  case scheme = ":scheme"
  case authority = ":authority"
  case path = ":path"
  case authorization
  case topic = "apns-topic"
  case pushType = "apns-push-type"
  case id = "apns-id"
  case expiration = "apns-expiration"
  case priority = "apns-priority"
  case collapseID = "apns-collapse-id"
  case contentType = "content-type"
  case contentLength = "content-length"
  case contentEncoding = "content-encoding"
  case userAgent = "user-agent"
  case host

  private static let table = allCases.map { (name: $0, bytes: Array($0.rawValue.utf8)[...]) }

  /// Finds a name as it came; HTTP/2 allows lower case only.
  init?(bytes: HeaderValue) {
    for entry in Self.table where entry.bytes == bytes {
      self = entry.name
      return
    }
    return nil
  }
}
