import BorealisBase

/// What an API key is for: what it is called, what it may do, from where and until when.
package struct APIKeyGrant: Sendable, Equatable {
  /// For people.
  package let name: String
  /// What it may do; at least one right.
  package let rights: APIRights
  /// The networks that its calls may come from; nil for everywhere.
  package let networks: [IPNetwork]?
  /// When it stops working; nil for never.
  package let expiresAt: Timestamp?

  package init(
    name: String, rights: APIRights, networks: [IPNetwork]? = nil, expiresAt: Timestamp? = nil
  ) {
    (self.name, self.rights) = (name, rights)
    (self.networks, self.expiresAt) = (networks, expiresAt)
  }

  /// The most networks of a key.
  package static let mostNetworks = 100

  /// Whether it has expired at a moment: at its end it has.
  package func isExpired(at now: Timestamp) -> Bool { expiresAt.map { $0 <= now } ?? false }

  /// Whether calls may come from an address; from an unknown one only if they may come from everywhere.
  package func allows(_ address: IPAddress?) -> Bool {
    guard let networks else { return true }
    guard let address else { return false }
    return networks.contains { $0.contains(address) }
  }

  /// The first way in which this is more than another grant, in words of the API; nil if it is not. So a key
  /// cannot make one that may do more than itself, longer, or from elsewhere.
  package func excess(over other: APIKeyGrant) -> String? {
    if let right = rights.subtracting(other.rights).rights.first {
      return "rights has a right that the calling key lacks: \(right.rawValue)"
    }
    if let end = other.expiresAt, expiresAt.map({ $0 > end }) ?? true {
      return "expires_at must be \(Log.iso8601(end.milliseconds)) or earlier, when the calling key expires"
    }
    guard let around = other.networks else { return nil }
    let isInside = networks?.allSatisfy { own in around.contains { $0.contains(own) } } ?? false
    return isInside ? nil : "networks must be inside the networks of the calling key"
  }

  // MARK: Reading

  /// Reads the body of a request to create a key.
  package static func parse(_ json: JSONValue, at now: Timestamp) throws(APIError) -> APIKeyGrant {
    guard let object = json.object else { throw APIFaults.push.invalid("The body must be a JSON object") }
    let fields = Fields(object)
    try fields.allow(["name", "rights", "networks", "expires_at"])
    guard let name = fields["name"] else { throw fields.missing("name") }
    guard let name = name.string?.withoutOuterWhitespace, AppRequest.isName(name) else {
      throw fields.invalid(
        "name", "must be a string of 1 to \(AppRequest.maximumNameBytes) bytes without control characters")
    }
    return APIKeyGrant(
      name: name, rights: try rights(fields), networks: try networks(fields),
      expiresAt: try end(fields, at: now))
  }

  private static func rights(_ fields: Fields) throws(APIError) -> APIRights {
    guard let names = fields["rights"] else { throw fields.missing("rights") }
    let known = APIRight.allCases.map(\.rawValue).joined(separator: ", ")
    var rights: APIRights = []
    for name in names.array ?? [.null] {
      guard let right = name.string.flatMap({ APIRight(rawValue: $0) }) else {
        throw fields.invalid("rights", "must be an array of some of \(known)")
      }
      rights.insert(APIRights(right))
    }
    return rights
  }

  private static func networks(_ fields: Fields) throws(APIError) -> [IPNetwork]? {
    guard let texts = fields["networks"] else { return nil }
    var networks: [IPNetwork] = []
    for text in texts.array ?? [.null] {
      guard let network = text.string.flatMap({ IPNetwork($0) }) else {
        throw fields.invalid("networks", "must be an array of networks such as '192.0.2.0/24'")
      }
      networks.append(network)
    }
    guard networks.count <= mostNetworks else {
      throw fields.invalid("networks", "must have at most \(mostNetworks) networks")
    }
    return networks
  }

  private static func end(_ fields: Fields, at now: Timestamp) throws(APIError) -> Timestamp? {
    guard let text = fields["expires_at"] else { return nil }
    guard let moment = text.string.flatMap({ Timestamp(iso8601: $0) }) else {
      throw fields.invalid("expires_at", "must be a time in UTC such as '2027-01-31T12:00:00Z'")
    }
    guard moment > now else { throw fields.invalid("expires_at", "must be in the future") }
    return moment
  }
}

extension Timestamp {
  /// Reads `2027-01-31T12:00:00Z`, with or without milliseconds, as `Log.iso8601` writes it; nil for anything
  /// else.
  package init?(iso8601 text: String) {
    let bytes = Array(text.utf8)
    guard bytes.count == 20 || bytes.count == 24, bytes[10] == UInt8(ascii: "T"),
      bytes.last == UInt8(ascii: "Z"),
      let time = LocalTime(String(decoding: bytes[..<10] + [32] + bytes[11..<19], as: UTF8.self))
    else { return nil }
    var milliseconds: Int64 = 0
    if bytes.count == 24 {
      let digits = bytes[20..<23]
      guard bytes[19] == UInt8(ascii: "."), digits.allSatisfy({ (48...57).contains($0) }) else { return nil }
      milliseconds = digits.reduce(0) { $0 * 10 + Int64($1 - 48) }
    }
    self.init(milliseconds: time.count * 1000 + milliseconds)
  }
}
