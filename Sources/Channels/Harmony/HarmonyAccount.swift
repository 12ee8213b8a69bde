import BorealisBase
import BorealisCrypto
import Core

/// A key of a service account of Huawei's, with which an app's server sends to devices with HarmonyOS.
package struct HarmonyAccount: Sendable {
  /// The project that it sends for.
  package let project: String
  /// The app's client ID, which recalls name; empty for none.
  let client: String
  /// What Push Kit signs receipts with; nil for none.
  let receipts: ReceiptKey?
  /// The account, and the key's ID.
  let account, keyID: String
  private let key: RSAKey

  /// Bytes of the longest file that is read.
  static let longestFile = 16_384
  /// Seconds for which a token is good: Huawei takes at most a day.
  static let lifetime: Int64 = 3600

  /// Reads the file as Huawei issues it, with what was typed beside it.
  init(file bytes: [UInt8], client: String, receipts: ReceiptKey? = nil) throws(Problem) {
    guard bytes.count <= Self.longestFile, let object = (try? parseJSON(bytes.withoutByteOrderMark))?.object
    else {
      throw .notAccount
    }
    func text(_ name: String, _ isGood: (String) -> Bool) throws(Problem) -> String {
      guard let text = object[name]?.string, !text.isEmpty else { throw .missing(name) }
      guard text.utf8.count <= 128, isGood(text) else { throw .strange(name) }
      return text
    }
    guard object["sub_account"] != nil else { throw .notAccount }
    project = try text("project_id", Self.isNumber)
    keyID = try text("key_id", \.isVisibleASCII)
    account = try text("sub_account", \.isVisibleASCII)
    guard client.utf8.count <= 128, Self.isNumber(client) else { throw .strange("client_id") }
    self.client = client
    self.receipts = receipts
    guard let pem = object["private_key"]?.string, !pem.isEmpty else { throw .missing("private_key") }
    do throws(CredentialFileError) { key = try RSAKey(pem: Array(pem.utf8)) } catch { throw .key }
  }

  /// It stands in addresses.
  private static func isNumber(_ text: String) -> Bool { text.utf8.allSatisfy { (48...57).contains($0) } }

  /// What is sealed: the members that count.
  func secret() throws(Problem) -> [UInt8] {
    guard let pem = try? key.pem() else { throw .key }
    var writer = JSONWriter()
    writer.beginObject()
    writer.member("project_id", project)
    writer.member("client_id", client)
    writer.member("key_id", keyID)
    writer.member("sub_account", account)
    writer.member("private_key", pem)
    if let receipts {
      writer.member("receipt_user", receipts.user)
      writer.member("receipt_secret", receipts.secret)
    }
    writer.endObject()
    return writer.bytes
  }

  /// Opens what was sealed.
  init(secret: [UInt8]) throws(Problem) {
    guard let fields = VendorFields(secret) else { throw .notAccount }
    try self.init(file: secret, client: fields["client_id"], receipts: ReceiptKey(fields))
  }

  /// A signed token (RFC 7519), which Push Kit takes as it is; nil if it cannot be signed.
  func token(audience: String, at now: Timestamp) -> String? {
    var header = JSONWriter()
    header.beginObject()
    header.member("kid", keyID)
    header.member("typ", "JWT")
    header.member("alg", "PS256")
    header.endObject()
    var claims = JSONWriter()
    claims.beginObject()
    claims.member("iss", account)
    claims.member("aud", audience)
    claims.member("iat", now.seconds)
    claims.member("exp", now.seconds + Self.lifetime)
    claims.endObject()
    let signed = Base64.encodeURL(header.bytes) + "." + Base64.encodeURL(claims.bytes)
    guard let signature = try? key.sign(Array(signed.utf8), .ps256) else { return nil }
    return signed + "." + Base64.encodeURL(signature)
  }

  /// What is wrong with a file.
  enum Problem: Error, Equatable {
    /// It is something else.
    case notAccount
    /// A member is missing.
    case missing(String)
    /// A member has a form that Huawei's do not have.
    case strange(String)
    /// Its private key cannot be used.
    case key

    /// For people.
    var phrase: Phrase {
      switch self {
      case .notAccount:
        Phrase(
          "This is not the key of a service account. Create one in HUAWEI Developers: API Console, Credentials, Service Account key.",
          "这不是服务账号密钥。请在华为开发者联盟“API Console > 凭证 > 服务账号密钥”中创建。")
      case .missing(let name): Phrase("The file has no {}.", "文件缺少 {}。").with(name)
      case .strange("client_id"): Phrase("A client ID has digits only.", "Client ID 只含数字。")
      case .strange(let name): Phrase("The {} in the file is unusual.", "文件中的 {} 异常。").with(name)
      case .key:
        Phrase(
          "The private key in the file cannot be used: it must be an RSA key with 2048 to 4096 bits.",
          "文件中的私钥无法使用：须为 2048 至 4096 位的 RSA 私钥。")
      }
    }

    /// The field of the form.
    var field: String { self == .strange("client_id") ? "client_id" : "file" }
  }
}
