import BorealisBase
import BorealisCrypto
import Core

/// A key of a service account of Google's, with which an app's server sends over FCM.
package struct ServiceAccount: Sendable {
  /// The project that it sends for.
  package let project: String
  /// The account's address.
  let email: String
  /// The key's ID.
  let keyID: String
  private let key: RSAKey

  /// Bytes of the longest file that is read: real ones have about 2400.
  static let longestFile = 16_384
  /// What it is allowed to do.
  private static let scope = "https://www.googleapis.com/auth/firebase.messaging"
  /// Seconds for which an assertion is good: the most that Google takes.
  private static let lifetime: Int64 = 3600

  /// Reads the file as Google issues it. `tokenURL` is where tokens are asked for: files that name another
  /// address are not taken, since what is signed for that address could be used there.
  init(file bytes: [UInt8], tokenURL: String) throws(Problem) {
    guard bytes.count <= Self.longestFile else { throw .notAccount }
    guard let object = (try? parseJSON(bytes.withoutByteOrderMark))?.object,
      object["type"]?.string == "service_account"
    else {
      throw .notAccount
    }
    func text(_ name: String) throws(Problem) -> String {
      guard let text = object[name]?.string, !text.isEmpty else { throw .missing(name) }
      return text
    }
    project = try text("project_id")
    email = try text("client_email")
    keyID = try text("private_key_id")
    guard Self.isProject(project) else { throw .strange("project_id") }
    guard email.utf8.count <= 320, email.contains("@"), email.isVisibleASCII else {
      throw .strange("client_email")
    }
    guard keyID.utf8.count <= 128, keyID.isVisibleASCII else { throw .strange("private_key_id") }
    let address = try text("token_uri")
    guard address == tokenURL else { throw .otherTokenURL(String(address.prefix(200))) }
    let pem = try text("private_key")
    do throws(CredentialFileError) { key = try RSAKey(pem: Array(pem.utf8)) } catch { throw .key }
  }

  /// Its number of bytes in an address is bounded, and nothing in it has a meaning there.
  private static func isProject(_ text: String) -> Bool {
    (4...128).contains(text.utf8.count)
      && text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
          UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: ":"):
          true
        default: false
        }
      } && !text.contains("..")
  }

  /// What is sealed: the members that count.
  func secret(tokenURL: String) throws(Problem) -> [UInt8] {
    guard let pem = try? key.pem() else { throw .key }
    var writer = JSONWriter()
    writer.beginObject()
    writer.member("type", "service_account")
    writer.member("project_id", project)
    writer.member("client_email", email)
    writer.member("private_key_id", keyID)
    writer.member("private_key", pem)
    writer.member("token_uri", tokenURL)
    writer.endObject()
    return writer.bytes
  }

  /// A signed request for a token of access (RFC 7523), the body of a form; nil if it cannot be signed.
  func assertion(audience: String, at now: Timestamp) -> [UInt8]? {
    var header = JSONWriter()
    header.beginObject()
    header.member("alg", "RS256")
    header.member("typ", "JWT")
    header.member("kid", keyID)
    header.endObject()
    var claims = JSONWriter()
    claims.beginObject()
    claims.member("iss", email)
    claims.member("scope", Self.scope)
    claims.member("aud", audience)
    claims.member("iat", now.seconds)
    claims.member("exp", now.seconds + Self.lifetime)
    claims.endObject()
    let signed = Base64.encodeURL(header.bytes) + "." + Base64.encodeURL(claims.bytes)
    guard let signature = try? key.sign(Array(signed.utf8)) else { return nil }
    let form = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion="
    return Array((form + signed + "." + Base64.encodeURL(signature)).utf8)
  }

  /// What is wrong with a file.
  enum Problem: Error, Equatable {
    /// It is something else.
    case notAccount
    /// A member is missing.
    case missing(String)
    /// A member has a form that Google's do not have.
    case strange(String)
    /// It wants tokens from another address.
    case otherTokenURL(String)
    /// Its private key cannot be used.
    case key

    /// For people.
    var phrase: Phrase {
      switch self {
      case .notAccount:
        Phrase(
          "This is not the key of a service account. Create one in the Firebase console: Project settings, Service accounts, Generate new private key.",
          "这不是服务账号密钥。请在 Firebase 控制台“项目设置 > 服务账号”中生成新的私钥。")
      case .missing(let name): Phrase("The file has no {}.", "文件缺少 {}。").with(name)
      case .strange(let name): Phrase("The {} in the file is unusual.", "文件中的 {} 异常。").with(name)
      case .otherTokenURL(let address):
        Phrase(
          "The file's token_uri is {}; this server asks for tokens elsewhere.",
          "文件中的 token_uri 为 {}，与服务器使用的地址不符。"
        ).with(address)
      case .key:
        Phrase(
          "The private key in the file cannot be used: it must be an RSA key with 2048 to 4096 bits.",
          "文件中的私钥无法使用：须为 2048 至 4096 位的 RSA 私钥。")
      }
    }
  }
}

extension String {
  /// Whether it may stand in a header.
  var isVisibleASCII: Bool { utf8.allSatisfy { (0x21...0x7E).contains($0) } }
}
