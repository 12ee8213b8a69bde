import BorealisBase
import BorealisProtocol
import Model
import PushTesting
import Testing

@testable import DeviceGateway

/// Sessions that another process goes on with, without a socket.
@Suite struct PassedSessionTests {
  private static let now: UInt32 = 5000

  private static func bytes(_ session: DeviceSession) -> [UInt8] {
    var writer = ByteWriter()
    session.write(to: &writer, at: now)
    return writer.bytes
  }

  /// What another process makes of it, whose clock is another one.
  private static func pass(_ bytes: [UInt8], at second: UInt32 = 70) -> DeviceSession? {
    var reader = ByteReader(bytes)
    let session = DeviceSession(from: &reader, at: second, webSocketLimit: 1000)
    return reader.remaining == 0 ? session : nil
  }

  private static func full() -> DeviceSession {
    var session = DeviceSessionTests.session(.loggedIn, version: 6)
    session.platform = Platform.ios.rawValue
    session.deadline = now + 40
    (session.sentThrough, session.newestWhileAway) = (MessageID(900), MessageID(100))
    (session.unsettled, session.unstored, session.isForeground) = (20, 5, true)
    let extras = session.extend()
    extras.hold(Array(0..<50), 10..<40, until: now + 7)
    for id in 901...910 as ClosedRange<UInt64> { extras.noteOutOfTurn(MessageID(id)) }
    for id in 800...803 as ClosedRange<UInt64> { extras.noteLeft(MessageID(id)) }
    extras.noteReported([MessageID(890)], at: Timestamp(milliseconds: 1234))
    extras.noteRecalled(MessageID(5))
    return session
  }

  @Test func `A session goes on with what it has sent and not been told`() throws {
    let passed = try #require(Self.pass(Self.bytes(Self.full())))
    #expect(passed.phase == .loggedIn && passed.version == 6 && passed.heartbeat == 60)
    #expect(passed.platform == Platform.ios.rawValue && passed.isForeground && !passed.isWebSocket)
    #expect(passed.sentThrough == MessageID(900) && passed.newestWhileAway == MessageID(100))
    // What was acknowledged is stored by then.
    #expect(passed.unsettled == 15 && passed.unstored == 0)
    // By the reader's clock.
    #expect(passed.deadline == 110)
    let extras = try #require(passed.extras)
    #expect(extras.partial == Array(10..<40) && extras.partialDeadline == 77)
    #expect(extras.sentOutOfTurn == Set((901...910).map { MessageID($0) }))
    #expect(extras.left == [800, 801, 802, 803].reduce(into: [:]) { $0[MessageID($1)] = false })
    #expect(extras.reported == [MessageID(890): Timestamp(milliseconds: 1234)])
    #expect(extras.recalled.isEmpty && !extras.hasForgottenLeft)
    #expect(passed.readThrough == MessageID(799))
  }

  /// Versions that know the same `UpgradeOffer.form` write the same: who changes this raises it.
  @Test func `A session is written as it always was`() {
    var session = DeviceSessionTests.session(.loggedIn, version: 6)
    session.platform = Platform.ios.rawValue
    session.deadline = Self.now + 40
    (session.sentThrough, session.newestWhileAway) = (MessageID(900), MessageID(100))
    (session.unsettled, session.unstored, session.isForeground) = (20, 5, true)
    let extras = session.extend()
    extras.hold([7, 8, 9], 0..<3, until: Self.now + 7)
    extras.noteOutOfTurn(MessageID(901))
    extras.noteLeft(MessageID(800))
    extras.noteReported([MessageID(890)], at: Timestamp(milliseconds: 1234))
    // Phase, marks, version, platform, heartbeat, seconds left, sent, newest before, not acknowledged.
    let core: [UInt8] = [
      5, 5, 6, Platform.ios.rawValue, 0, 60, 0, 0, 0, 40, 0, 0, 0, 0, 0, 0, 3, 132, 0, 0, 0, 0, 0, 0, 0, 100,
      0, 15,
    ]
    // A part of a frame and its seconds, out of turn, left, none forgotten, reported.
    let more: [UInt8] = [
      0, 0, 0, 3, 7, 8, 9, 0, 0, 0, 7, 0, 1, 0, 0, 0, 0, 0, 0, 3, 133, 0, 1, 0, 0, 0, 0, 0, 0, 3, 32, 0, 0, 1,
      0, 0, 0, 0, 0, 0, 3, 122, 0, 0, 0, 0, 0, 0, 4, 210,
    ]
    #expect(Self.bytes(session) == core + more)
  }

  @Test func `Few sessions have extras`() throws {
    for phase in [DeviceSession.Phase.greeting, .greeted, .loggedIn] {
      var session = DeviceSessionTests.session(phase)
      session.deadline = Self.now - 1
      let bytes = Self.bytes(session)
      #expect(bytes.count < 40)
      let passed = try #require(Self.pass(bytes))
      // It is overdue there, too.
      #expect(passed.phase == phase && passed.extras == nil && passed.deadline == 70)
    }
  }

  @Test func `All that was left is left, and that there was more`() throws {
    var session = Self.full()
    for id in 1...200 as ClosedRange<UInt64> { session.extend().noteLeft(MessageID(id)) }
    let passed = try #require(Self.pass(Self.bytes(session)))
    #expect(passed.extras?.left.count == SessionExtras.mostLeft)
    #expect(passed.extras?.hasForgottenLeft == true && passed.mustLoginAgain)
  }

  @Test func `A WebSocket goes on between two messages`() throws {
    var session = DeviceSessionTests.session(.loggedIn)
    session.startWebSocket(limit: 1000)
    #expect(session.isPassable)
    let passed = try #require(Self.pass(Self.bytes(session)))
    #expect(passed.isWebSocket && passed.extras?.webSocket != nil && passed.isPassable)
    // The first byte of a frame.
    var input = DeviceInput([0x82], count: 1)
    #expect(session.next(in: &input, DeviceSessionTests.moment, now: DeviceSessionTests.now) == nil)
    #expect(!session.isPassable)
  }

  @Test func `What waits for this process is not passed on`() {
    for phase in [DeviceSession.Phase.vacant, .handshaking, .waiting, .closing] {
      #expect(!DeviceSessionTests.session(phase).isPassable)
      // Nor is it taken.
      #expect(Self.pass(Self.bytes(DeviceSessionTests.session(phase))) == nil)
    }
    var session = DeviceSessionTests.session(.loggedIn)
    #expect(session.isPassable)
    session.isLeaving = true
    #expect(!session.isPassable)
  }

  @Test func `What is not a session is refused, and nothing traps`() {
    let bytes = Self.bytes(Self.full())
    for count in bytes.indices { #expect(Self.pass(Array(bytes.prefix(count))) == nil, "\(count) bytes") }
    #expect(Self.pass(bytes + [0]) == nil)
    var random = SeededRandom(seed: 1)
    for _ in 0..<20_000 {
      var changed = bytes
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        changed[Int.random(in: changed.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      guard let session = Self.pass(changed, at: .random(in: 0...100, using: &random)) else { continue }
      #expect([.greeting, .greeted, .loggedIn].contains(session.phase))
      // What is read is written again.
      #expect(Self.pass(Self.bytes(session)) != nil)
    }
  }
}
