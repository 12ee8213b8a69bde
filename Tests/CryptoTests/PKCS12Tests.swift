import BorealisBase
import COpenSSL
import PushTesting
import Testing

@testable import BorealisCrypto

@Suite struct PKCS12Tests {
  let tool = OpenSSLTool()

  /// What Keychain wrote for years (RC2 and 3DES), 3DES alone, today's ciphers, and no encryption at all.
  @Test(arguments: [
    "-legacy", "-legacy -descert", "", "-keypbe NONE -certpbe NONE", "-legacy -iter 1 -nomaciter",
  ])
  func readsOldAndNewFiles(options: String) throws {
    try tool.makeCertificate(key: "RSA -pkeyopt rsa_keygen_bits:2048")
    try tool.run(
      "pkcs12 -export \(options) -inkey key.pem -in certificate.pem -passout pass:geheim -out file.p12")
    let pair = try PKCS12.parse(tool.bytes("file.p12"), password: "geheim")
    #expect(pair.certificatesPEM == tool.text("certificate.pem"))
    #expect(pair.keyPEM == tool.text("key.pem"))
    #expect(pair.facts.userID == "com.example.app")
    let bytes = tool.bytes("file.p12")
    for wrong in ["Geheim", "geheim ", "x"] {
      #expect(throws: CredentialFileError.wrongPassword) { try PKCS12.parse(bytes, password: wrong) }
    }
    for none in [nil, ""] {
      #expect(throws: CredentialFileError.passwordNeeded) { try PKCS12.parse(bytes, password: none) }
    }
  }

  /// An empty password is not the same as none: both are tried. Passwords may hold any character.
  @Test func passwordsOfEveryKind() throws {
    try tool.makeCertificate()
    for password in ["", "päss wörd", "密码🔑"] {
      try tool.run(
        "pkcs12 -export -legacy -inkey key.pem -in certificate.pem -out file.p12 -passout", "pass:\(password)"
      )
      let bytes = tool.bytes("file.p12")
      #expect(try PKCS12.parse(bytes, password: password).facts.userID == "com.example.app")
      if password.isEmpty {
        #expect(try PKCS12.parse(bytes, password: nil).facts.userID == "com.example.app")
      }
    }
    try tool.run(
      "pkcs12 -export -nomac -keypbe NONE -certpbe NONE -inkey key.pem -in certificate.pem",
      "-passout", "pass:", "-out", "bare.p12")
    #expect(try PKCS12.parse(tool.bytes("bare.p12"), password: nil).facts.userID == "com.example.app")
  }

  /// Such a file shows only when it is opened whether it has a password, and which.
  @Test(arguments: ["", "-legacy"])
  func encryptedFilesWithoutChecksum(options: String) throws {
    try tool.makeCertificate()
    try tool.run(
      "pkcs12 -export \(options) -nomac -inkey key.pem -in certificate.pem -out file.p12 -passout",
      "pass:  two words ")
    let bytes = tool.bytes("file.p12")
    #expect(try PKCS12.parse(bytes, password: "  two words ").facts.userID == "com.example.app")
    #expect(throws: CredentialFileError.passwordNeeded) { try PKCS12.parse(bytes, password: nil) }
    #expect(throws: CredentialFileError.passwordNeeded) { try PKCS12.parse(bytes, password: "") }
    #expect(throws: CredentialFileError.wrongPassword) { try PKCS12.parse(bytes, password: "two words") }
  }

