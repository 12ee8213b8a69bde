import BorealisNet
import Channels
import HTTP
import Testing

/// Against an HTTP/2 server that is not ours.
@Suite(.enabled(if: Nghttpd.isInstalled, "nghttp2-server is not installed"), .timeLimit(.minutes(5)))
struct NghttpdTests {
  @Test(arguments: [1, 7, 1000]) func allAreDelivered(streams: Int) async throws {
    let server = try Nghttpd(streams: streams)
    let tls = try HTTP2PoolConfiguration.tls(trust: .pem(server.certificate))
    var configuration = HTTP2PoolConfiguration(host: "localhost", port: server.port, tls: tls)
    // It may not listen yet.
    configuration.longestWaitMilliseconds = 50
    configuration.connections = 2
    let loop = try await ClientLoop()
    let source = TestSource()
    let pool = source.start(on: loop, configuration)
    source.push(0..<2000, payload: 2000)
    await source.untilSettled(2000)
    #expect(source.results.values.allSatisfy { $0 == [delivered] })
    #expect(pool.status.streamLimit >= streams)
    #expect(pool.status.notSent == 0)
    #expect(pool.status.unknown == 0)
  }

  @Test func aKilledServerLosesNothingUnknowingly() async throws {
    var server: Nghttpd? = try Nghttpd(streams: 100)
    let certificate = try #require(server).certificate
    let tls = try HTTP2PoolConfiguration.tls(trust: .pem(certificate))
    var configuration = HTTP2PoolConfiguration(host: "localhost", port: try #require(server).port, tls: tls)
    configuration.longestWaitMilliseconds = 50
    let loop = try await ClientLoop()
    let source = TestSource(repeats: false)
    let pool = source.start(on: loop, configuration)
    source.push(0..<20_000)
    await source.untilSettled(100)
    server = nil
    try await eventually { pool.status.ready == 0 }
    // All that was taken has exactly one result; the rest is still with the source.
    await source.until { $0.results.count + $0.queue.count == 20_000 }
    #expect(source.results.values.allSatisfy { $0.count == 1 })
    #expect(pool.status.openStreams == 0)
  }
}
