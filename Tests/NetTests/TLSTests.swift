import BorealisCrypto
import BorealisNet
import Glibc
import PushTesting
import Testing

@Suite struct TLSTests {
  private let files: TLSTestFiles

  init() throws {
    signal(SIGPIPE, SIG_IGN)
    files = try TLSTestFiles()
  }

  @Test(arguments: [(TLSContext.Versions.all, "TLSv1.3"), (.only12, "TLSv1.2")])
  func carriesDataAndResumes(versions: TLSContext.Versions, name: String) throws {
    let server = try files.server()
    let client = try TLSContext.client(caFile: files.certificate, versions: versions)
    var session: [UInt8]?
    for round in 0..<3 {
      let pair = try TLSPair(server: server, client: client, peerName: "localhost", resuming: session)
      #expect(pair.handshake() == [.done, .done])
      #expect(pair.client.version == name)
      #expect(pair.client.isResumed == (round > 0))
      #expect(pair.server.isResumed == (round > 0))
      let sent = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ round) }
      #expect(pair.carry(sent, from: pair.server, to: pair.client) == sent)
      #expect(pair.carry(sent, from: pair.client, to: pair.server) == sent)
      session = pair.client.exportSession()
      #expect(session != nil)
      pair.client.shutdown()
      #expect(pair.read(pair.server, 10).1 == .closed)
    }
  }

  @Test func ticketsOfAnotherServerCostAFullHandshake() throws {
    let client = try TLSContext.client(caFile: files.certificate)
    let first = try TLSPair(server: files.server(), client: client, peerName: "localhost")
    #expect(first.handshake() == [.done, .done])
    #expect(first.carry([1], from: first.server, to: first.client) == [1])
    let session = try #require(first.client.exportSession())
    let second = try TLSPair(server: files.server(), client: client, peerName: "localhost", resuming: session)
    #expect(second.handshake() == [.done, .done])
    #expect(!second.client.isResumed)
    let garbage = try TLSPair(
      server: files.server(), client: client, peerName: "localhost", resuming: [1, 2, 3])
    #expect(garbage.handshake() == [.done, .done])
  }

  @Test(arguments: ["localhost", "127.0.0.1", "::1"])
  func rightNames(name: String) throws {
    let pair = try TLSPair(
      server: files.server(), client: .client(caFile: files.certificate), peerName: name)
    #expect(pair.handshake() == [.done, .done])
  }

  @Test(arguments: ["example.com", "127.0.0.2", "localhost.evil.example"])
  func wrongNames(name: String) throws {
    let pair = try TLSPair(
      server: files.server(), client: .client(caFile: files.certificate), peerName: name)
    guard case .failed(let reason) = pair.handshake()[1] else {
      Issue.record("accepted \(name)")
      return
    }
    #expect(reason.hasPrefix("certificate refused: ") && reason.contains("mismatch"))
    guard case .failed = pair.client.handshake() else {
      Issue.record("a failed session went on")
      return
    }
  }

  @Test func wrongCA() throws {
    let other = try TLSTestFiles()
    let pair = try TLSPair(
      server: files.server(), client: .client(caFile: other.certificate), peerName: "localhost")
    let outcome = pair.handshake()
    guard case .failed(let reason) = outcome[1] else {
      Issue.record("accepted an unknown CA")
      return
    }
    #expect(reason.hasPrefix("certificate refused: "))
    guard case .failed = outcome[0] else {
      Issue.record("the server did not hear of it")
      return
    }
  }

  @Test func anyCertificateIfToldSo() throws {
    let pair = try TLSPair(
      server: files.server(), client: .client(verifies: false), peerName: "somebody.else.example")
    #expect(pair.handshake() == [.done, .done])
  }

  @Test(arguments: [
    "GET / HTTP/1.1\r\n\r\n", "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}garbage", "\0\0\0\0\0\0\0\0\0\0\0\0",
  ])
  func garbage(text: String) throws {
    let pair = try TLSPair(
      server: files.server(), client: .client(caFile: files.certificate), peerName: "localhost")
    _ = send(pair.descriptors[1], text, text.utf8.count, 0)
    Glibc.shutdown(pair.descriptors[1], Int32(SHUT_WR))
    guard case .failed(let reason) = pair.server.handshake() else {
      Issue.record("garbage went through")
      return
    }
    #expect(!reason.isEmpty && reason != "no reason given")
  }

  @Test func peerVanishes() throws {
    let server = try files.server()
    let client = try TLSContext.client(caFile: files.certificate)
    let during = try TLSPair(server: server, client: client, peerName: "localhost")
    #expect(during.client.handshake() == .wantRead)
    #expect(during.server.handshake() == .wantRead)
    during.closeClient()
    guard case .failed = during.server.handshake() else {
      Issue.record("went on without a peer")
      return
    }
    let after = try TLSPair(server: server, client: client, peerName: "localhost")
    #expect(after.handshake() == [.done, .done])
    after.closeClient()
    guard case .failed = after.read(after.server, 10).1 else {
      Issue.record("took a cut connection for a proper end")
      return
    }
    after.server.shutdown()
  }

  @Test func emptyBuffersAndPending() throws {
    let pair = try TLSPair(
      server: files.server(), client: .client(caFile: files.certificate), peerName: "localhost")
    #expect(pair.handshake() == [.done, .done])
    #expect(pair.read(pair.server, 10).1 == .wantRead)
    #expect(pair.server.write(UnsafeRawBufferPointer(start: nil, count: 0)) == .bytes(0))
    #expect([1, 2, 3, 4].withUnsafeBytes { pair.client.write($0) } == .bytes(4 * MemoryLayout<Int>.size))
    #expect(pair.read(pair.server, 10).1 == .bytes(10))
    #expect(pair.server.pending == 22)
  }

  @Test func errorsSayWhatIsWrong() throws {
    let other = try TLSTestFiles()
    let missing = files.certificate + ".missing"
    let absent = TLSError.unreadable(path: missing, reason: "No such file or directory")
    #expect(throws: absent) { try TLSContext.server(certificatePath: missing, keyPath: files.key) }
    #expect(throws: absent) { try TLSContext.server(certificatePath: files.certificate, keyPath: missing) }
    #expect(throws: absent) { try TLSContext.client(caFile: missing) }
    #expect(throws: TLSError.keyDoesNotMatch(certificatePath: files.certificate, keyPath: other.key)) {
      try TLSContext.server(certificatePath: files.certificate, keyPath: other.key)
    }
    #expect(throws: TLSError.self) { try TLSContext.server(certificatePath: files.key, keyPath: files.key) }
    #expect(throws: TLSError.self) {
      try TLSContext.server(certificatePath: files.certificate, keyPath: files.certificate)
    }
    #expect(throws: TLSError.self) { try TLSContext.client(caFile: files.key) }
  }

  private func reason(_ certificates: String, _ key: String) throws -> String {
    let folder = TemporaryFolder()
    let (certificatePath, keyPath) = (folder.file("c"), folder.file("k"))
    try TemporaryFolder.write(certificates, to: certificatePath)
    try TemporaryFolder.write(key, to: keyPath)
    do throws(TLSError) {
      _ = try TLSContext.server(certificatePath: certificatePath, keyPath: keyPath)
      return ""
    } catch {
      return error.description.replacing(folder.file(""), with: "")
    }
  }

  private func encrypted(_ key: String) throws -> String {
    let tool = OpenSSLTool()
    try tool.write(Array(key.utf8), to: "key.pem")
    try tool.run("pkcs8 -topk8 -in key.pem -passout pass:x -out encrypted.pem")
    return tool.text("encrypted.pem")
  }

  @Test func `The message says what is wrong with a file`() throws {
    let other = try TLSTestFiles()
    let (own, ownKey) = (TemporaryFolder.read(files.certificate), TemporaryFolder.read(files.key))
    let foreign = TemporaryFolder.read(other.certificate)
    #expect(try reason(own, ownKey) == "")
    #expect(try reason("\u{FEFF}" + own, "\u{FEFF}" + ownKey) == "")
    #expect(try reason("Subject: x\n" + own + foreign, ownKey) == "")
    for (certificates, key, expected) in [
      (
        foreign + own, ownKey,
        "c cannot be used for TLS: the key belongs to its certificate number 2; the server's own certificate must be the first"
      ),
      (foreign, ownKey, "the key in k is not the one of c"),
      (ownKey, own, "c cannot be used for TLS: it holds \"PRIVATE KEY\", not a certificate"),
      (own, foreign, "k cannot be used for TLS: it holds \"CERTIFICATE\", not a private key"),
      (
        own, try encrypted(ownKey),
        "k cannot be used for TLS: its key is encrypted; \"openssl pkey -in k -out FILE\" decrypts it"
      ),
      (
        own, "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\n-----END RSA PRIVATE KEY-----\n",
        "k cannot be used for TLS: its key is encrypted; \"openssl pkey -in k -out FILE\" decrypts it"
      ),
      ("text", ownKey, "c cannot be used for TLS: it is not in PEM form (\"-----BEGIN CERTIFICATE-----\")"),
      (own, "", "k cannot be used for TLS: it is not in PEM form (\"-----BEGIN PRIVATE KEY-----\")"),
    ] {
      let reason = try reason(certificates, key)
      #expect(reason == expected)
    }
    let broken = try reason(own.replacing("M", with: "N"), ownKey)
    #expect(broken.hasPrefix("c cannot be used for TLS: a certificate in it cannot be read: "), "\(broken)")
  }
}