  /// Where the legacy provider is not installed, the password is not blamed; files that need no RC2 still
  /// work.
  @Test func missingProviderIsNamed() throws {
    try tool.makeCertificate()
    try tool.run(
      "pkcs12 -export -legacy -inkey key.pem -in certificate.pem -passout pass:x -out old.p12")
    try tool.run(
      "pkcs12 -export -inkey key.pem -in certificate.pem -passout pass:x -out new.p12")
    let old = tool.bytes("old.p12")
    #expect(throws: CredentialFileError.legacyProviderMissing) {
      try PKCS12.parse(old, password: "x", modules: "/nonexistent")
    }
    #expect(throws: CredentialFileError.wrongPassword) {
      try PKCS12.parse(old, password: "y", modules: "/nonexistent")
    }
    let pair = try PKCS12.parse(tool.bytes("new.p12"), password: "x", modules: "/nonexistent")
    #expect(pair.facts.userID == "com.example.app")
  }

  /// The certificate itself comes first, whatever else the file holds.
  @Test func chainIsKept() throws {
    try tool.makeCertificate(subject: "/CN=Other", name: "other")
    try tool.makeCertificate()
    try tool.run(
      "pkcs12 -export -legacy -inkey key.pem -in certificate.pem -certfile other.pem -passout pass:x -out file.p12"
    )
    let pair = try PKCS12.parse(tool.bytes("file.p12"), password: "x")
    #expect(pair.certificatesPEM == tool.text("certificate.pem") + tool.text("other.pem"))
    #expect(pair.facts.commonName == "Apple Push Services: com.example.app")
  }

  @Test func missingPartsAreNamed() throws {
    try tool.makeCertificate()
    try tool.run(
      "pkcs12 -export -legacy -nokeys -in certificate.pem -passout pass:x -out certificate.p12")
    try tool.run(
      "pkcs12 -export -legacy -nocerts -inkey key.pem -in key.pem -passout pass:x -out key.p12")
    for (name, error) in [("certificate.p12", CredentialFileError.noKey), ("key.p12", .noCertificate)] {
      let bytes = tool.bytes(name)
      #expect(throws: error) { try PKCS12.parse(bytes, password: "x") }
    }
    let pem = tool.bytes("key.pem")
    for bytes in [[], [0x30], pem, [UInt8](repeating: 0x30, count: 4000)] {
      #expect(throws: CredentialFileError.notPKCS12) { try PKCS12.parse(bytes, password: nil) }
    }
    let large = [UInt8](repeating: 0, count: PKCS12.limit + 1)
    #expect(throws: CredentialFileError.tooLarge(limit: PKCS12.limit)) {
      try PKCS12.parse(large, password: nil)
    }
  }

  /// No cut and no flipped bit makes the reader trap or accept another key.
  @Test func damagedFilesAreRefused() throws {
    try tool.makeCertificate()
    try tool.run(
      "pkcs12 -export -legacy -iter 1 -nomaciter -inkey key.pem -in certificate.pem -passout pass:x -out file.p12"
    )
    let bytes = tool.bytes("file.p12")
    let whole = try PKCS12.parse(bytes, password: "x")
    for index in stride(from: 0, to: bytes.count, by: 7) {
      #expect(throws: CredentialFileError.self) { try PKCS12.parse(Array(bytes[..<index]), password: "x") }
      var changed = bytes
      changed[index] ^= 1 << UInt8(index % 8)
      if let pair = try? PKCS12.parse(changed, password: "x") { #expect(pair.keyPEM == whole.keyPEM) }
    }
  }

  /// A file that asks for hours of work is refused before any of it is done.
  @Test(arguments: ["-legacy", "", "-legacy -nomac"])
  func costlyFilesAreRefused(options: String) throws {
    try tool.makeCertificate()
    // 0x010203 rounds, to be found again and made more.
    try tool.run(
      "pkcs12 -export \(options) -iter 66051 -inkey key.pem -in certificate.pem -passout pass:x -out file.p12"
    )
    let bytes = tool.bytes("file.p12")
    let places = bytes.indices.filter { bytes[$0...].starts(with: [0x02, 0x03, 0x01, 0x02, 0x03]) }
    #expect(!places.isEmpty)
    #expect(throws: CredentialFileError.tooCostly) {
      try PKCS12.parse(bytes, password: "x", rounds: 66_050)
    }
    #expect(throws: Never.self) { try PKCS12.parse(bytes, password: "x", rounds: 66_051 * 3) }
    for place in places {
      var changed = bytes
      changed[place + 2] = 0x7f
      let file = changed
      #expect(throws: CredentialFileError.tooCostly) { try PKCS12.parse(file, password: "x") }
    }
  }

  /// A key that is encrypted inside of what is encrypted shows its rounds only then.
  @Test func costIsNotHidden() throws {
    try tool.makeCertificate()
    let pem = tool.text("key.pem")
    let key = PEM.read(pem) { PEM_read_bio_PrivateKey($0, nil, co_no_password, nil) }
    defer { EVP_PKEY_free(key) }
    var (bags, safes): (OpaquePointer?, OpaquePointer?) = (nil, nil)
    let cipher = NID_pbe_WithSHA1And3_Key_TripleDES_CBC
    let hasKey = PKCS12_add_key(&bags, key, 0, 20_000, cipher, "x") != nil
    let isHidden = PKCS12_add_safe(&safes, bags, cipher, 1, "x") == 1
    let file = PKCS12_add_safes(safes, 0)
    defer {
      OPENSSL_sk_pop_free(bags) { PKCS12_SAFEBAG_free(OpaquePointer($0)) }
      OPENSSL_sk_pop_free(safes) { PKCS7_free($0?.assumingMemoryBound(to: PKCS7.self)) }
      PKCS12_free(file)
    }
    #expect(hasKey && isHidden && PKCS12_set_mac(file, "x", -1, nil, 0, 1, nil) == 1)
    var start: UnsafeMutablePointer<UInt8>?
    let count = i2d_PKCS12(file, &start)
    defer { CRYPTO_free(start, nil, 0) }
    let bytes = Array(UnsafeBufferPointer(start: start, count: Int(count)))
    #expect(co_pkcs12_cost(file, nil, CO_PKCS12_CLOSED).rounds < 10)
    #expect(co_pkcs12_cost(file, "x", CO_PKCS12_PARTS).rounds > 20_000)
    #expect(throws: CredentialFileError.tooCostly) { try PKCS12.parse(bytes, password: "x", rounds: 20_000) }
    #expect(throws: CredentialFileError.noCertificate) { try PKCS12.parse(bytes, password: "x") }
  }

  /// 20 million rounds in a file whose length is written with leading zeros; scrypt, whose first number says
  /// little; and a derivation that nobody knows.
  @Test(arguments: [
    CostlyFile.paddedLength, CostlyFile.scrypt,
    CostlyFile.scrypt.map { $0 == 0x47 ? 0x48 : $0 },
  ])
  func costCannotBeWrittenOtherwise(bytes: [UInt8]) {
    for rounds in [PKCS12.maximumRounds, PKCS12.maximumRoundsOfUploads] {
      #expect(throws: CredentialFileError.tooCostly) {
        try PKCS12.parse(bytes, password: nil, rounds: rounds)
      }
    }
  }

  /// OpenSSL computes the public half of a DSA key while it reads it, however large the key is.
  @Test func keysThatTakeLongToReadAreNotRead() throws {
    try tool.run("dsaparam -genkey -noout -out old.pem 1024")
    try tool.run("pkcs8 -topk8 -nocrypt -in old.pem -out key.pem")
    try tool.run("req -x509 -new -key key.pem -days 9 -subj /CN=a -out certificate.pem")
    let key = tool.bytes("key.pem")
    #expect(throws: CredentialFileError.otherAlgorithm("dsaEncryption")) { try ES256Key(p8: key) }
    for options in ["", "-keypbe NONE -certpbe NONE"] {
      try tool.run(
        "pkcs12 -export \(options) -inkey key.pem -in certificate.pem -passout pass:x -out file.p12")
      let bytes = tool.bytes("file.p12")
      #expect(throws: CredentialFileError.unusualKey("dsaEncryption")) {
        try PKCS12.parse(bytes, password: "x")
      }
    }
  }

  /// Keys with which signing takes a connection's time, or that no push certificate has.
  @Test(arguments: [
    ("RSA -pkeyopt rsa_keygen_bits:4608 -pkeyopt rsa_keygen_primes:4", "RSA, 4608 bits"),
    ("RSA -pkeyopt rsa_keygen_bits:1024", "RSA, 1024 bits"),
    ("EC -pkeyopt ec_paramgen_curve:secp256k1", "EC, secp256k1"), ("ED25519", "ED25519"),
  ])
  func unusualKeysAreRefused(key: String, name: String) throws {
    try tool.makeCertificate(key: key)
    let (certificate, key) = (tool.bytes("certificate.pem"), tool.bytes("key.pem"))
    #expect(throws: CredentialFileError.unusualKey(name)) {
      try CertificateKeyPair(certificates: certificate, key: key)
    }
  }

  @Test func aFileHoldsFewCertificates() throws {
    try tool.makeCertificate(key: "EC -pkeyopt ec_paramgen_curve:P-384")
    let (certificate, key) = (tool.bytes("certificate.pem"), tool.bytes("key.pem"))
    let most = CertificateKeyPair.mostCertificates
    let many = Array(repeating: certificate, count: most).flatMap { $0 }
    #expect(throws: Never.self) { try CertificateKeyPair(certificates: many, key: key) }
    #expect(throws: CredentialFileError.tooManyCertificates(limit: most)) {
      try CertificateKeyPair(certificates: many + certificate, key: key)
    }
  }

  @Test func pairsOfPEMFiles() throws {
    try tool.makeCertificate(name: "first")
    let firstKey = tool.bytes("key.pem")
    let first = tool.bytes("first.pem")
    try tool.makeCertificate(name: "second")
    let second = tool.bytes("second.pem")
    let pair = try CertificateKeyPair(certificates: first + second, key: firstKey)
    #expect(pair.certificatesPEM == tool.text("first.pem") + tool.text("second.pem"))
    // Both in one file, the key first.
    #expect(
      try CertificateKeyPair(certificates: firstKey + first, key: firstKey + first).keyPEM == pair.keyPEM)
    #expect(throws: CredentialFileError.keyDoesNotMatch) {
      try CertificateKeyPair(certificates: second + first, key: firstKey)
    }
    #expect(throws: CredentialFileError.noCertificate) {
      try CertificateKeyPair(certificates: firstKey, key: firstKey)
    }
    #expect(throws: CredentialFileError.certificateInsteadOfKey) {
      try CertificateKeyPair(certificates: first, key: first)
    }
    let cut = Array(second.dropLast(200))
    #expect(throws: CredentialFileError.noCertificate) {
      try CertificateKeyPair(certificates: first + cut, key: firstKey)
    }
  }
}
