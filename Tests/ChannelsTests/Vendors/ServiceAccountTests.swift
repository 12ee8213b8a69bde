import BorealisBase
import BorealisCrypto
import Core
import Testing

@testable import Channels

/// The key files of Google's service accounts.
@Suite struct ServiceAccountTests {
  static let tokens = "https://oauth2.googleapis.com/token"

  /// A file as Google issues it, with other members.
  static func file(_ key: RSAKey, _ changes: [String: JSONValue?] = [:]) throws -> [UInt8] {
    var object = JSONObject()
    for (name, value) in [
      ("type", "service_account"), ("project_id", "demo-project"), ("private_key_id", "0123456789abcdef"),
      ("private_key", try key.pem()), ("client_email", "sender@demo-project.iam.gserviceaccount.com"),
      ("client_id", "1"), ("auth_uri", "https://accounts.google.com/o/oauth2/auth"), ("token_uri", tokens),
    ] where changes[name] == nil {
      object.set(name, .string(value))
    }
    for (name, value) in changes { if let value { object.set(name, value) } }
    return JSONWriter.serialize(.object(object))
  }

  @Test func assertionsAreSignedForGoogle() throws {
    let key = try RSAKey.generate()
    // Some editors write a byte order mark.
    let account = try ServiceAccount(file: Array("\u{FEFF}".utf8) + Self.file(key), tokenURL: Self.tokens)
    let now = Timestamp(milliseconds: 1_800_000_000_999)
    let body = String(
      decoding: try #require(account.assertion(audience: Self.tokens, at: now)), as: UTF8.self)
    let prefix = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion="
    try #require(body.hasPrefix(prefix))
    let parts = body.dropFirst(prefix.count).split(separator: ".").map(String.init)
    try #require(parts.count == 3)
    let decoded = try parts.map { try #require(Base64.decodeURL($0.utf8)) }
    #expect(
      String(decoding: decoded[0], as: UTF8.self) == #"{"alg":"RS256","typ":"JWT","kid":"0123456789abcdef"}"#)
    #expect(
      String(decoding: decoded[1], as: UTF8.self)
        == #"{"iss":"sender@demo-project.iam.gserviceaccount.com","scope":"https://www.googleapis.com/auth/firebase.messaging","#
        + #""aud":"https://oauth2.googleapis.com/token","iat":1800000000,"exp":1800003600}"#)
    #expect(key.publicKey.isValid(signature: decoded[2], of: Array("\(parts[0]).\(parts[1])".utf8)))
  }

  /// The server goes to no address that a tenant's file names.
  @Test(arguments: [
    "http://169.254.169.254/token", "https://oauth2.googleapis.com.example.com/token",
    "https://oauth2.googleapis.com/token/", "https://accounts.google.com/o/oauth2/token", "",
  ])
  func otherTokenAddressesAreRefused(url: String) throws {
    let file = try Self.file(try RSAKey.generate(), ["token_uri": .string(url)])
    let problem: ServiceAccount.Problem = url.isEmpty ? .missing("token_uri") : .otherTokenURL(url)
    #expect(throws: problem) { try ServiceAccount(file: file, tokenURL: Self.tokens) }
  }

  @Test func filesThatAreNone() throws {
    let key = try RSAKey.generate()
    func expect(_ problem: ServiceAccount.Problem, _ file: [UInt8]) {
      #expect(throws: problem) { try ServiceAccount(file: file, tokenURL: Self.tokens) }
    }
    for text in ["", "{}", "[]", #"{"type":"authorized_user"}"#, "-----BEGIN PRIVATE KEY-----"] {
      expect(.notAccount, Array(text.utf8))
    }
    expect(.notAccount, Array(repeating: 32, count: 20_000))
    for name in ["project_id", "client_email", "private_key_id", "private_key", "token_uri"] {
      expect(.missing(name), try Self.file(key, [name: JSONValue?.none]))
      expect(.missing(name), try Self.file(key, [name: JSONValue.number(JSONNumber(1))]))
    }
    for project in ["../x/y", "a", "a/b/c", "demo project", "Demo-Project", "demo\r\nproject", "a..b"] {
      expect(.strange("project_id"), try Self.file(key, ["project_id": JSONValue.string(project)]))
    }
    expect(.strange("client_email"), try Self.file(key, ["client_email": "nobody"]))
    expect(.strange("private_key_id"), try Self.file(key, ["private_key_id": "a b"]))
    expect(
      .key,
      try Self.file(key, ["private_key": "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"]))
    expect(.key, try Self.file(key, ["private_key": .string(try ES256Key.generate().pem)]))
  }

  /// What is stored is enough to open it again, and no more.
  @Test func whatIsSealed() throws {
    let file = try Self.file(try RSAKey.generate())
    let upload = try FCM().read(CredentialInput("service-account", fields: ["file": file]), replacing: nil)
    #expect(upload.subject == "demo-project" && upload.name == "0123456789abcdef")
    #expect(FCM().credential(upload.secret)?.project == "demo-project")
    // A server that asks for tokens elsewhere cannot use it.
    #expect(FCM(.simulator("http://127.0.0.1:1")).credential(upload.secret) == nil)
    #expect(throws: CredentialProblem.self) {
      try FCM().read(CredentialInput("service-account", fields: [:]), replacing: nil)
    }
  }
}
