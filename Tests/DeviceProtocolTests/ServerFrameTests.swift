import BorealisBase
import BorealisProtocol
import Testing

@Suite struct ServerFrameTests {
  @Test func everyFrameSurvivesTheWay() throws {
    for (name, frame) in Samples.server {
      #expect(try decodeServer(Samples.encoded(frame)) == frame, "\(name)")
    }
  }

  @Test func cutOrLongerBodiesAreRefused() {
    // The payload of a RESULT has no end of its own.
    for (name, frame) in Samples.server where frame.type != .result {
      let bytes = Samples.encoded(frame)
      for cut in 2..<bytes.count {
        #expect(throws: FrameError.self, "\(name) cut at \(cut)") {
          _ = try ServerFrame(type: frame.type, body: 2..<cut, in: bytes.span)
        }
      }
      let longer = bytes + [0]
      #expect(throws: FrameError.trailingBytes, "\(name)") {
        _ = try ServerFrame(type: frame.type, body: 2..<longer.count, in: longer.span)
      }
    }
  }

  @Test(
    arguments: [
      ("0aa0000000000000000102", .invalidValue), ("08a000000000000001", .truncatedBody),
      ("0d90018000000000000000" + "00010000", .invalidValue),
      ("1192000003e8000001a3185c500000000002", .invalidValue),
      ("05e103f30300", .invalidValue), ("06e00100000000", .truncatedBody), ("0101", .unknownType),
      ("07b00000000100", .truncatedBody),
    ] as [(String, FrameError)])
  func refuses(hex: String, error: FrameError) throws {
    let bytes = try #require(Hex.decode(hex))
    let frame = [UInt8(bytes.count - 1)] + bytes.dropFirst()
    #expect(throws: error) { _ = try decodeServer(frame) }
  }

  @Test func pushesAreReadInPlace() throws {
    for size in [0, 1, 117, 118, 119, 16_373, 16_374, 16_375, WireLimits.maxPushContent] {
      let content = (0..<size).map { UInt8(truncatingIfNeeded: $0) }
      let bytes = ServerFrame.encodePush(messageID: Samples.messageID, offline: true, content: content)
      guard case .push(let push) = try decodeServer(bytes) else {
        Issue.record("not a PUSH of \(size) bytes")
        continue
      }
      #expect(push.messageID == Samples.messageID && push.isOffline)
      #expect(Array(bytes[push.content]) == content)
      var again: [UInt8] = []
      #expect(ServerFrame.push(push).encode(into: &again, views: bytes.span))
      #expect(again == bytes)
    }
    let over = [UInt8](repeating: 0, count: WireLimits.maxPushContent + 1)
    #expect(ServerFrame.encodePush(messageID: Samples.messageID, offline: false, content: over).isEmpty)
  }

  @Test(
    arguments: [
      (.getAlias, .alias("名字")), (.getAlias, .alias("")), (.getTags, .tags([])),
      (.getTags, .tags(["a", "", "北京"])), (.checkTag, .hasTag(true)), (.checkTag, .hasTag(false)),
      (.setAlias, .none), (.logout, .none),
    ] as [(FrameType, ResultPayload)])
  func resultsCarryTheirPayload(operation: FrameType, payload: ResultPayload) throws {
    var bytes: [UInt8] = []
    ServerFrame.encodeResult(sequence: 77, code: .ok, payload: payload, into: &bytes)
    guard case .result(77, .ok, let raw) = try decodeServer(bytes) else {
      Issue.record("not the RESULT that was written")
      return
    }
    #expect(try ResultPayload(raw, answering: operation, code: .ok) == payload)
    #expect(throws: FrameError.trailingBytes) {
      _ = try ResultPayload(raw + [0], answering: operation, code: .ok)
    }
    if !raw.isEmpty {
      #expect(throws: FrameError.self) {
        _ = try ResultPayload(raw, answering: operation, code: .serverError)
      }
      #expect(throws: FrameError.self) {
        _ = try ResultPayload(Array(raw.dropLast()), answering: operation, code: .ok)
      }
    }
  }

  @Test func unknownReasonsAndCodesSurvive() throws {
    let frames: [ServerFrame] = [
      .goAway(CloseReason(rawValue: 200), retryAfter: 0, host: ""),
      .error(ResultCode(rawValue: 12_345), .atOnce, message: ""),
      .result(sequence: 0, code: ResultCode(rawValue: 65_535), payload: []),
    ]
    for frame in frames { #expect(try decodeServer(Samples.encoded(frame)) == frame) }
    #expect(CloseReason(rawValue: 200).reconnect == .afterBackOff)
  }

  @Test(
    arguments: [
      (.drain, .atOnce), (.replaced, .never), (.slowReader, .afterBackOff), (.heartbeatMissed, .atOnce),
      (.protocolError, .afterBackOff), (.loggedOut, .never), (.registrationReplaced, .never),
      (.appDisabled, .afterBackOff), (.tooManyConnections, .afterBackOff),
    ] as [(CloseReason, ReconnectRule)])
  func everyReasonHasItsRule(reason: CloseReason, rule: ReconnectRule) {
    #expect(reason.reconnect == rule)
  }

  @Test func deadlineIsOneAndAHalfIntervals() {
    #expect([1, 2, 300, 65_535].map(WireLimits.heartbeatDeadline) == [2, 3, 450, 98_303])
  }

  @Test func secretsStayOutOfTexts() throws {
    let secret = try #require(DeviceSecret(Array(0..<16)))
    #expect(secret == Samples.secret && secret.bytes == Array(0..<16))
    #expect("\(secret)" == "(secret)" && DeviceSecret([1]) == nil)
  }

  @Test func anyBytesAreAFrameOrAnError() {
    for (_, frame) in Samples.server {
      let bytes = Samples.encoded(frame)
      for place in bytes.indices {
        for byte in UInt8.min...UInt8.max {
          var changed = bytes
          changed[place] = byte
          guard let decoded = try? decodeServer(changed) else { continue }
          var again: [UInt8] = []
          decoded.encode(into: &again, views: changed.span)
          #expect(again == changed)
        }
      }
    }
  }
}
