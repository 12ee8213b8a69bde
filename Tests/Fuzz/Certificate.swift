import BorealisBase
import BorealisCrypto

/// Certificates: PEM text as it is, anything else as the DER form inside an envelope, so that libFuzzer's
/// changes reach what lies under Base64.
@Sendable func fuzzCertificate(_ bytes: [UInt8]) {
  let text = String(decoding: bytes, as: UTF8.self)
  let pem =
    text.utf8.starts(with: "-----".utf8)
    ? text : "-----BEGIN CERTIFICATE-----\n\(lines(Base64.encode(bytes)))-----END CERTIFICATE-----\n"
  do throws(CryptoError) {
    let info = try CertificateInfo(pem: pem)
    check(Hex.decode(info.fingerprint)?.count == 32, "a fingerprint is a digest")
    check(
      (try? CertificateInfo(pem: "text before\n" + pem)) == info, "text before the envelope is passed over")
  } catch {
    check(!error.description.isEmpty, "an error says something")
  }
}

/// PEM's lines of 64 characters (RFC 7468 section 2).
private func lines(_ base64: String) -> String {
  var text = ""
  var rest = base64.utf8[...]
  while !rest.isEmpty {
    text += String(decoding: rest.prefix(64), as: UTF8.self) + "\n"
    rest = rest.dropFirst(64)
  }
  return text
}
