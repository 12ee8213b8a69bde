/// Why a file with a key, a certificate or both cannot be used. The texts say what the file is and what to
/// do.
package enum CredentialFileError: Error, Equatable, CustomStringConvertible {
  /// Larger than `limit` bytes.
  case tooLarge(limit: Int)
  /// Text without any PEM block.
  case notPEM
  /// Not text at all; perhaps a .p12 file.
  case binary
  /// A PEM block of another kind than needed; with its label.
  case otherContent(String)
  /// A private key that asks for a password.
  case encryptedKey
  /// A public key: the private one is needed.
  case publicKey
  /// A certificate where a key is needed.
  case certificateInsteadOfKey
  /// A request for a certificate.
  case certificateRequest
  /// A key in OpenSSH's own format.
  case sshKey
  /// An elliptic key that is not in PKCS #8 form.
  case notPKCS8
  /// A key for another algorithm; with its name, such as RSA.
  case otherAlgorithm(String)
  /// An elliptic key on another curve; with its name.
  case otherCurve(String)
  /// The key of a certificate is of a kind or size that no push certificate has; with what it is.
  case unusualKey(String)
  /// There are more certificates than vouch for one another.
  case tooManyCertificates(limit: Int)
  /// The right kind of block, but its content cannot be read.
  case damagedKey
  /// There is no certificate, or it cannot be read.
  case noCertificate
  /// There is no private key beside the certificate.
  case noKey
  /// The private key belongs to another certificate.
  case keyDoesNotMatch
  /// The certificate's list of topics cannot be read.
  case unreadableTopics
  /// Not a PKCS #12 file.
  case notPKCS12
  /// The PKCS #12 file has a password and none was given.
  case passwordNeeded
  /// The PKCS #12 file has another password.
  case wrongPassword
  /// The password fits; the file uses old ciphers, for which OpenSSL's legacy provider is not installed.
  case legacyProviderMissing
  /// The password fits, but the content cannot be read; with OpenSSL's reason.
  case unreadablePKCS12(String)
  /// The file needs so many rounds of key derivation that reading it would take minutes, or a derivation of
  /// unknown cost, such as scrypt.
  case tooCostly
  /// OpenSSL refused; the text is its own.
  case library(String)

  /// One line for people, without a full stop.
  package var description: String {
    switch self {
    case .tooLarge(let limit): "it has more than \(limit) bytes, which is too large for such a file"
    case .notPEM: "it contains no PEM block (\"-----BEGIN ...\")"
    case .binary: "it is a binary file, perhaps a .p12; upload a PEM file"
    case .otherContent(let label): "it holds \"\(label)\", which cannot be used here"
    case .encryptedKey: "its private key is encrypted; upload the .p8 file as Apple issued it"
    case .publicKey: "it contains a public key; upload the private key"
    case .certificateInsteadOfKey: "it contains a certificate; upload a private key"
    case .certificateRequest: "it contains a certificate request; upload the certificate"
    case .sshKey: "it contains an SSH key; upload the key from Apple's developer site"
    case .notPKCS8:
      "its key is not in PKCS #8 form; \"openssl pkcs8 -topk8 -nocrypt -in FILE\" converts it"
    case .otherAlgorithm(let name): "its key is an \(name) key; Apple issues keys on the curve P-256"
    case .otherCurve(let name): "its key is on the curve \(name); Apple's are on P-256 (prime256v1)"
    case .unusualKey(let name):
      "its key (\(name)) is none for pushes: they have RSA with 2048 to 4096 bits, or the curve P-256 or P-384"
    case .tooManyCertificates(let limit): "it contains more than \(limit) certificates"
    case .damagedKey: "its private key is damaged"
    case .noCertificate: "it contains no readable certificate"
    case .noKey: "it contains no private key; export the certificate together with its key"
    case .keyDoesNotMatch: "the private key belongs to another certificate"
    case .unreadableTopics: "the certificate's list of topics is damaged"
    case .notPKCS12: "it is not a PKCS #12 file"
    case .passwordNeeded: "it is protected by a password: enter it"
    case .wrongPassword: "the password is wrong"
    case .legacyProviderMissing:
      "the password is right, but the file uses RC2, for which OpenSSL's legacy provider (legacy.so) is not installed"
    case .unreadablePKCS12(let reason): "the password is right, but the content cannot be read: \(reason)"
    case .tooCostly:
      "it uses too many rounds of key derivation (2048 are usual), or not PBKDF2"
    case .library(let reason): "OpenSSL: \(reason)"
    }
  }

  /// What OpenSSL said last on this thread.
  static func fromQueue() -> CredentialFileError { .library(CryptoError.reasonFromQueue()) }
}
