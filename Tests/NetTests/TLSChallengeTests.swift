import BorealisBase
import BorealisCrypto
import BorealisNet
import COpenSSL
import Glibc
import PushTesting
import Testing

/// Handshakes of certificate authorities (RFC 8737), and of everybody else meanwhile.
@Suite struct TLSChallengeTests {
  private let files: TLSTestFiles
  private let challenges = TLSChallenges()
  private let answer: SelfSignedCertificate

  init() throws {
    signal(SIGPIPE, SIG_IGN)
    files = try TLSTestFiles()
    answer = try SelfSignedCertificate.answeringChallenge(
      for: "push.example.com", keyAuthorization: "token.thumbprint")
    let isTaken = challenges.answer(
      for: "Push.example.com", certificate: Array(answer.certificatePEM.utf8),
      key: Array(answer.keyPEM.utf8))
    #expect(isTaken)
  }

  private func server(releasesSessions: Bool) throws -> TLSContext {
    try TLSContext.server(
      identity: .files(certificatePath: files.certificate, keyPath: files.key),
      releasesSessions: releasesSessions, challenges: challenges)
  }

  @Test(arguments: [false, true], [true, false])
  func `A challenge is answered by its certificate, and nothing else is`(
    isOld: Bool, releasesSessions: Bool
  ) throws {
    let pair = try AuthorityPair(server(releasesSessions: releasesSessions), isOld: isOld)
    #expect(pair.handshake("push.example.com"))
    #expect(pair.server.handshake() == .failed("the session failed before"))
    #expect(pair.reason == "a challenge of a certificate authority was answered")
    #expect(pair.fingerprint == answer.fingerprint)
    #expect(pair.read() == SSL_ERROR_ZERO_RETURN)
    var byte: UInt8 = 0
    let transfer = withUnsafeMutableBytes(of: &byte) { pair.server.read(into: $0) }
    #expect(transfer == .failed("the session failed before"))
  }

  @Test(arguments: ["localhost", "127.0.0.1", "example.com", "push.example.com.", ""])
  func `Without a challenge that waits for the name the handshake fails`(name: String) throws {
    let pair = try AuthorityPair(server(releasesSessions: true), isOld: false)
    #expect(!pair.handshake(name))
    #expect(pair.reason != nil)
  }

  @Test func `A challenge that is over is not answered`() throws {
    challenges.removeAll()
    let pair = try AuthorityPair(server(releasesSessions: true), isOld: false)
    #expect(!pair.handshake("push.example.com"))
  }

  @Test(
    arguments: [[], ["http/1.1"], ["h2", "http/1.1"], ["acme-tls/1", "http/1.1"], ["acme-tls/10"]],
    [true, false])
  func `Others get the server's certificate, and no protocol`(
    protocols: [String], releasesSessions: Bool
  ) throws {
    let pair = try TLSPair(
      server: server(releasesSessions: releasesSessions),
      client: .client(trust: .file(files.certificate), protocols: protocols),
      peerName: "localhost")
    #expect(pair.handshake() == [.done, .done])
    #expect(pair.client.applicationProtocol == nil)
    #expect(pair.server.isReleased == releasesSessions)
    #expect(pair.carry([1, 2, 3], from: pair.client, to: pair.server) == [1, 2, 3])
  }

  @Test func `What is not in PEM form is not an answer`() throws {
    let (certificate, key) = (Array(answer.certificatePEM.utf8), Array(answer.keyPEM.utf8))
    #expect(!challenges.answer(for: "a.example", certificate: key, key: key))
    #expect(!challenges.answer(for: "a.example", certificate: certificate, key: certificate))
    #expect(!challenges.answer(for: "a.example", certificate: [], key: []))
  }
}

/// A server's session, and an authority that takes any certificate: no other client accepts an extension that
/// it does not know.
private final class AuthorityPair {
  let server: TLSSession
  /// Why the server's handshake has failed.
  private(set) var reason: String?
  private let context: OpaquePointer
  private let session: OpaquePointer
  private let descriptors: [Int32]

  init(_ server: TLSContext, isOld: Bool) throws {
    var pair: [Int32] = [-1, -1]
    let offer: [UInt8] = [10] + Array("acme-tls/1".utf8)
    guard socketpair(AF_UNIX, SocketKind.nonBlockingStream, 0, &pair) == 0,
      let context = co_new_tls_context(0), co_offer_protocols(context, offer, offer.count) == 0,
      !isOld || co_set_max_version_12(context) == 1, let session = SSL_new(context),
      co_set_socket(session, pair[1], 0, 0) == 1
    else { throw TLSTestFiles.Failed() }
    SSL_set_connect_state(session)
    (self.context, self.session, descriptors) = (context, session, pair)
    self.server = try TLSSession(context: server, fd: pair[0])
  }

  deinit {
    SSL_free(session)
    SSL_CTX_free(context)
    for descriptor in descriptors { close(descriptor) }
  }

  /// Whether the authority has come to the end of its handshake; it names nobody if the name is empty.
  func handshake(_ name: String) -> Bool {
    guard name.isEmpty || co_set_peer_name(session, name) == 1 else { return false }
    var outcome = SSL_ERROR_WANT_READ
    for _ in 0..<10 {
      var number: Int32 = 0
      if outcome == SSL_ERROR_WANT_READ { outcome = co_ssl_handshake(session, &number) }
      if reason == nil, case .failed(let text) = server.handshake() { reason = text }
    }
    return outcome == SSL_ERROR_NONE
  }

  /// The outcome of a read.
  func read() -> Int32 {
    var (byte, count, number): (UInt8, Int, Int32) = (0, 0, 0)
    return co_ssl_read(session, &byte, 1, &count, &number)
  }

  /// Of the certificate that the server has shown.
  var fingerprint: String? {
    guard let certificate = SSL_get1_peer_certificate(session) else { return nil }
    defer { X509_free(certificate) }
    var digest = [UInt8](repeating: 0, count: 32)
    return X509_digest(certificate, EVP_sha256(), &digest, nil) == 1 ? Hex.encode(digest) : nil
  }
}
