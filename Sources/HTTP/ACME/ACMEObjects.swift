import BorealisBase

/// The challenges that are answered, by their names in ACME.
package enum ACMEChallengeType: String, Sendable, CaseIterable {
  /// A file over HTTP, on port 80 (RFC 8555 section 8.3).
  case http = "http-01"
  /// A certificate in a TLS handshake, on port 443 (RFC 8737).
  case tlsALPN = "tls-alpn-01"
}

/// Why there is no certificate.
package struct ACMEFailure: Error, Equatable, Sendable {
  /// The most Unicode scalars of a reason.
  private static let longestReason = 500

  /// One line for the operator, of at most 500 Unicode scalars.
  package let reason: String
  /// Seconds for which the authority wants to be left alone; nil if it does not say.
  package let retryAfter: Int64?
  /// Whether the authority has refused because of a limit, so that asking earlier is of no use.
  package let isLimit: Bool

  /// The authority's own words may have any characters.
  package init(_ reason: String, retryAfter: Int64? = nil, isLimit: Bool = false) {
    var line = String.UnicodeScalarView()
    for scalar in reason.unicodeScalars.prefix(Self.longestReason) {
      line.append(scalar.properties.isWhitespace || !String(scalar).isPlainLine ? " " : scalar)
    }
    self.reason = String(line)
    (self.retryAfter, self.isLimit) = (retryAfter, isLimit)
  }
}

/// Where requests go (RFC 8555 section 7.1.1).
struct ACMEDirectory: Equatable, Sendable {
  let newNonce: String
  let newAccount: String
  let newOrder: String

  /// Nil for anything else.
  init?(_ value: JSONValue) {
    guard let newNonce = value.url("newNonce"), let newAccount = value.url("newAccount"),
      let newOrder = value.url("newOrder")
    else { return nil }
    (self.newNonce, self.newAccount, self.newOrder) = (newNonce, newAccount, newOrder)
  }
}

/// An order, by what it waits for (RFC 8555 section 7.1.3).
enum ACMEOrder: Equatable, Sendable {
  case pending(authorizations: [String])
  case ready(finalize: String)
  case processing
  case valid(certificate: String)
  case invalid(reason: String)

  /// An order has one for each name.
  static let mostAuthorizations = 100

  /// Nil for anything else.
  init?(_ value: JSONValue) {
    switch value["status"]?.string {
    case "pending":
      let listed = value["authorizations"]?.array ?? []
      let urls = listed.compactMap(\.httpsURL)
      guard (1...Self.mostAuthorizations).contains(urls.count), urls.count == listed.count else { return nil }
      self = .pending(authorizations: urls)
    case "ready":
      guard let url = value.url("finalize") else { return nil }
      self = .ready(finalize: url)
    case "processing": self = .processing
    case "valid":
      guard let url = value.url("certificate") else { return nil }
      self = .valid(certificate: url)
    case "invalid": self = .invalid(reason: value["error"]?["detail"]?.string ?? "the order is invalid")
    default: return nil
    }
  }
}

/// The authorization for a name (RFC 8555 section 7.1.4), with the challenge of one type.
struct ACMEAuthorization: Equatable, Sendable {
  struct Challenge: Equatable, Sendable {
    let url: String
    let token: String
    /// Whether the authority waits to be told that the answer can be had.
    let isPending: Bool
  }

  /// Its DNS name, in small letters.
  let name: String
  let status: String
  /// Nil if the authority does not offer it.
  let challenge: Challenge?
  /// What a challenge has failed with; nil if none says.
  let problem: String?

  /// Nil for anything else.
  init?(_ value: JSONValue, type: ACMEChallengeType) {
    guard let name = value["identifier"]?["value"]?.string, let status = value["status"]?.string else {
      return nil
    }
    (self.name, self.status) = (name.lowercased(), status)
    let challenges = value["challenges"]?.array ?? []
    problem = challenges.lazy.compactMap { $0["error"]?["detail"]?.string }.first
    guard let offered = challenges.first(where: { $0["type"]?.string == type.rawValue }) else {
      challenge = nil
      return
    }
    guard let url = offered.url("url"), let token = offered["token"]?.string, Self.isToken(token) else {
      return nil
    }
    challenge = Challenge(url: url, token: token, isPending: offered["status"]?.string == "pending")
  }

  private static func isToken(_ text: String) -> Bool {
    (1...256).contains(text.utf8.count)
      && text.utf8.allSatisfy { byte in
        (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
          || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
      }
  }
}

/// An error of the authority (RFC 8555 section 6.7).
struct ACMEProblem: Equatable, Sendable {
  /// The type without its prefix, such as `badNonce`; empty if it is of another kind.
  let type: String
  let text: String

  init(_ answer: HTTPAnswer) {
    let value = try? parseJSON(answer.body)
    let prefix = "urn:ietf:params:acme:error:"
    let full = value?["type"]?.string ?? ""
    type = full.hasPrefix(prefix) ? String(full.dropFirst(prefix.count)) : ""
    let detail = value?["detail"]?.string ?? "answered \(answer.status)"
    text = type.isEmpty ? detail : "\(type): \(detail)"
  }
}

extension JSONValue {
  fileprivate func url(_ name: String) -> String? { self[name]?.httpsURL }

  fileprivate var httpsURL: String? { string.flatMap { $0.hasPrefix("https://") ? $0 : nil } }
}
