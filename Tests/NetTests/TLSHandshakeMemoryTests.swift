import BorealisNet
import COpenSSL
import Glibc
import HTTP
import PushTesting
import Testing

/// What somebody may ask of TLS before anybody knows who it is.
@Suite struct TLSHandshakeMemoryTests {
  private let files: TLSTestFiles
  private let trust: TLSContext
  private let server: HTTPTestServer

  init() throws {
    signal(SIGPIPE, SIG_IGN)
    files = try TLSTestFiles()
    trust = try TLSContext.client(caFile: files.certificate)
    var limits = HTTPServerLimits()
    limits.handshakeSeconds = 60
    server = try HTTPTestServer(limits: limits, tls: files.server())
  }

  private func number(_ value: Int, _ bytes: Int) -> [UInt8] {
    (0..<bytes).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }

  private func counted(_ content: [UInt8], _ bytes: Int) -> [UInt8] { number(content.count, bytes) + content }

  /// A ClientHello of TLS 1.3 without a share, for one group, as a handshake message (RFC 8446 section
  /// 4.1.2).
  private func hello(group: Int, padding: Int = 0) -> [UInt8] {
    func field(_ kind: Int, _ content: [UInt8]) -> [UInt8] { number(kind, 2) + counted(content, 2) }
    let extensions =
      field(0x2b, [2, 3, 4]) + field(10, counted(number(group, 2), 2)) + field(13, counted([4, 3, 8, 4], 2))
      + field(51, [0, 0]) + field(21, [UInt8](repeating: 0, count: padding))
    let body =
      [3, 3] + [UInt8](repeating: 7, count: 32) + [0] + counted([0x13, 1], 2) + [1, 0]
      + counted(extensions, 2)
    return [1] + counted(body, 3)
  }

  private func record(_ content: [UInt8]) -> [UInt8] { [22, 3, 1] + counted(content, 2) }

