import BorealisBase
import BorealisCrypto
import BorealisDevice
import BorealisNet
import BorealisProtocol
import Glibc
import PushTesting
import Testing

@Suite(.timeLimit(.minutes(1))) struct DeviceTLSTests {
  private let files = TemporaryFolder()
  private var certificate: String { files.file("certificate.pem") }

  init() throws {
    // For the server's side of the tests.
    signal(SIGPIPE, SIG_IGN)
  }

  /// A server whose certificate, its own CA, is in the folder.
  private func server(dnsNames: [String], ipAddresses: [String]) throws -> TestServer {
    let made = try SelfSignedCertificate.make(
      commonName: "test", dnsNames: dnsNames, ipAddresses: ipAddresses, days: 2)
    try TemporaryFolder.write(made.certificatePEM, to: certificate)
    try TemporaryFolder.write(made.keyPEM, to: files.file("key.pem"))
    let context = try TLSContext.server(certificatePath: certificate, keyPath: files.file("key.pem"))
    return try TestServer(tls: context)
  }

  @Test(arguments: ["127.0.0.1", "localhost"]) func logsInAndResumes(host: String) async throws {
    let server = try server(dnsNames: ["localhost"], ipAddresses: ["127.0.0.1"])
    let fixture = DeviceFixture(security: .tls(caFile: certificate))
    let device = fixture.device(ServerAddress(host: host, port: server.port), fixture.store())
    try device.start()
    async let served = server.play { server in
      var resumed: [Bool] = []
      for round in 0..<3 as Range<UInt64> {
        let peer = try server.accept()
        resumed.append(peer.isResumed)
        try peer.welcome()
        try peer.send(CoreRun.push(round + 1))
        #expect(try peer.acknowledged(1) == [round + 1])
      }
      return resumed
    }
    var events = EventReader(device)
    for _ in 0..<3 {
      let push = try await events.push()
      device.handled(push.messageID)
      #expect(try await events.disconnection() == .connectionLost("the server closed"))
      device.networkChanged()
    }
    #expect(try await served == [false, true, true])
  }

  @Test func refusesAnotherName() async throws {
    let server = try server(dnsNames: ["push.example.com"], ipAddresses: ["192.0.2.1"])
    let fixture = DeviceFixture(security: .tls(caFile: certificate))
    let device = fixture.device(ServerAddress(host: "localhost", port: server.port), fixture.store())
    try device.start()
    var events = EventReader(device)
    await #expect(throws: TestServer.Failed.self) { try await server.play { _ = try $0.accept() } }
    guard case .connectFailed(let reason) = try await events.disconnection() else {
      Issue.record("took a certificate of another name")
      return
    }
    #expect(reason.contains("certificate refused") && reason.contains("mismatch"))
  }

  @Test func refusesAnUnknownCAUnlessToldOtherwise() async throws {
    let server = try server(dnsNames: [], ipAddresses: ["127.0.0.1"])
    let other = try SelfSignedCertificate.make(
      commonName: "other", dnsNames: ["localhost"], ipAddresses: [], days: 2)
    try TemporaryFolder.write(Array(other.certificatePEM.utf8), to: files.file("other.pem"))
    let strict = DeviceFixture(security: .tls(caFile: files.file("other.pem")))
    let device = strict.device(server)
    try device.start()
    await #expect(throws: TestServer.Failed.self) { try await server.play { _ = try $0.accept() } }
    var events = EventReader(device)
    guard case .connectFailed = try await events.disconnection() else {
      Issue.record("took a certificate of an unknown CA")
      return
    }
    await device.close()

    let loose = DeviceFixture(security: .tlsUnverified)
    let another = try self.server(dnsNames: ["push.example.com"], ipAddresses: [])
    let trusting = loose.device(another)
    try trusting.start()
    try await another.play { server in try server.accept().welcome() }
    await trusting.close()
  }

  @Test func aPlainServerIsNoTLSServer() async throws {
    let server = try TestServer()
    let fixture = DeviceFixture(security: .tlsUnverified)
    let device = fixture.device(server)
    try device.start()
    // The end of TestPeer closes the connection.
    try await server.play { server in try server.accept().send(CoreRun.helloOK) }
    var events = EventReader(device)
    guard case .connectFailed(let reason) = try await events.disconnection() else {
      Issue.record("spoke TLS with a plain server")
      return
    }
    #expect(reason.hasPrefix("TLS: "))
  }

  @Test func missingFilesAreToldAtOnce() {
    #expect(throws: DeviceSetUpError.tls("cannot read /no/such/file: No such file or directory")) {
      try DeviceHub(security: .tls(caFile: "/no/such/file")).open()
    }
  }
}
