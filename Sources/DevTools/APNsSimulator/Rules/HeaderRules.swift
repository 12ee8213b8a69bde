/// The syntax of request fields.
enum HeaderRules {
  /// Refuses malformed fields and returns the priority.
  static func check(_ request: SimulatedRequest) throws(Refusal) -> Int {
    if let id = request[.id], !NotificationID.isValid(id) { throw Refusal(.badMessageID) }
    if let coding = request[.contentEncoding], !coding.elementsEqual("identity".utf8) {
      throw Refusal(.badRequestPayload)
    }
    let priority = try priority(request[.priority])
    if let expiration = request[.expiration], !isSeconds(expiration) { throw Refusal(.badExpirationDate) }
    if let id = request[.collapseID], id.count > 64 { throw Refusal(.badCollapseID) }
    return priority
  }

  /// 10 is what an absent field means.
  private static func priority(_ value: HeaderValue?) throws(Refusal) -> Int {
    guard let value else { return 10 }
    if value.elementsEqual("10".utf8) { return 10 }
    if value.elementsEqual("5".utf8) { return 5 }
    if value.elementsEqual("1".utf8) { return 1 }
    throw Refusal(.badPriority)
  }

  /// A decimal number of seconds that a 64-bit number holds.
  private static func isSeconds(_ value: HeaderValue) -> Bool {
    (1...18).contains(value.count) && value.allSatisfy { (48...57).contains($0) }
  }

  /// The characters of bundle IDs: letters, digits, hyphens and full stops, up to 255 of them.
  static func isTopic(_ value: HeaderValue) -> Bool {
    (1...255).contains(value.count)
      && value.allSatisfy { byte in
        switch byte {
        case 45, 46, 48...57, 65...90, 97...122: true
        default: false
        }
      }
  }
}
