/// Bytes of a field, within the bytes of all fields.
typealias HeaderValue = ArraySlice<UInt8>

/// A complete request as it came on a stream. Values stay bytes: most are only compared.
struct SimulatedRequest: Sendable {
  struct Field: Sendable, Equatable {
    let name: HeaderName
    let value: HeaderValue
  }

  /// In the order they came; of a field that came twice, both.
  private(set) var fields: [Field] = []
  /// Fields without a meaning here.
  private(set) var others: [(name: String, value: HeaderValue)] = []
  /// A field that Apple knows came twice.
  private(set) var hasDuplicates = false
  /// The payload.
  var body: [UInt8] = []

  /// Starts empty, with capacity for this many fields.
  init(reserving count: Int = 0) { fields.reserveCapacity(count) }

  /// Makes a request from texts.
  init(_ headers: KeyValuePairs<String, String>, body: String = "") {
    self.init(reserving: headers.count)
    for (name, value) in headers { add(Array(name.utf8)[...], Array(value.utf8)[...]) }
    self.body = Array(body.utf8)
  }

  /// Adds a field.
  mutating func add(_ name: HeaderValue, _ value: HeaderValue) {
    if let known = HeaderName(bytes: name) {
      if self[known] != nil { hasDuplicates = true }
      fields.append(Field(name: known, value: value))
    } else {
      let text = String(decoding: name, as: UTF8.self)
      if text.hasPrefix("apns-"), others.contains(where: { $0.name == text }) { hasDuplicates = true }
      others.append((text, value))
    }
  }

  /// The first value of a field.
  subscript(name: HeaderName) -> HeaderValue? {
    for field in fields where field.name == name { return field.value }
    return nil
  }
}
