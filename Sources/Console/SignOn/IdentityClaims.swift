import BorealisBase
import Storage

/// What the identity provider says about a person.
struct IdentityClaims: Sendable {
  private let options: SignOnOptions
  private let claims: JSONObject

  /// Of an ID token that was checked.
  init(_ claims: JSONObject, _ options: SignOnOptions) {
    (self.claims, self.options) = (claims, options)
  }

  /// Whether nothing is missing that the provider may say elsewhere.
  var isComplete: Bool {
    claims["email"] != nil && claims["email_verified"] != nil
      && (options.roleClaim.map { value(of: $0) != nil } ?? true)
  }

  /// With what the answer of UserInfo adds (OpenID Connect Core 1.0, section 5.3).
  func completed(by answer: JSONValue) throws(SignOnFailure) -> IdentityClaims {
    guard var more = answer.object, let other = more["sub"]?.string, other.hasSameBytes(as: subject) else {
      throw .provider("its UserInfo is about another sub")
    }
    var all = claims
    // Whether an address is verified belongs to the address.
    if let own = all["email"] {
      let isSame = own.string.map { more["email"]?.string?.hasSameBytes(as: $0) == true } ?? false
      if !isSame { _ = more.remove("email_verified") }
    } else {
      _ = all.remove("email_verified")
    }
    for member in more.members where all[member.key] == nil { all.set(member.key, member.value) }
    return IdentityClaims(all, options)
  }

  var subject: String { claims["sub"]?.string ?? "" }

  /// The email address, if it is one and the provider has verified it.
  var email: String? {
    guard let email = claims["email"]?.string, EmailAddress.isAcceptable(email) else { return nil }
    switch claims["email_verified"] {
    // Some providers send a text.
    case .bool(true), .string("true"): return email
    case nil, .null: return options.trustsEmail ? email : nil
    default: return nil
    }
  }

  /// What to call the person.
  var name: String {
    let names = ["name", "preferred_username"].map { claims[$0]?.string?.withoutOuterWhitespace }
    let local = claims["email"]?.string.map { String($0.prefix { $0 != "@" }) }
    return (names + [local]).compactMap { $0 }.first(where: PersonName.isFine) ?? "-"
  }

  /// The roles that the claim gives; nil if no claim gives roles.
  var roles: [AppKey?: Role]? {
    guard let name = options.roleClaim else { return nil }
    let value = value(of: name)
    let values = value?.string.map { [$0] } ?? value?.array?.compactMap(\.string) ?? []
    return RoleRule.roles(of: values, by: options.roles)
  }

  /// A claim by its name; a name with dots may also be the way to a member of a claim, such as
  /// `realm_access.roles`.
  private func value(of name: String) -> JSONValue? {
    if let value = claims[name] { return value }
    var value: JSONValue? = .object(claims)
    for part in name.split(separator: ".", omittingEmptySubsequences: false) { value = value?[String(part)] }
    return value
  }
}
