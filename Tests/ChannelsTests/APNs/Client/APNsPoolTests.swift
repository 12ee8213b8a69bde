import BorealisNet
import Channels
import HTTP
import Model
import Synchronization
import Testing

/// A configuration for a fake server that it may trust, with waits fit for a test.
func testConfiguration(
  _ server: FakeAPNs, trust: [UInt8]? = nil, host: String = "localhost"
) throws -> HTTP2PoolConfiguration {
  let tls = try HTTP2PoolConfiguration.tls(trust: .pem(trust ?? server.certificate))
  var configuration = HTTP2PoolConfiguration(host: host, port: server.port, tls: tls)
  configuration.longestWaitMilliseconds = 50
  configuration.connections = 1
  return configuration
}

let delivered = APNsResult.answered(APNsAnswer(status: 200))

@Suite(.timeLimit(.minutes(5))) struct APNsPoolTests {
  @Test func requestsCarryWhatAppleAsksFor() async throws {
    let server = try FakeAPNs()
    let loop = try await ClientLoop()
    let source = TestSource()
    let pool = source.start(on: loop, try testConfiguration(server))
    source.push(0..<3)
    await source.untilSettled(3)
    let seen = server.requests.withLock { $0 }
    #expect(seen.count == 3)
    let pairs = try #require(seen.first).headers.pairs.map { "\($0.name)=\($0.value)" }
    #expect(
      pairs == [
        ":method=POST", ":scheme=https", ":authority=localhost",
        ":path=/3/device/" + String(repeating: "00", count: 32), "authorization=bearer token",
        "apns-topic=com.example.app", "apns-push-type=alert", "apns-priority=10",
        "apns-id=00000000-0000-0001-0000-000000000000",
      ])
    try await eventually { pool.status.answered == 3 }
    try await eventually { pool.status.connected == 1 }
  }

  @Test func manyAreUnderWayAtOnce() async throws {
    let held = Mutex<[Int32]>([])
    let server = try FakeAPNs { request, connection in
      // Nothing is answered before a hundred have come.
      let all = held.withLock { held in
        held.append(request.streamID)
        return held.count == 100 ? held : []
      }
      for id in all { connection.answer(id, HTTP2Answer(status: 200)) }
    }
    let loop = try await ClientLoop()
    let source = TestSource()
    let pool = source.start(on: loop, try testConfiguration(server))
    source.push(0..<100)
    await source.untilSettled(100)
    #expect(source.results.values.allSatisfy { $0 == [delivered] })
    try await eventually { pool.status.openStreams == 0 }
  }

  @Test(arguments: [0, 4096]) func everyRequestHasOneResult(payload: Int) async throws {
    let server = try FakeAPNs()
    let loop = try await ClientLoop()
    let source = TestSource()
    _ = source.start(on: loop, try testConfiguration(server))
    source.push(0..<3000, payload: payload)
    await source.untilSettled(3000)
    #expect(source.results.values.allSatisfy { $0 == [delivered] })
    #expect(source.largestBatch <= 128)
  }

  @Test func reasonsAreRead() async throws {
    let server = try FakeAPNs { request, connection in
      var headers = HTTP2Headers()
      headers.append("apns-unique-id", text: "abc")
      let body = #"{"reason":"Unregistered","timestamp":1767225600123}"#
      connection.answer(
        request.streamID, HTTP2Answer(status: 410, headers: headers, body: Array(body.utf8), chunkBytes: 7))
    }
    let loop = try await ClientLoop()
    let source = TestSource()
    _ = source.start(on: loop, try testConfiguration(server))
    source.push(0..<1)
    await source.untilSettled(1)
    let answer = APNsAnswer(
      status: 410, body: Array(#"{"reason":"Unregistered","timestamp":1767225600123}"#.utf8))
    #expect(answer.knownReason == .unregistered)
    #expect(source.results[0] == [.answered(answer, uniqueID: "abc")])
  }

  @Test func theLimitOfStreamsIsFollowed() async throws {
    var options = HTTP2ServerOptions()
    options.session.maxConcurrentStreams = 1
    let server = try FakeAPNs(options: options) { request, connection in
      connection.answer(request.streamID, HTTP2Answer(status: 200))
      if request.streamID == 21 { connection.setMaxConcurrentStreams(50) }
      if request.streamID == 801 { connection.setMaxConcurrentStreams(1) }
    }
    let loop = try await ClientLoop()
    let source = TestSource()
    let pool = source.start(on: loop, try testConfiguration(server))
    source.push(0..<1000)
    await source.untilSettled(1000)
    #expect(source.results.values.allSatisfy { $0.last == delivered })
    // What crossed the last change on its way may have been refused, and was sent again.
    #expect(
      server.notices.withLock { $0 }.allSatisfy { if case .violation(0, _) = $0 { false } else { true } })
    try await eventually { pool.status.streamLimit == 1 }
    try await eventually { pool.status.connected == 1 }
  }

  @Test func refusedStreamsAreNotSent() async throws {
    let count = Mutex(0)
    let server = try FakeAPNs { request, connection in
      let number = count.withLock { count in
        count += 1
        return count
      }
      if number.isMultiple(of: 3) {
        connection.reset(request.streamID, .refusedStream)
      } else {
        connection.answer(request.streamID, HTTP2Answer(status: 200))
      }
    }
    let loop = try await ClientLoop()
    let source = TestSource()
    let pool = source.start(on: loop, try testConfiguration(server))
    source.push(0..<300)
    await source.untilSettled(300)
    #expect(
      source.results.values.allSatisfy { $0.last == delivered && $0.dropLast().allSatisfy { $0 == .refused } }
    )
    try await eventually { pool.status.notSent > 0 }
  }

  @Test func otherResetsLeaveItUnknown() async throws {
    let server = try FakeAPNs { request, connection in connection.reset(request.streamID, .internalError) }
    let loop = try await ClientLoop()
    let source = TestSource()
    _ = source.start(on: loop, try testConfiguration(server))
    source.push(0..<2)
    await source.untilSettled(2)
    #expect(source.results.values.allSatisfy { $0 == [.unknown] })
  }

  @Test func goAwayStormsLoseAndDoubleNothing() async throws {
    let total: UInt64 = 2000
    let box = Mutex<FakeAPNs?>(nil)
    let server = try FakeAPNs { request, connection in
      // Every 37th request is the last that the connection serves; what comes after it is not processed.
      guard connection.attachment == nil else { return }
      box.withLock { $0 }?.accept(request, connection)
      guard connection.requests == 37 else { return }
      connection.attachment = request.body as AnyObject
      connection.goAway(last: request.streamID, debug: Array(#"{"reason":"Shutdown"}"#.utf8))
    }
    box.withLock { $0 = server }
    defer { box.withLock { $0 = nil } }
    let loop = try await ClientLoop()
    let source = TestSource()
    let pool = source.start(on: loop, try testConfiguration(server))
    source.push(0..<total)
    await source.untilSettled(Int(total))
    #expect(source.results.values.allSatisfy { $0.last == delivered })
    #expect(source.results.values.allSatisfy { $0.dropLast().allSatisfy { $0 == .notSent } })
    let accepted = server.accepted.withLock { $0 }
    #expect(accepted.count == Int(total))
    #expect(Set(accepted).count == Int(total))
    try await eventually { pool.status.goAways >= 50 }
    // Each connection served something, so none had to wait.
    #expect(pool.status.failuresInRow == 0)
    #expect(source.failures.isEmpty)
  }

  @Test func whatHasNotLeftComesBackWhenItIsWanted() async throws {
    // The server gives bodies no room, so no request leaves in full.
    var options = HTTP2ServerOptions()
    options.session.streamWindow = 0
    let server = try FakeAPNs(options: options)
    let loop = try await ClientLoop()
    let source = TestSource(repeats: false)
    let pool = source.start(on: loop, try testConfiguration(server))
    source.push(0..<3)
    try await eventually { pool.status.openStreams == 3 }
    pool.recall([1, 77])
    await source.until { $0.results[1] != nil }
    #expect(source.results == [1: [.notSent]])
    try await eventually { pool.status.openStreams == 2 }
  }

  @Test func aCutConnectionLeavesItUnknown() async throws {
    let server = try FakeAPNs { request, connection in
      if request.body == Array("5".utf8) { connection.cut() } else { return }
    }
    let loop = try await ClientLoop()
    let source = TestSource(repeats: false)
    let pool = source.start(on: loop, try testConfiguration(server))
    source.push(0..<6)
    await source.untilSettled(6)
    #expect(source.results.values.allSatisfy { $0 == [.unknown] })
    try await eventually { pool.status.failed == 1 }
    #expect(source.failures.count == 1)
    // Nobody has tried another one.
    #expect(pool.status.failingSince == nil && pool.status.lastFailure != nil)
  }

  @Test func aFrozenServerIsFound() async throws {
    let server = try FakeAPNs { request, connection in
      connection.attachment == nil ? connection.freeze() : ()
      connection.attachment = request.body as AnyObject
    }
    let loop = try await ClientLoop()
    let source = TestSource(repeats: false)
    var configuration = try testConfiguration(server)
    configuration.lagMilliseconds = 300
    configuration.pingMilliseconds = 300
    _ = source.start(on: loop, configuration)
    source.push(0..<3)
    await source.untilSettled(3)
    #expect(source.results.values.allSatisfy { $0 == [.unknown] })
    #expect(source.failures.first?.contains("no sign of life") == true)
  }

  @Test func lateAnswersAreGivenUpAloneWhileTheConnectionLives() async throws {
    let server = try FakeAPNs { request, connection in
      if request.body != Array("1".utf8) { connection.answer(request.streamID, HTTP2Answer(status: 200)) }
    }
    let loop = try await ClientLoop()
    let source = TestSource(repeats: false)
    var configuration = try testConfiguration(server)
    configuration.answerMilliseconds = 500
    configuration.lagMilliseconds = 100
    let pool = source.start(on: loop, configuration)
    source.push(0..<3)
    await source.untilSettled(3)
    #expect(source.results == [0: [delivered], 1: [.unknown], 2: [delivered]])
    #expect(pool.status.failed == 0)
    source.push(3..<4)
    await source.untilSettled(4)
    #expect(server.opened.withLock { $0 } == 1)
    #expect(
      server.notices.withLock { $0 }.contains { if case .reset(_, .cancel) = $0 { true } else { false } })
  }

  @Test func idleConnectionsArePinged() async throws {
    let server = try FakeAPNs()
    let loop = try await ClientLoop()
    let source = TestSource()
    var configuration = try testConfiguration(server)
    configuration.idleMilliseconds = 1
    _ = source.start(on: loop, configuration)
    source.push(0..<1)
    await source.untilSettled(1)
    // The first ping comes at the next tick; requests go on meanwhile.
    var tag: UInt64 = 1
    try await eventually {
      source.push(tag..<tag + 1)
      tag += 1
      return server.notices.withLock { $0.contains(.ping) }
    }
    await source.untilSettled(Int(tag))
    #expect(source.failures.isEmpty)
  }

  @Test func aFullPoolGrows() async throws {
    var options = HTTP2ServerOptions()
    options.session.maxConcurrentStreams = 2
    let server = try FakeAPNs(options: options, afterMilliseconds: 20)
    let loop = try await ClientLoop()
    let source = TestSource()
    var configuration = try testConfiguration(server)
    configuration.connections = 3
    configuration.growMilliseconds = 10
    let pool = source.start(on: loop, configuration)
    source.push(0..<200)
    await source.untilSettled(200)
    try await eventually { pool.status.ready == 3 }
    #expect(source.results.values.allSatisfy { $0 == [delivered] })
  }

  @Test func aPausedPoolTakesNothing() async throws {
    let server = try FakeAPNs()
    let loop = try await ClientLoop()
    let source = TestSource()
    let pool = source.start(on: loop, try testConfiguration(server))
    source.push(0..<1)
    await source.untilSettled(1)
    pool.pause()
    source.push(1..<10)
    try await eventually { pool.status.isPaused }
    #expect(source.queued == 9)
    pool.resume()
    await source.untilSettled(10)
  }

  @Test func withoutRequestsThereIsNoConnection() async throws {
    let server = try FakeAPNs()
    let loop = try await ClientLoop()
    let source = TestSource()
    let pool = source.start(on: loop, try testConfiguration(server))
    pool.pause()
    try await eventually { pool.status.isPaused }
    pool.resume()
    try await eventually { !pool.status.isPaused }
    #expect(pool.status.connecting == 0)
    source.push(0..<1)
    await source.untilSettled(1)
    #expect(server.opened.withLock { $0 } == 1)
  }

  @Test func aDrainWaitsForAnswers() async throws {
    let server = try FakeAPNs(afterMilliseconds: 200)
    let loop = try await ClientLoop()
    let source = TestSource()
    let pool = source.start(on: loop, try testConfiguration(server))
    source.push(0..<5)
    try await eventually { source.queued == 0 }
    pool.close(drain: true)
    source.push(5..<8)
    await source.until { $0.events.contains(.closed) }
    #expect(source.results.count == 5)
    #expect(source.results.values.allSatisfy { $0 == [delivered] })
    #expect(source.queued == 3)
  }

  @Test func renewedConnectionsAreNew() async throws {
    let server = try FakeAPNs()
    let loop = try await ClientLoop()
    let source = TestSource()
    let pool = source.start(on: loop, try testConfiguration(server))
    source.push(0..<1)
    await source.untilSettled(1)
    pool.renewConnections()
    source.push(1..<2)
    await source.untilSettled(2)
    #expect(server.opened.withLock { $0 } == 2)
  }
}
