import BorealisBase
import BorealisCrypto
import Glibc

/// The folder with what both sides need: the simulator's certificates, and credentials for providers.
struct DemoFiles {
  /// The demo key's ID and the demo team's.
  static let (keyID, teamID) = ("DEMOKEY001", "DEMOTEAM01")
  /// The demo certificate's bundle ID and the password of its file.
  static let (bundleID, password) = ("com.example.app", "demo")
  /// How long certificates are good for.
  private static let days = 3650

  let folder: String
  private let isTemporary: Bool

  var authorityCertificate: String { folder + "/ca.pem" }
  private var authorityKey: String { folder + "/ca-key.pem" }
  var certificate: String { folder + "/server.pem" }
  var certificateKey: String { folder + "/server-key.pem" }
  var providerKey: String { folder + "/AuthKey_\(Self.keyID).p8" }
  var clientCertificate: String { folder + "/demo-client.p12" }

  private var all: [String] {
    [authorityCertificate, authorityKey, certificate, certificateKey, providerKey, clientCertificate]
  }

  /// Makes the folder if it is not there; a temporary one if none is named.
  init(folder: String?) throws(ToolFailure) {
    isTemporary = folder == nil
    if let folder {
      guard mkdir(folder, 0o700) == 0 || errno == EEXIST else {
        throw .failed("cannot make \(folder): \(SystemCalls.reason(errno))")
      }
      self.folder = folder
    } else {
      let base = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
      var template = Array((base + "/apns-simulator-XXXXXX").utf8CString)
      guard mkdtemp(&template) != nil else {
        throw .failed("cannot make a folder in \(base): \(SystemCalls.reason(errno))")
      }
      self.folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
  }

  /// Makes what is missing and returns the demo key. `names` are further names and addresses of the server.
  func fill(names: [String]) throws(ToolFailure) -> ES256Key {
    let authority = try authority()
    if !exists(certificate) || !exists(certificateKey) {
      let isAddress = { (name: String) in name.contains(":") || name.allSatisfy { $0.isNumber || $0 == "." } }
      let issued = try make { () throws(CryptoError) in
        try authority.issueServer(
          commonName: "APNs simulator", dnsNames: ["localhost"] + names.filter { !isAddress($0) },
          ipAddresses: ["127.0.0.1", "::1"] + names.filter(isAddress), days: Self.days)
      }
      try write(certificateKey, issued.keyPEM, isSecret: true)
      try write(certificate, issued.certificatePEM, isSecret: false)
    }
    if !exists(clientCertificate) {
      let file = try make { () throws(CryptoError) in
        let issued = try authority.issuePushClient(
          bundleID: Self.bundleID, topics: [CertificateTopic(name: Self.bundleID, kind: "app")],
          sandbox: true,
          production: true, days: Self.days)
        return try PKCS12.make(
          certificatePEM: issued.certificatePEM, keyPEM: issued.keyPEM, password: Self.password)
      }
      try FileAccess.write(clientCertificate, file, isSecret: true)
    }
    return try key()
  }

  private func authority() throws(ToolFailure) -> CertificateAuthority {
    if let certificate = FileAccess.read(authorityCertificate), let key = FileAccess.read(authorityKey) {
      return CertificateAuthority(
        certificatePEM: String(decoding: certificate, as: UTF8.self),
        keyPEM: String(decoding: key, as: UTF8.self))
    }
    let made = try make { () throws(CryptoError) in
      try CertificateAuthority.make(commonName: "APNs simulator CA", days: Self.days)
    }
    try write(authorityKey, made.keyPEM, isSecret: true)
    try write(authorityCertificate, made.certificatePEM, isSecret: false)
    return made
  }

  private func key() throws(ToolFailure) -> ES256Key {
    do throws(CredentialFileError) {
      if let bytes = FileAccess.read(providerKey) { return try ES256Key(p8: bytes) }
    } catch {
      throw .failed("\(providerKey) cannot be used: \(error)")
    }
    let key: ES256Key
    do throws(CredentialFileError) {
      key = try ES256Key.generate()
    } catch {
      throw .failed("cannot make a key: \(error)")
    }
    try write(providerKey, key.pem, isSecret: true)
    return key
  }

  private func make<Made>(_ body: () throws(CryptoError) -> Made) throws(ToolFailure) -> Made {
    do throws(CryptoError) {
      return try body()
    } catch {
      throw .failed("cannot make the certificates in \(folder): \(error)")
    }
  }

  private func write(_ path: String, _ text: String, isSecret: Bool) throws(ToolFailure) {
    try FileAccess.write(path, Array(text.utf8), isSecret: isSecret)
  }

  /// Removes a temporary folder.
  func remove() {
    guard isTemporary else { return }
    for path in all { unlink(path) }
    rmdir(folder)
  }

  private func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }
}
