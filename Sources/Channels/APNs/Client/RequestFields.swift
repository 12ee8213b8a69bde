import BorealisBase
import HTTP
import Model

/// Writes the fields of requests into one reused list.
///
/// Fields that many requests share may enter the HPACK table (RFC 7541): scheme, host, topic, type, priority.
/// Fields that change each time may not, as they would evict the others. nghttp2 never indexes `:path` and
/// `authorization`, as Apple recommends.
struct RequestFields {
  private(set) var list = HTTP2Headers()
  private let fixedCount: Int
  private var text: [UInt8] = []
  private var lastExpiration: Int64?

  init(host: String) {
    list.append(":method", text: "POST")
    list.append(":scheme", text: "https")
    list.append(":authority", text: host)
    fixedCount = list.count
  }

  /// Makes the fields of a request; `authorization` is left out if empty.
  mutating func fill(_ request: APNsRequest, authorization: [UInt8]) {
    list.truncate(to: fixedCount)
    appendPath(request.deviceToken)
    if !authorization.isEmpty { list.append("authorization", authorization, .neverIndexed) }
    list.append("apns-topic", text: request.topic)
    list.append("apns-push-type", text: request.type.name)
    appendNumber("apns-priority", Int64(request.priority.rawValue), .indexed)
    text.removeAll(keepingCapacity: true)
    request.id.write(to: &text)
    list.append("apns-id", text, .neverIndexed)
    if let expiration = request.expiration {
      // The targets of one push have the same expiration.
      appendNumber("apns-expiration", expiration, expiration == lastExpiration ? .indexed : .neverIndexed)
      lastExpiration = expiration
    }
    if !request.collapseID.isEmpty { list.append("apns-collapse-id", request.collapseID, .neverIndexed) }
  }

  private mutating func appendPath(_ token: [UInt8]) {
    text.removeAll(keepingCapacity: true)
    text.append(contentsOf: "/3/device/".utf8)
    Hex.append(token, to: &text)
    list.append(":path", text, .neverIndexed)
  }

  private mutating func appendNumber(
    _ name: StaticString, _ number: Int64, _ compression: HTTP2Headers.Compression
  ) {
    text.removeAll(keepingCapacity: true)
    var rest = number.magnitude
    repeat {
      text.append(48 + UInt8(rest % 10))
      rest /= 10
    } while rest > 0
    if number < 0 { text.append(45) }
    text.reverse()
    list.append(name, text, compression)
  }
}
