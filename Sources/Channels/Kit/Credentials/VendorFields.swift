import BorealisBase
import Core
import HTTP

/// What a form asked for, as it is sealed: texts by the names of fields.
package struct VendorFields: Sendable, Equatable {
  private let values: [String: String]

  /// Reads some fields of a form: each is visible ASCII of bounded length, and those in `optional` may be
  /// empty.
  init(_ input: CredentialInput, _ names: [String], optional: Set<String> = []) throws(CredentialProblem) {
    var values: [String: String] = [:]
    for name in names {
      guard let text = input.text(name) else {
        if optional.contains(name) { continue }
        throw CredentialProblem(Phrase("Fill in this field.", "请填写此项。"), at: name)
      }
      // They stand in addresses and headers.
      let isPlain = text.utf8.allSatisfy { byte in
        switch byte {
        case 48...57, 65...90, 97...122, UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."),
          UInt8(ascii: "+"), UInt8(ascii: "="), UInt8(ascii: "/"):
          true
        default: false
        }
      }
      let isID = name.hasSuffix("_id")
      guard isPlain, text.utf8.count <= 256, !isID || !text.contains(where: { "/.+=".contains($0) }) else {
        throw CredentialProblem(
          Phrase("This value contains invalid characters.", "内容含有不应出现的字符。"), at: name)
      }
      values[name] = text
    }
    self.values = values
  }

  /// Opens what was sealed.
  init?(_ secret: [UInt8]) {
    guard let object = (try? parseJSON(secret))?.object else { return nil }
    var values: [String: String] = [:]
    for member in object.members { values[member.key] = member.value.string }
    self.values = values
  }

  /// What is sealed.
  var secret: [UInt8] {
    var object = JSONObject()
    for (name, value) in values.sorted(by: { $0.key < $1.key }) { object.set(name, .string(value)) }
    return JSONWriter.serialize(.object(object))
  }

  /// Without what a service signs its receipts with.
  var withoutReceiptKey: VendorFields {
    VendorFields(values: values.filter { !$0.key.hasPrefix("receipt_") })
  }

  private init(values: [String: String]) { self.values = values }

  /// Refuses one of `receipt_user` and `receipt_secret` without the other: the service signs with both.
  func checkReceiptKey() throws(CredentialProblem) {
    for (name, other) in [("receipt_user", "receipt_secret"), ("receipt_secret", "receipt_user")]
    where self[name].isEmpty && !self[other].isEmpty {
      throw CredentialProblem(
        Phrase("Fill in both the user name and the secret of receipts, or neither.", "回执用户名和密钥须同时填写，或都不填写。"),
        at: name)
    }
  }

  /// The value of a field; empty if there is none.
  subscript(name: String) -> String { values[name] ?? "" }

  /// The fields as the body of a form.
  static func form(_ pairs: [(String, String)]) -> [UInt8] {
    Array(pairs.map { $0.0 + "=" + escaped($0.1) }.joined(separator: "&").utf8)
  }

  /// A text as it stands in a form (RFC 3986 section 2.1).
  static func escaped(_ value: String) -> String {
    var text = ""
    for byte in value.utf8 {
      switch byte {
      case 48...57, 65...90, 97...122, UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
        text.unicodeScalars.append(Unicode.Scalar(byte))
      default: text += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
      }
    }
    return text
  }

  /// Reads a token of access (RFC 6749) of a service that `name` says.
  static func readToken(_ answer: HTTPAnswer, of name: String) -> AccessAnswer {
    let body = (try? parseJSON(answer.body))?.object
    switch answer.status {
    case 200:
      guard let token = body?["access_token"]?.string, (1...4096).contains(token.utf8.count),
        token.isVisibleASCII, let seconds = body?["expires_in"]?.int64, (1...86_400).contains(seconds)
      else { return .later("\(name)'s answer has no token of access", seconds: nil) }
      return .token(token, seconds: seconds)
    case 400, 401, 403:
      let texts = ["error", "error_description"].compactMap { body?[$0] }.map { value in
        VendorText.line(value.string ?? value.int64.map { String($0) } ?? "")
      }.filter { !$0.isEmpty }
      // Else somebody else answers, such as a proxy.
      guard !texts.isEmpty else {
        return .later("\(name)'s token service answered \(answer.status)", seconds: nil)
      }
      let text = texts.joined(separator: ": ")
      return .refused("\(name) refused the credential: \(answer.status) \(text)")
    default:
      return .later("\(name)'s token service answered \(answer.status)", seconds: answer.retryAfter)
    }
  }
}
