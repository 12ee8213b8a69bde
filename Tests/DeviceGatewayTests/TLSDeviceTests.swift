import BorealisBase
import BorealisCrypto
import BorealisNet
import BorealisProtocol
import Core
import DeviceGateway
import Glibc
import Model
import PushTesting
import Testing

@Suite struct TLSDeviceTests {
  /// A certificate for localhost in a folder of its own, and contexts of both sides.
  private final class Certificate {
    let folder = TemporaryFolder()
    let server: TLSContext
    let client: TLSContext

    init(releasesSessions: Bool = true) throws {
      let made = try SelfSignedCertificate.make(
        commonName: "localhost", dnsNames: ["localhost"], ipAddresses: [], days: 2)
      for (name, text) in [("cert.pem", made.certificatePEM), ("key.pem", made.keyPEM)] {
        try TemporaryFolder.write(text, to: folder.file(name))
      }
      server = try TLSContext.server(
        certificatePath: folder.file("cert.pem"), keyPath: folder.file("key.pem"),
        releasesSessions: releasesSessions)
      client = try TLSContext.client(caFile: folder.file("cert.pem"))
    }
  }

  @Test(arguments: [false, true])
  func pushesTravelOverTLSAndSessionsAreResumed(isReleased: Bool) throws {
    signal(SIGPIPE, SIG_IGN)
    let certificate = try Certificate(releasesSessions: isReleased)
    let server = try TestServer(tls: certificate.server)
    let (device, identity) = try server.device(tls: certificate.client)
    let text = String(repeating: "x", count: 40_000)
    let ids = try (0..<50).map { _ in try server.push(text, to: .all) }
    let arrived = try device.pushes(50).map(\.id)
    #expect(arrived == ids)
    try device.acknowledge(ids)
    _ = try device.perform(.checkTag("a"))
    #expect(server.waiting(for: identity.id) == [])
    let session = try #require(device.exportSession())
    let again = try TestDevice(port: server.port, tls: certificate.client, resuming: session)
    #expect(again.isResumed)
    try again.send(TestDevice.hello)
    _ = try again.next()
    try again.login(server.app.key, identity)
    _ = try again.expectLogin()
    #expect(try again.perform(.getAlias).0 == .ok)
  }

  @Test func plainBytesOnTheTLSPortEndTheConnection() throws {
    signal(SIGPIPE, SIG_IGN)
    let certificate = try Certificate()
    let server = try TestServer(tls: certificate.server, loops: 1)
    let unauthenticated = try TestDevice(port: server.port)
    try unauthenticated.send(TestDevice.hello)
    // Bytes of a TLS alert, or nothing, then the end; never an answer of ours.
    #expect(throws: TestServer.Failed.self) {
      if try unauthenticated.next() == .end { throw TestServer.Failed("ended") }
    }
    let (device, _) = try server.device(tls: certificate.client)
    #expect(try device.perform(.getAlias).0 == .ok)
    #expect(server.metrics.render().contains("borealis_device_tls_failures_total 1"))
  }
}
