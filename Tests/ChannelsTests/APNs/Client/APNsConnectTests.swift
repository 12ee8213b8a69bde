import BorealisBase
import BorealisNet
import CLinux
import Channels
import HTTP
import Model
import Synchronization
import Testing

/// Connections that must not come about, each with a reason that an operator understands.
@Suite(.timeLimit(.minutes(5))) struct APNsConnectTests {
  private func firstFailure(_ configuration: HTTP2PoolConfiguration) async throws -> String {
    let loop = try await ClientLoop()
    let source = TestSource()
    let pool = source.start(on: loop, configuration)
    source.push(0..<1)
    // What the server lacks may be told before.
    await source.until { $0.events.contains { if case .failed = $0 { true } else { false } } }
    #expect(source.results.isEmpty)
    #expect(pool.status.connected == 0)
    return try #require(source.failures.first)
  }

  @Test func anotherName() async throws {
    let server = try FakeAPNs(name: "api.example.com")
    let reason = try await firstFailure(try testConfiguration(server))
    #expect(reason.contains("certificate refused: hostname mismatch"), "\(reason)")
  }

  @Test func anUnknownCA() async throws {
    let server = try FakeAPNs()
    let outsider = try FakeAPNs()
    let reason = try await firstFailure(try testConfiguration(server, trust: outsider.certificate))
    #expect(reason.contains("certificate refused: self-signed certificate"), "\(reason)")
  }

  @Test func noHTTP2() async throws {
    let server = try FakeAPNs(protocols: ["http/1.1"])
    let reason = try await firstFailure(try testConfiguration(server))
    #expect(reason.contains("no application protocol"), "\(reason)")
    let silent = try FakeAPNs(protocols: [])
    let other = try await firstFailure(try testConfiguration(silent))
    #expect(other.contains("does not speak HTTP/2"), "\(other)")
  }

  @Test func noListener() async throws {
    let listener = try SystemError.check(cl_listen("127.0.0.1", 0, 1, 0), "listen")
    let port = UInt16(try SystemError.check(cl_local_port(listener), "getsockname"))
    _ = cl_close(listener)
    let tls = try HTTP2PoolConfiguration.tls()
    let reason = try await firstFailure(HTTP2PoolConfiguration(host: "localhost", port: port, tls: tls))
    #expect(reason.contains("port \(port): Connection refused"), "\(reason)")
  }

  @Test func noSuchName() async throws {
    let tls = try HTTP2PoolConfiguration.tls()
    let reason = try await firstFailure(HTTP2PoolConfiguration(host: "no-such-host.invalid", tls: tls))
    #expect(reason.contains("cannot be looked up"), "\(reason)")
  }

  /// As when a credential is removed while the name server does not answer.
  @Test func aPoolThatClosesWhileItsHostIsLookedUp() async throws {
    let (resolver, gate) = (NameResolver(), BorealisBase.Semaphore())
    resolver.resolve("localhost") { _ in gate.wait() }
    let loop = try await ClientLoop(resolver: resolver)
    let configuration = HTTP2PoolConfiguration(
      host: "no-such-host.invalid", tls: try HTTP2PoolConfiguration.tls())
    let source = TestSource()
    let pool = source.start(on: loop, configuration)
    source.push(0..<1)
    try await eventually { pool.status.connecting == 1 }
    pool.close(drain: true)
    await source.until { $0.events.contains { if case .closed = $0 { true } else { false } } }
    gate.signal()
    // Its name is looked up after the other one.
    let next = TestSource()
    let later = next.start(on: loop, configuration)
    next.push(0..<1)
    await next.until { $0.events.contains { if case .failed = $0 { true } else { false } } }
    #expect(later.status.connected == 0 && source.failures.isEmpty)
  }

  @Test func aSilentListener() async throws {
    let listener = try SystemError.check(cl_listen("127.0.0.1", 0, 8, 0), "listen")
    defer { _ = cl_close(listener) }
    let port = UInt16(try SystemError.check(cl_local_port(listener), "getsockname"))
    var configuration = HTTP2PoolConfiguration(
      host: "127.0.0.1", port: port, tls: try HTTP2PoolConfiguration.tls())
    configuration.connectMilliseconds = 500
    let reason = try await firstFailure(configuration)
    #expect(reason.contains("TLS with 127.0.0.1: no answer"), "\(reason)")
  }

  @Test func itGoesOnOnceTheServerIsThere() async throws {
    let server = try FakeAPNs(began: { $0.id <= 3 ? $0.cut() : () })
    let loop = try await ClientLoop()
    let source = TestSource()
    let pool = source.start(on: loop, try testConfiguration(server))
    source.push(0..<10)
    await source.untilSettled(10)
    #expect(source.failures.count == 3)
    try await eventually { pool.status.failuresInRow == 0 }
    #expect(source.results.values.allSatisfy { $0 == [delivered] })
  }

  @Test func withoutATokenNothingLeaves() async throws {
    let server = try FakeAPNs()
    let loop = try await ClientLoop()
    let source = TestSource()
    let pool = source.start(on: loop, try testConfiguration(server))
    pool.setAuthorization([])
    pool.pause()
    source.push(0..<1)
    pool.resume()
    try await eventually { !pool.status.isPaused }
    pool.setAuthorization(Array("bearer other".utf8))
    await source.untilSettled(1)
    let seen = server.requests.withLock { $0.map { $0.headers.text("authorization") } }
    #expect(seen == ["bearer other"])
  }
}
