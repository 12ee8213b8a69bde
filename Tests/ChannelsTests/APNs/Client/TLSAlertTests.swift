import BorealisCrypto
import BorealisNet
import Channels
import HTTP
import PushTesting
import Testing

/// One side refuses the other's certificate. With TLS 1.3 a server's refusal comes after the client's
/// handshake is done.
@Suite(.timeLimit(.minutes(5))) struct TLSAlertTests {
  /// A certificate for `localhost` that can be trusted, and its key.
  private struct Pair {
    let certificate: [UInt8]
    let key: [UInt8]

    var identity: TLSIdentity { .pem(certificates: certificate, key: key) }

    static func make() throws -> Pair {
      let made = try SelfSignedCertificate.make(
        commonName: "localhost", dnsNames: ["localhost"], ipAddresses: [], days: 2)
      return Pair(certificate: Array(made.certificatePEM.utf8), key: Array(made.keyPEM.utf8))
    }

    /// One that ended yesterday, made by the `openssl` command.
    static func makeExpired() throws -> Pair {
      let tool = OpenSSLTool()
      try tool.run(
        "req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout key.pem -out request.pem",
        "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost")
      try tool.run(
        "x509 -req -in request.pem -signkey key.pem -days -1 -copy_extensions copy -out certificate.pem")
      return Pair(certificate: tool.bytes("certificate.pem"), key: tool.bytes("key.pem"))
    }
  }

  enum Client: CaseIterable { case unknown, expired, none }

  /// Nothing is lost, the reason is there for people, and when the server has changed its mind all goes out.
  @Test(arguments: Client.allCases) func theServerRefusesTheClient(client: Client) async throws {
    let good = try Pair.make()
    let own: Pair? =
      switch client {
      case .unknown: try Pair.make()
      case .expired: try Pair.makeExpired()
      case .none: nil
      }
    let trusted = client == .expired ? own ?? good : good
    let server = try FakeAPNs(clients: .required(.pem(trusted.certificate)))
    var configuration = HTTP2PoolConfiguration(
      host: "localhost", port: server.port,
      tls: try HTTP2PoolConfiguration.tls(trust: .pem(server.certificate), identity: own?.identity),
      presentsCertificate: true)
    configuration.longestWaitMilliseconds = 50
    let loop = try await ClientLoop()
    let source = TestSource()
    let pool = source.start(on: loop, configuration)
    source.push(0..<10)
    await source.until { $0.events.count >= 3 }
    let reason = try #require(source.failures.first)
    let expected =
      switch client {
      case .unknown: "unknown ca"
      case .expired: "certificate expired"
      case .none: "certificate required"
      }
    #expect(reason.contains("alert") && reason.contains(expected), "\(reason)")
    // Somebody has to look at the certificate: another connection would fare no better.
    await source.until { $0.events.contains { $0 == .refusedCertificate(reason: reason) } }
    // Whoever waits for an answer about the certificate has it before the failure of the connection.
    let refused = try #require(source.events.firstIndex(of: .refusedCertificate(reason: reason)))
    let failed = source.events.firstIndex { if case .failed = $0 { true } else { false } }
    #expect(refused < (try #require(failed)))
    #expect(pool.status.failingSince != nil && pool.status.connectedSince == nil)
    #expect(source.results.isEmpty)
    #expect(pool.status.connected == 0)
    try server.accept(clients: .notAsked)
    await source.untilSettled(10)
    #expect(source.results.values.allSatisfy { $0 == [delivered] })
  }

  @Test func theServersCertificateHasExpired() async throws {
    let old = try Pair.makeExpired()
    let server = try FakeAPNs(identity: old.identity)
    var configuration = HTTP2PoolConfiguration(
      host: "localhost", port: server.port, tls: try HTTP2PoolConfiguration.tls(trust: .pem(old.certificate)))
    configuration.longestWaitMilliseconds = 50
    let loop = try await ClientLoop()
    let source = TestSource()
    let pool = source.start(on: loop, configuration)
    source.push(0..<1)
    await source.until { !$0.events.isEmpty }
    let reason = try #require(source.failures.first)
    #expect(reason.contains("certificate has expired"), "\(reason)")
    #expect(source.results.isEmpty && pool.status.connected == 0)
  }
}
