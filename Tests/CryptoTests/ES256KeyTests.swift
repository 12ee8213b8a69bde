import BorealisCrypto
import PushTesting
import Testing

@Suite struct ES256KeyTests {
  let tool = OpenSSLTool()

  /// OpenSSL's command verifies what we sign; each signature is another one.
  @Test func signaturesAreGood() throws {
    try tool.run("genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out key.p8")
    try tool.run("pkey -in key.p8 -pubout -out public.pem")
    let key = try ES256Key(p8: tool.bytes("key.p8"))
    #expect(try key.publicKeyPEM() == tool.text("public.pem"))
    let message = Array("header.claims".utf8)
    try tool.write(message, to: "message")
    var seen: Set<[UInt8]> = []
    for index in 0..<20 {
      let signature = try key.sign(message)
      #expect(signature.count == 64)
      #expect(seen.insert(signature).inserted)
      guard index < 3 else { continue }
      try tool.write(der(signature), to: "signature")
      #expect(
        try tool.run("dgst -sha256 -verify public.pem -signature signature message") == "Verified OK\n")
      try tool.write(message + [0], to: "other")
      #expect(throws: OpenSSLTool.Failure.self) {
        try tool.run("dgst -sha256 -verify public.pem -signature signature other")
      }
    }
  }

  /// The forms in which the same key may arrive, and that its own text reads as the same key.
  @Test func sameKeyInEveryForm() throws {
    try tool.run("genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out key.p8")
    let text = tool.text("key.p8")
    let key = try ES256Key(p8: Array(text.utf8))
    let forms = [
      text.split(separator: "\n").joined(separator: "\r\n") + "\r\n", "\u{feff}" + text,
      "Key of our app\n\n" + text,
      String(text.dropLast()), key.pem,
    ]
    for form in forms { #expect(try ES256Key(p8: Array(form.utf8)).fingerprint == key.fingerprint) }
    #expect(key.fingerprint.count == 32)
    #expect(try ES256Key.generate().fingerprint != key.fingerprint)
  }

  /// Each wrong file is named for what it is.
  @Test(arguments: [
    (
      "genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-384 -out file",
      CredentialFileError.otherCurve("secp384r1")
    ),
    ("genpkey -algorithm EC -pkeyopt ec_paramgen_curve:secp256k1 -out file", .otherCurve("secp256k1")),
    ("genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:1024 -out file", .otherAlgorithm("RSA")),
    ("genpkey -algorithm ED25519 -out file", .otherAlgorithm("ED25519")),
    (
      "genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -aes256 -pass pass:x -out file",
      .encryptedKey
    ),
    ("ecparam -name prime256v1 -genkey -out file", .notPKCS8),
    ("ecparam -name prime256v1 -out file", .otherContent("EC PARAMETERS")),
    (
      "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout key -subj /CN=a -out file",
      .certificateInsteadOfKey
    ),
    (
      "req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout key -subj /CN=a -out file",
      .certificateRequest
    ),
    ("genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -outform DER -out file", .binary),
  ])
  func refusesFilesOfOpenSSL(command: String, error: CredentialFileError) throws {
    try tool.run(command)
    let bytes = tool.bytes("file")
    #expect(throws: error) { try ES256Key(p8: bytes) }
  }

  @Test(arguments: [
    ("", CredentialFileError.notPEM),
    ("hello", .notPEM),
    ("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI a@b\n", .sshKey),
    ("-----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl\n-----END OPENSSH PRIVATE KEY-----\n", .sshKey),
    ("-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n", .publicKey),
    ("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", .damagedKey),
    ("-----BEGIN PRIVATE KEY-----\n", .damagedKey),
    ("-----BEGIN PKCS7-----\nAAAA\n-----END PKCS7-----\n", .otherContent("PKCS7")),
    (
      "-----BEGIN EC PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nAAAA\n-----END EC PRIVATE KEY-----\n",
      .encryptedKey
    ),
    ("a\0b", .binary),
  ])
  func refusesTexts(text: String, error: CredentialFileError) {
    #expect(throws: error) { try ES256Key(p8: Array(text.utf8)) }
  }

  @Test func refusesLargeFiles() {
    let bytes = [UInt8](repeating: 97, count: 256 * 1024 + 1)
    #expect(throws: CredentialFileError.tooLarge(limit: 256 * 1024)) { try ES256Key(p8: bytes) }
  }

  /// A signature as OpenSSL's command wants it: a SEQUENCE of two INTEGERs.
  private func der(_ signature: [UInt8]) -> [UInt8] {
    let numbers = [signature[..<32], signature[32...]].flatMap { half -> [UInt8] in
      let digits = Array(half.drop { $0 == 0 })
      let value = (digits.first ?? 0x80) >= 0x80 ? [0] + digits : digits
      return [0x02, UInt8(value.count)] + value
    }
    return [0x30, UInt8(numbers.count)] + numbers
  }
}
