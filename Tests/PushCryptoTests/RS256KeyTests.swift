import PushCrypto
import PushTesting
import Testing

@Suite struct RS256KeyTests {
  let tool = OpenSSLTool()

  /// OpenSSL's command verifies what we sign, with keys of every size that is allowed.
  @Test(arguments: [2048, 3072, 4096]) func signaturesAreGood(bits: Int) throws {
    try tool.run("genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:\(bits) -out key.pem")
    try tool.run("pkey -in key.pem -pubout -out public.pem")
    let key = try RS256Key(pem: tool.bytes("key.pem"))
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
    #expect(try !RS256Key.generate().publicKey.isValid(signature: signature, of: message))
  }

  @Test(arguments: [1024, 4104]) func otherSizesAreRefused(bits: Int) throws {
    try tool.run("genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:\(bits) -out key.pem")
    #expect(throws: CredentialFileError.unusualKey("RSA, \(bits) bits")) {
      try RS256Key(pem: tool.bytes("key.pem"))
    }
  }

  @Test func otherKeysAreRefused() throws {
    try tool.run("genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out ec.pem")
    #expect(throws: CredentialFileError.otherAlgorithm("EC")) { try RS256Key(pem: tool.bytes("ec.pem")) }
    try tool.run("genpkey -algorithm RSA-PSS -pkeyopt rsa_keygen_bits:2048 -out pss.pem")
    #expect(throws: CredentialFileError.otherAlgorithm("RSA-PSS")) {
      try RS256Key(pem: tool.bytes("pss.pem"))
    }
    try tool.run("genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out key.pem")
    try tool.run("pkey -in key.pem -pubout -out public.pem")
    #expect(throws: CredentialFileError.publicKey) { try RS256Key(pem: tool.bytes("public.pem")) }
    #expect(throws: CredentialFileError.notPEM) { try RS256Key(pem: Array("no key".utf8)) }
    #expect(throws: CredentialFileError.tooLarge(limit: RS256Key.longestPEM)) {
      try RS256Key(pem: tool.bytes("key.pem") + Array(repeating: 10, count: RS256Key.longestPEM))
    }
  }

  /// The numbers of a key belong together: one changed digit shows.
  @Test func damagedKeysAreRefused() throws {
    let pem = try RS256Key.generate().pem()
    #expect(throws: Never.self) { try RS256Key(pem: Array(pem.utf8)) }
    var lines = pem.split(separator: "\n").map(String.init)
    // In one of its primes.
    lines[lines.count * 2 / 3] = String(lines[lines.count * 2 / 3].reversed())
    #expect(throws: CredentialFileError.self) { try RS256Key(pem: Array(lines.joined(separator: "\n").utf8)) }
  }
}
