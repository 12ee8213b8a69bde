import BorealisBase
import BorealisProtocol
import PushTesting
import Testing

/// Devices behind a load balancer that sends the PROXY protocol.
@Suite struct ProxyProtocolTests {
  let folder = TemporaryFolder()

  private func server(_ arguments: [String]) throws -> (TestServer, TestServer.App) {
    let server = try TestServer(data: folder.path + "/data", arguments)
    return (server, try server.makeApp())
  }

  private func failures(_ server: TestServer) throws -> Int {
    let line = try server.call("GET", "/metrics").body.split(separator: "\n").first {
      $0.hasPrefix("borealis_device_proxy_failures_total ")
    }
    return line?.split(separator: " ").last.flatMap { Int($0) } ?? -1
  }

  private static func v2(_ last: UInt8) -> [UInt8] {
    [
      13, 10, 13, 10, 0, 13, 10, 0x51, 0x55, 0x49, 0x54, 10, 0x21, 0x11, 0, 12, 192, 0, 2, last, 192, 0, 2,
      99,
    ]
      + [1, 2, 3, 4]
  }

  /// Registers behind a header, which comes in pieces of so many bytes; whether it was granted.
  private func register(
    _ install: String, _ server: TestServer, _ app: TestServer.App, _ header: [UInt8], pieces: Int
  ) throws -> Bool {
    let socket = try TestSocket(server.device)
    var rest = header[...]
    while !rest.isEmpty {
      try socket.send(Array(rest.prefix(pieces)))
      rest = rest.dropFirst(pieces)
    }
    return (try? TestDevice.register(socket, app: app.key, install: install)) != nil
  }

  @Test func `Limits count the clients that the balancer names`() throws {
    let (server, app) = try server(["--device-proxies", "127.0.0.1", "--network-registrations", "1"])
    let one = Array("PROXY TCP4 192.0.2.1 192.0.2.99 4711 7443\r\n".utf8)
    #expect(try register("a", server, app, one, pieces: 100))
    #expect(try register("b", server, app, Self.v2(2), pieces: 1))
    #expect(try register("c", server, app, Array("PROXY TCP6 2001:db8::1 ::1 1 2\r\n".utf8), pieces: 7))
    #expect(try !register("d", server, app, Self.v2(1), pieces: 100))
    // The balancer itself.
    #expect(try register("e", server, app, Array("PROXY UNKNOWN\r\n".utf8), pieces: 100))
    #expect(try failures(server) == 0)
  }

  @Test func `Who must send a header and does not is disconnected, and who must not neither`() throws {
    let (server, app) = try server(["--device-proxies", "127.0.0.1"])
    #expect(try !register("a", server, app, [], pieces: 1))
    #expect(try RunningProgram.eventually { try failures(server) == 1 })
    server.program.signal(9)
    _ = try server.program.end()
    let other = try TestServer(data: folder.path + "/data", ["--device-proxies", "192.0.2.0/24"])
    #expect(try !register("b", other, app, Array("PROXY UNKNOWN\r\n".utf8), pieces: 100))
    #expect(try register("c", other, app, [], pieces: 1))
  }
}