  /// Only groups that cost little are there: for the others the answer is an alert, not another round.
  @Test(arguments: [
    (0x1d, true), (0x17, true), (0x18, true), (0x19, false), (0x1e, false), (0x100, false), (0x101, false),
    (0x102, false),
    (0x103, false), (0x104, false), (0x15, false), (0x16, false),
  ])
  func groups(group: Int, isServed: Bool) throws {
    let client = try HTTPTestClient(server)
    try client.send(record(hello(group: group)))
    let answer = try client.read()
    #expect(answer.first == (isServed ? 22 : 21))
    if !isServed { #expect(answer.count == 7 && Array(answer.suffix(2)) == [2, 40]) }
  }

  /// OpenSSL makes room for a hello of 128 KiB as soon as it is announced.
  @Test(arguments: [(8 << 10, true), (8 << 10 + 1, false), (100_000, false), (131_396, false)])
  func largeHellos(size: Int, isAwaited: Bool) throws {
    let client = try HTTPTestClient(server)
    try client.send(record([1] + number(size, 3)))
    guard isAwaited else {
      #expect(try client.rest() == "")
      #expect(server.metric("borealis_http_failed_handshakes_total") == 1)
      return
    }
    #expect(try HTTPTestClient(server, tls: trust).get("/") == "GET / ")
    #expect(!client.hears(withinMilliseconds: 0))
  }

  /// A hello may come in pieces, but not in any number of them.
  @Test func pieces() throws {
    let message = hello(group: 0x1d)
    let few = try HTTPTestClient(server)
    for start in stride(from: 0, to: message.count, by: 4) {
      try few.send(record(Array(message[start..<min(start + 4, message.count)])))
    }
    #expect(try few.read().first == 22)
    let many = try HTTPTestClient(server)
    try many.send(message.flatMap { record([$0]) })
    #expect(try many.rest() == "")
  }

  /// After a request for another share the second hello is bounded like the first, also behind the change of
  /// ciphers that middleboxes want to see.
  @Test(arguments: [[], [20, 3, 3, 0, 1, 1]] as [[UInt8]])
  func secondHellos(between: [UInt8]) throws {
    let client = try HTTPTestClient(server)
    try client.send(record(hello(group: 0x17)))
    #expect(try client.read().first == 22)
    try client.send(between + record([1] + number(100_000, 3)))
    #expect(try client.rest() == "")
    #expect(server.metric("borealis_http_failed_handshakes_total") == 1)
  }

  /// A hello of a usual size that is padded is one that is served.
  @Test func paddedHellos() throws {
    let client = try HTTPTestClient(server)
    try client.send(record(hello(group: 0x1d, padding: 4000)))
    #expect(try client.read().first == 22)
  }

  /// New keys are derived for a peer now and then, not as often as it likes; TLS 1.2 has nothing of the kind.
  @Test(arguments: [(3, true), (200, false)]) func keyUpdates(count: Int, isServed: Bool) throws {
    let client = try RawTLSClient(port: server.port)
    for _ in 0..<count { client.updateKeys() }
    let answer = client.exchange("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
    #expect(answer.hasPrefix("HTTP/1.1 200") == isServed)
    #expect(try HTTPTestClient(server, tls: trust).get("/") == "GET / ")
  }

  @Test func onlyTLS12() throws {
    let old = try TLSContext.client(caFile: files.certificate, versions: .only12)
    #expect(try HTTPTestClient(server, tls: old).get("/") == "GET / ")
  }

  /// Over TLS browsers are told to stay there; not for a name that means another machine for each of them
  /// (RFC 6797).
  @Test func strictTransport() throws {
    func field(_ server: HTTPTestServer, _ tls: TLSContext?, _ fields: String, _ start: String = "GET /")
      throws -> String?
    {
      let client = try HTTPTestClient(server, tls: tls)
      try client.send("\(start) HTTP/1.1\r\n\(fields)\r\n\r\n")
      return try client.response()?.headers["strict-transport-security"]
    }
    let year = "max-age=31536000"
    #expect(try field(server, trust, "Host: push.example.com") == year)
    #expect(try field(server, trust, "Host: push.example.com", "GET /barred") == year)
    #expect(try field(server, trust, "Host: push.example.com\r\nContent-Length: x") == year)
    #expect(try field(server, trust, "Host: localhost:8443") == nil)
    let plain = try HTTPTestServer()
    #expect(try field(plain, nil, "Host: push.example.com") == nil)
    #expect(try field(plain, nil, "Host: push.example.com\r\nX-Forwarded-Proto: https") == year)
    #expect(try field(plain, nil, "Host: push.example.com\r\nX-Forwarded-Proto: http") == nil)
  }
}

/// A client of OpenSSL's own that can do what no client of ours does.
private final class RawTLSClient {
  private let context: OpaquePointer?
  private let session: OpaquePointer?
  private let descriptor: Int32

  struct Failed: Error {}

  init(port: UInt16) throws {
    descriptor = socket(AF_INET, SocketKind.stream, 0)
    context = SSL_CTX_new(TLS_client_method())
    session = SSL_new(context)
    var place = sockaddr_in()
    place.sin_family = sa_family_t(AF_INET)
    place.sin_port = port.bigEndian
    inet_pton(AF_INET, "127.0.0.1", &place.sin_addr)
    let status = withUnsafePointer(to: &place) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard status == 0, SSL_set_fd(session, descriptor) == 1, SSL_connect(session) == 1 else { throw Failed() }
  }

  deinit {
    SSL_free(session)
    SSL_CTX_free(context)
    close(descriptor)
  }

  /// Sends a KeyUpdate (RFC 8446 section 4.6.3); a peer that has gone is noticed later.
  func updateKeys() {
    guard SSL_key_update(session, SSL_KEY_UPDATE_NOT_REQUESTED) == 1 else { return }
    _ = SSL_do_handshake(session)
  }

  /// Sends text and gives what comes up to the end.
  func exchange(_ text: String) -> String {
    _ = SSL_write(session, text, Int32(text.utf8.count))
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while case let count = SSL_read(session, &buffer, Int32(buffer.count)), count > 0 {
      bytes += buffer[..<Int(count)]
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
