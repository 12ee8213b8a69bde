import BorealisCrypto
import PushTesting
import Testing

@Suite struct RSAKeyTests {
  let tool = OpenSSLTool()

  /// OpenSSL's command verifies what we sign, with keys of every size that is allowed.
  @Test(arguments: [2048, 3072, 4096]) func signaturesAreGood(bits: Int) throws {
    try tool.run("genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:\(bits) -out key.pem")
    try tool.run("pkey -in key.pem -pubout -out public.pem")
    let key = try RSAKey(pem: tool.bytes("key.pem"))
    let message = Array("header.claims".utf8)
    let signature = try key.sign(message)
    #expect(signature.count == bits / 8)
    try tool.write(message, to: "message")
    try tool.write(signature, to: "signature")
    #expect(
      try tool.run("dgst -sha256 -verify public.pem -signature signature message") == "Verified OK\n")
    #expect(key.publicKey.isValid(signature: signature, of: message))
    #expect(!key.publicKey.isValid(signature: signature, of: message + [0]))
    #expect(!key.publicKey.isValid(signature: Array(signature.dropLast()), of: message))
    #expect(try !RSAKey.generate().publicKey.isValid(signature: signature, of: message))
    let salted = try key.sign(message, .ps256)
    #expect(salted.count == bits / 8)
    try tool.write(salted, to: "salted")
    #expect(
      try tool.run(
        "dgst -sha256 -sigopt rsa_padding_mode:pss -sigopt rsa_pss_saltlen:32 -verify public.pem -signature salted message"
      ) == "Verified OK\n")
    #expect(try key.sign(message, .ps256) != salted)
    #expect(key.publicKey.isValid(signature: salted, of: message, .ps256))
    #expect(!key.publicKey.isValid(signature: salted, of: message))
    #expect(!key.publicKey.isValid(signature: signature, of: message, .ps256))
    #expect(!key.publicKey.isValid(signature: salted, of: message + [0], .ps256))
  }

  @Test(arguments: [1024, 4104]) func otherSizesAreRefused(bits: Int) throws {
    try tool.run("genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:\(bits) -out key.pem")
    #expect(throws: CredentialFileError.unusualKey("RSA, \(bits) bits")) {
      try RSAKey(pem: tool.bytes("key.pem"))
    }
  }

  @Test func otherKeysAreRefused() throws {
    try tool.run("genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out ec.pem")
    #expect(throws: CredentialFileError.otherAlgorithm("EC")) { try RSAKey(pem: tool.bytes("ec.pem")) }
    try tool.run("genpkey -algorithm RSA-PSS -pkeyopt rsa_keygen_bits:2048 -out pss.pem")
    #expect(throws: CredentialFileError.otherAlgorithm("RSA-PSS")) {
      try RSAKey(pem: tool.bytes("pss.pem"))
    }
    try tool.run("genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out key.pem")
    try tool.run("pkey -in key.pem -pubout -out public.pem")
    #expect(throws: CredentialFileError.publicKey) { try RSAKey(pem: tool.bytes("public.pem")) }
    #expect(throws: CredentialFileError.notPEM) { try RSAKey(pem: Array("no key".utf8)) }
    #expect(throws: CredentialFileError.tooLarge(limit: RSAKey.longestPEM)) {
      try RSAKey(pem: tool.bytes("key.pem") + Array(repeating: 10, count: RSAKey.longestPEM))
    }
  }

  /// The numbers of a key belong together: one changed digit shows.
  @Test func damagedKeysAreRefused() throws {
    let pem = try RSAKey.generate().pem()
    #expect(throws: Never.self) { try RSAKey(pem: Array(pem.utf8)) }
    var lines = pem.split(separator: "\n").map(String.init)
    // In one of its primes.
    lines[lines.count * 2 / 3] = String(lines[lines.count * 2 / 3].reversed())
    #expect(throws: CredentialFileError.self) { try RSAKey(pem: Array(lines.joined(separator: "\n").utf8)) }
  }
}
