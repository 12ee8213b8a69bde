import BorealisBase
import BorealisCrypto

/// A service account that the simulator has handed out.
struct FCMAccount {
  let project: String
  let key: RSAKey
  let keyID: String

  var email: String { "sender@\(project).example.com" }

  /// The file as Google issues it, with the simulator's address for tokens.
  func file(tokenURL: String) throws(CredentialFileError) -> [UInt8] {
    JSONWriter.serialize([
      "type": "service_account", "project_id": .string(project), "private_key_id": .string(keyID),
      "private_key": .string(try key.pem()), "client_email": .string(email),
      "client_id": "100000000000000000001",
      "token_uri": .string(tokenURL),
    ])
  }
}

/// Google's token service: checks assertions as strictly, and knows which tokens it has handed out.
struct FCMAccounts {
  /// Seconds for which a token of access is good.
  let lifetime: Int64
  private let tokenURL: String
  private let accounts: [FCMAccount]
  private var granted: [String: (project: String, until: Int64)] = [:]
  /// Google's own address: its libraries sign for that wherever they ask.
  private static let audience = "https://oauth2.googleapis.com/token"
  private static let scope = "https://www.googleapis.com/auth/firebase.messaging"
  /// Scopes of which any will do.
  private static let scopes = [scope, "https://www.googleapis.com/auth/cloud-platform"]

  init(_ accounts: [FCMAccount], tokenURL: String, lifetime: Int64) {
    self.accounts = accounts
    self.tokenURL = tokenURL
    self.lifetime = lifetime
  }

  /// Answers a request for a token.
  mutating func grant(_ body: [UInt8], contentType: String?, at now: Int64) -> FCMAnswer {
    guard contentType?.hasPrefix("application/x-www-form-urlencoded") == true else {
      return refuse("invalid_request", "the body is not a form")
    }
    var fields: [String: String] = [:]
    for pair in String(decoding: body, as: UTF8.self).split(separator: "&") {
      let parts = pair.split(separator: "=", maxSplits: 1).map { String($0) }
      fields[parts[0]] = parts.count > 1 ? parts[1].replacing("%3A", with: ":") : ""
    }
    guard fields["grant_type"] == "urn:ietf:params:oauth:grant-type:jwt-bearer" else {
      return refuse("unsupported_grant_type", "Invalid grant_type: \(fields["grant_type"] ?? "")")
    }
    switch project(of: fields["assertion"] ?? "", at: now) {
    case .failure(let problem): return refuse("invalid_grant", problem.text)
    case .success(let project):
      let token = "ya29." + Hex.encode(SystemRandom.bytes(24))
      granted[token] = (project, now + lifetime)
      return FCMAnswer(
        status: 200, code: nil,
        body: [
          "access_token": .string(token), "expires_in": .number(JSONNumber(lifetime)), "token_type": "Bearer",
        ])
    }
  }

  private struct Problem: Error {
    let text: String
  }

  private func project(of assertion: String, at now: Int64) -> Result<String, Problem> {
    func fail(_ text: String) -> Result<String, Problem> { .failure(Problem(text: text)) }
    let parts = assertion.split(separator: ".", omittingEmptySubsequences: false)
    let decoded = parts.compactMap { Base64.decodeURL($0.utf8) }
    guard parts.count == 3, decoded.count == 3, let header = (try? parseJSON(decoded[0]))?.object,
      let claims = (try? parseJSON(decoded[1]))?.object
    else { return fail("Invalid JWT: Failed parsing the assertion.") }
    guard header["alg"]?.string == "RS256" else { return fail("Invalid JWT: the algorithm is not RS256.") }
    guard let account = accounts.first(where: { $0.email == claims["iss"]?.string }),
      header["kid"]?.string == account.keyID
    else { return fail("Invalid grant: account not found") }
    let signed = Array("\(parts[0]).\(parts[1])".utf8)
    guard account.key.publicKey.isValid(signature: decoded[2], of: signed) else {
      return fail("Invalid JWT Signature.")
    }
    guard [tokenURL, Self.audience].contains(claims["aud"]?.string) else {
      return fail("Invalid JWT: the audience is wrong.")
    }
    let asked = (claims["scope"]?.string ?? "").split(separator: " ").map { String($0) }
    guard asked.contains(where: Self.scopes.contains) else {
      return fail("Invalid JWT: the scope is missing.")
    }
    guard let issued = claims["iat"]?.int64, let end = claims["exp"]?.int64, issued > 0,
      issued <= now + 300, end > now, issued <= end, end - issued <= 3600
    else {
      return fail(
        "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. Check your iat and exp values in the JWT claim."
      )
    }
    return .success(account.project)
  }

  private func refuse(_ error: String, _ text: String) -> FCMAnswer {
    FCMAnswer(
      status: 400, code: error, body: ["error": .string(error), "error_description": .string(text)])
  }

  /// The project that a token of access is for; nil if it is none, or over.
  func project(access token: String, at now: Int64) -> String? {
    granted[token].flatMap { $0.until > now ? $0.project : nil }
  }

  /// Makes all tokens of access invalid.
  mutating func revokeAll() { granted = [:] }
}

/// An answer of the simulator.
struct FCMAnswer {
  let status: Int
  /// The error's code, for the log.
  let code: String?
  let body: JSONValue
  /// Seconds of `Retry-After`.
  var retryAfter: Int64?

  /// An error in the form of Google's APIs.
  static func error(
    _ status: Int, _ name: String, _ message: String, code: String? = nil, field: String? = nil
  ) -> FCMAnswer {
    var details: [JSONValue] = []
    if let code {
      details.append([
        "@type": "type.googleapis.com/google.firebase.fcm.v1.FcmError", "errorCode": .string(code),
      ])
    }
    if let field {
      let violation: JSONValue = ["field": .string(field), "description": .string(message)]
      details.append([
        "@type": "type.googleapis.com/google.rpc.BadRequest", "fieldViolations": [violation],
      ])
    }
    let error: JSONValue = [
      "code": .number(JSONNumber(status)), "message": .string(message), "status": .string(name),
      "details": .array(details),
    ]
    return FCMAnswer(status: status, code: code ?? name, body: ["error": error])
  }
}
