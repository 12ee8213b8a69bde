import BorealisBase
import BorealisProtocol
import Testing

@Suite struct ClientFrameTests {
  @Test func everyFrameSurvivesTheWay() throws {
    for (name, frame) in Samples.client {
      #expect(try decodeClient(Samples.encoded(frame)) == frame, "\(name)")
    }
  }

  @Test func cutOrLongerBodiesAreRefused() {
    for (name, frame) in Samples.client {
      let bytes = Samples.encoded(frame)
      for cut in 2..<bytes.count {
        #expect(throws: FrameError.self, "\(name) cut at \(cut)") {
          _ = try ClientFrame(type: frame.type, body: 2..<cut, in: bytes.span)
        }
      }
      let longer = bytes + [0]
      #expect(throws: FrameError.trailingBytes, "\(name)") {
        _ = try ClientFrame(type: frame.type, body: 2..<longer.count, in: longer.span)
      }
    }
  }

  @Test(
    arguments: [
      ("0520534c5253", .invalidCount), ("0120", .invalidCount), ("0121", .invalidCount),
      ("0a21050000000000000001", .invalidValue), ("0a21000000000000000001", .invalidValue),
      ("0142", .unknownType), ("0143", .unknownType), ("0102", .unknownType), ("0190", .unknownType),
      ("08104252584c010100", .badMagic), ("021047", .badMagic), ("081042524c53000100", .invalidValue),
      ("081042524c53020100", .invalidValue), ("091042524c53010101ff", .invalidUTF8),
      ("0730000000010180", .invalidUTF8), ("093300000001000100c3", .trailingBytes),
      ("073300000001ffff", .invalidCount), ("083300000001000200", .invalidCount),
      ("063b0000000102", .invalidValue), ("073a000000010300", .invalidValue),
      ("073a000000010065", .invalidCount),
      ("0b3d0000000f01000103010203", .invalidValue), ("0b3d0000000f05000103010203", .invalidValue),
      ("0c3d0000000f0201610103010203", .invalidValue), ("0b3d0000000f03000103010203", .invalidValue),
      ("073d0000000102000300", .invalidValue), ("083d00000001020001ff", .truncatedBody),
      ("1511" + "0123456789abcdef00112233" + "05" + "01ff" + "00" + "00" + "000000", .invalidValue),
      ("1511" + "0123456789abcdef00112233" + "01" + "01ff" + "01" + "00" + "026100", .invalidValue),
      ("0c3d0000000f0301000103010203", .invalidValue),
      ("1111" + "0123456789abcdef00112233" + "01" + "00" + "0000", .invalidCount),
      ("1111" + "0123456789abcdef00112233" + "01" + "41" + "0000", .invalidCount),
    ] as [(String, FrameError)])
  func refuses(hex: String, error: FrameError) throws {
    let bytes = try #require(Hex.decode(hex))
    // The table is about bodies: the length byte is set here.
    let frame = [UInt8(bytes.count - 1)] + bytes.dropFirst()
    #expect(throws: error) { _ = try decodeClient(frame) }
  }

  @Test func registrationIDEndsInAZeroNibble() throws {
    let login = try #require(Samples.client.first { $0.name == "login" })
    var bytes = Samples.encoded(login.frame)
    bytes[2 + 12 + 9] |= 1
    #expect(throws: FrameError.invalidValue) { _ = try decodeClient(bytes) }
  }

  @Test func acknowledgementsAreSplitAndReadInPlace() throws {
    for count in [0, 1, 2, 511, 512, 513, 1025] {
      let ids = (0..<count).map { MessageID(0xFEDC_BA98_7654_0000 + UInt64($0)) }
      var bytes: [UInt8] = []
      ClientFrame.encodeAcknowledge(ids, into: &bytes)
      var read: [MessageID] = []
      var at = 0
      var frames = 0
      while case .frame(let type, let body, let end) = scanFrame(
        bytes.span, at: at, limit: WireLimits.maxFrame)
      {
        guard case .acknowledge(let list) = try ClientFrame(type: type, body: body, in: bytes.span) else {
          Issue.record("not an ACK")
          break
        }
        for index in 0..<list.count { read.append(list[index, in: bytes.span]) }
        var again: [UInt8] = []
        ClientFrame.acknowledge(list).encode(into: &again, views: bytes.span)
        #expect(again == Array(bytes[at..<end]))
        at = end
        frames += 1
      }
      #expect(read == ids && at == bytes.count && frames == (count + 511) / 512)
    }
  }

  @Test func `Acknowledgements with ages are split and read in place`() throws {
    for count in [0, 1, 512, 513] {
      let aged = (0..<count).map {
        AgedAcknowledgement(MessageID(7 << 40 + UInt64($0)), age: .max - UInt32($0))
      }
      var bytes: [UInt8] = []
      ClientFrame.encodeAcknowledge(aged, into: &bytes)
      var read: [AgedAcknowledgement] = []
      var at = 0
      var frames = 0
      while case .frame(let type, let body, let end) = scanFrame(
        bytes.span, at: at, limit: WireLimits.maxFrame)
      {
        guard case .acknowledgeWithAges(let list) = try ClientFrame(type: type, body: body, in: bytes.span)
        else {
          Issue.record("not an ACK_AGE")
          break
        }
        for index in 0..<list.count { read.append(list[index, in: bytes.span]) }
        var again: [UInt8] = []
        ClientFrame.acknowledgeWithAges(list).encode(into: &again, views: bytes.span)
        #expect(again == Array(bytes[at..<end]))
        at = end
        frames += 1
      }
      #expect(read == aged && at == bytes.count && frames == (count + 511) / 512)
    }
  }

  @Test func receiptsAreSplitAndReadInPlace() throws {
    for count in [0, 1, 256, 257] {
      let receipts = (0..<count).map { Receipt($0 % 3 == 0 ? .tapped : .shown, MessageID(UInt64($0))) }
      var bytes: [UInt8] = []
      ClientFrame.encodeReceipt(receipts, into: &bytes)
      var read: [Receipt] = []
      var at = 0
      while case .frame(let type, let body, let end) = scanFrame(
        bytes.span, at: at, limit: WireLimits.maxFrame)
      {
        guard case .receipt(let list) = try ClientFrame(type: type, body: body, in: bytes.span) else {
          Issue.record("not a RECEIPT")
          break
        }
        for index in 0..<list.count { read.append(list[index, in: bytes.span]) }
        at = end
      }
      #expect(read == receipts && at == bytes.count)
    }
  }

  @Test func listsOverTheirLimitAreRefused() {
    let acks: [UInt8] = [UInt8](repeating: 0, count: 513 * 8)
    #expect(throws: FrameError.invalidCount) {
      _ = try ClientFrame(type: .acknowledge, body: 0..<acks.count, in: acks.span)
    }
    let aged: [UInt8] = [UInt8](repeating: 0, count: 513 * 12)
    #expect(throws: FrameError.invalidCount) {
      _ = try ClientFrame(type: .acknowledgeWithAges, body: 0..<aged.count, in: aged.span)
    }
    let receipts: [UInt8] = [UInt8](repeating: 1, count: 257 * 9)
    #expect(throws: FrameError.invalidCount) {
      _ = try ClientFrame(type: .receipt, body: 0..<receipts.count, in: receipts.span)
    }
  }

  @Test func whatDoesNotFitIsNotWritten() throws {
    let long = String(repeating: "x", count: 256)
    let tooMuch: [ClientFrame] = [
      .operation(sequence: 1, .setAlias(long)), .operation(sequence: 1, .addTags(["a", long])),
      .operation(sequence: 1, .setTags(Array(repeating: String(long.dropFirst()), count: 300))),
      .operation(sequence: 1, .setTags(Array(repeating: "", count: 65_536))),
      .hello(Hello(clientName: long)),
    ]
    for frame in tooMuch {
      var bytes: [UInt8] = [9]
      #expect(frame.encode(into: &bytes) == false)
      #expect(bytes == [9])
    }
    let fits = ClientFrame.operation(
      sequence: 1, .setTags(Array(repeating: String(long.dropFirst()), count: 255)))
    #expect(try decodeClient(Samples.encoded(fits)) == fits)
  }

  @Test func anyBytesAreAFrameOrAnError() {
    for (_, frame) in Samples.client {
      let bytes = Samples.encoded(frame)
      for place in bytes.indices {
        for byte in UInt8.min...UInt8.max {
          var changed = bytes
          changed[place] = byte
          // What still decodes must encode to the same bytes: there is one way to write a frame.
          guard let decoded = try? decodeClient(changed) else { continue }
          var again: [UInt8] = []
          decoded.encode(into: &again, views: changed.span)
          #expect(again == changed)
        }
      }
    }
  }
}
