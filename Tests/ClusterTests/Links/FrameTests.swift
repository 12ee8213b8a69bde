import BorealisBase
import BorealisProtocol
import PushTesting
import Testing

@testable import Cluster

@Suite struct FrameTests {
  private let cluster = ClusterSamples.cluster

  @Test func theHeadIsWrittenByteForByte() {
    let frame = ClusterSamples.frame(.replay(ReplayRequest(after: ClusterSamples.id)))
    #expect(
      Hex.encode(frame)
        == "0474657374" + "02" + "18" + "ac02" + "ad02" + "4d" + "01" + "05" + "09" + "09"
        + "00016f5e66000001" + "00")
  }

  @Test func everyMessageHasItsBytes() throws {
    for (message, hex) in ClusterSamples.all {
      var body: [UInt8] = []
      message.write(into: &body)
      #expect(Hex.encode(body) == hex, "\(message.type)")
      let frame = try ClusterFrame(ClusterSamples.frame(message), cluster: cluster)
      #expect(frame.entries == [ClusterEntry(app: AppID(5), epoch: Epoch(9), message)])
      #expect(frame.head.from == Incarnation(300) && frame.head.to == Incarnation(301))
      #expect(frame.head.sequence == 77 && frame.head.version == ClusterLimits.versions.upperBound)
    }
  }

  @Test func thereIsASampleOfEveryType() {
    let sampled = Set(ClusterSamples.all.map(\.message.type))
    for raw in UInt8.min...UInt8.max {
      let type = MessageType(rawValue: raw)
      let frame = frame(type, bodies: [[]])
      let isKnown = (try? ClusterFrame(frame, cluster: cluster))?.entries.isEmpty != true
      #expect(isKnown == sampled.contains(type), "\(raw)")
    }
  }

  @Test func everyTruncationIsRefused() {
    for (message, _) in ClusterSamples.all {
      let frame = ClusterSamples.frame(message)
      for count in 0..<frame.count {
        #expect(throws: ClusterFrameError.self, "\(message.type) with \(count) bytes") {
          try ClusterFrame(Array(frame[..<count]), cluster: cluster)
        }
      }
    }
  }

  @Test func everyTruncatedBodyIsRefused() {
    for (message, _) in ClusterSamples.all {
      var body: [UInt8] = []
      message.write(into: &body)
      // What the version before wrote is a beginning of what this one writes.
      let earlier = ClusterSamples.earlier.filter { $0.message.type == message.type }.map(\.body)
      for count in 0..<body.count where !earlier.contains(Hex.encode(Array(body[..<count]))) {
        #expect(throws: ClusterFrameError.self, "\(message.type) with a body of \(count) bytes") {
          try ClusterFrame(frame(message.type, bodies: [Array(body[..<count])]), cluster: cluster)
        }
      }
    }
  }

  @Test func changedBytesNeverTrap() {
    var random = SeededRandom(seed: 1)
    for (message, _) in ClusterSamples.all {
      let frame = ClusterSamples.frame(message)
      for place in frame.indices {
        for value: UInt8 in [0, 1, 0x7F, 0x80, 0xFF, .random(in: 0...255, using: &random)] {
          var changed = frame
          changed[place] = value
          guard let read = try? ClusterFrame(changed, cluster: cluster) else { continue }
          #expect(read.entries.count <= ClusterLimits.maxEntries)
        }
      }
    }
  }

  @Test func fieldsOfLaterVersionsAreSkipped() throws {
    for (message, _) in ClusterSamples.all {
      var body: [UInt8] = []
      message.write(into: &body)
      // A field behind the last, and bytes behind the last entry.
      let longer = frame(message.type, bodies: [body + [1, 2, 3], body]) + [9, 9]
      #expect(try ClusterFrame(longer, cluster: cluster).entries.map(\.message) == [message, message])
    }
  }

  @Test func whatTheVersionBeforeWroteIsRead() throws {
    for (message, hex) in ClusterSamples.earlier {
      let body = try #require(Hex.decode(hex))
      let read = try ClusterFrame(frame(message.type, bodies: [body]), cluster: cluster)
      #expect(read.entries.map(\.message) == [message])
    }
  }

  @Test func unknownTypesAreSkipped() throws {
    let read = try ClusterFrame(frame(MessageType(rawValue: 200), bodies: [[1, 2], [3]]), cluster: cluster)
    #expect(read.entries.isEmpty)
    #expect(read.head.sequence == 77)
  }

  @Test func otherClustersAndVersionsAreRefused() throws {
    let bytes = frame(.replay, bodies: [])
    let other = try #require(ClusterName("other"))
    #expect(throws: ClusterFrameError.otherCluster) { try ClusterFrame(bytes, cluster: other) }
    #expect(throws: ClusterFrameError.version(1)) {
      try ClusterFrame(bytes, cluster: cluster, versions: 3...4)
    }
    // Who speaks another version says so in a HELLO that all can read.
    let hello = frame(.hello, bodies: [])
    #expect(throws: Never.self) { try ClusterFrame(hello, cluster: cluster, versions: 3...4) }
  }

  @Test func limitsHold() throws {
    let most = [UInt8](repeating: 1, count: ClusterLimits.maxSet)
    let recall = ClusterMessage.recall(PushRecall(id: ClusterSamples.id, targets: most, isComplement: false))
    #expect(try ClusterFrame(ClusterSamples.frame(recall), cluster: cluster).entries.count == 1)
    let more = ClusterMessage.recall(
      PushRecall(id: ClusterSamples.id, targets: most + [1], isComplement: false))
    #expect(throws: ClusterFrameError.malformed(.invalidCount)) {
      try ClusterFrame(ClusterSamples.frame(more), cluster: cluster)
    }
    let arrivals = [AckBatch.Arrival](
      repeating: .init(ClusterSamples.id, age: 0, isExact: false), count: ClusterLimits.maxFrame / 9)
    let broad = ClusterMessage.acks(
      AckBatch(
        batch: 1,
        senders: [.init(ClusterSamples.number, newestWhileAway: ClusterSamples.id, arrivals: arrivals)]))
    #expect(ClusterSamples.frame(broad).isEmpty, "a frame over 256 KiB is not written")
    #expect(throws: ClusterFrameError.malformed(.frameTooLarge)) {
      try ClusterFrame([UInt8](repeating: 0, count: ClusterLimits.maxFrame + 1), cluster: cluster)
    }
    let entries = ClusterLimits.maxEntries + 1
    #expect(throws: ClusterFrameError.malformed(.invalidCount)) {
      try ClusterFrame(
        frame(.wantSessions, bodies: [[UInt8]](repeating: [0, 0], count: entries)), cluster: cluster)
    }
  }

  /// A count that no body can hold must not reserve memory for it.
  @Test func countsThatCannotBeAreRefused() {
    var body: [UInt8] = [0]
    body.appendVarint(.max)
    for type: MessageType in [.wantSessions] {
      #expect(throws: ClusterFrameError.malformed(.invalidCount)) {
        try ClusterFrame(frame(type, bodies: [body]), cluster: cluster)
      }
    }
  }

  @Test(arguments: [
    ([0x80, 0x00], FrameError.lengthNotMinimal), ([UInt8](repeating: 0xFF, count: 11), .lengthTooLong),
    ([UInt8](repeating: 0xFF, count: 9) + [2], .lengthTooLong), ([0x80], .truncatedBody),
  ])
  func otherNumbersAreRefused(bytes: [UInt8], error: FrameError) {
    #expect(throws: error) {
      var reader = try BodyReader(0..<bytes.count, in: bytes.span)
      _ = try reader.varint(in: bytes.span)
    }
  }

  @Test(arguments: [0, 1, 127, 128, 16_383, 16_384, UInt64(UInt32.max), .max - 1, .max])
  func numbersAreReadAsWritten(value: UInt64) throws {
    var bytes: [UInt8] = []
    bytes.appendVarint(value)
    var reader = try BodyReader(0..<bytes.count, in: bytes.span)
    #expect(try reader.varint(in: bytes.span) == value)
    try reader.finish()
  }

  @Test(arguments: [
    ("a", true), ("prod-1_x", true), ("", false), ("A", false), ("a.b", false), ("a b", false),
  ])
  func namesFitSubjects(text: String, isName: Bool) {
    #expect((ClusterName(text) != nil) == isName)
    #expect(ClusterName(String(repeating: "a", count: 32)) != nil)
    #expect(ClusterName(String(repeating: "a", count: 33)) == nil)
  }

  /// A frame whose entries have these bodies.
  private func frame(_ type: MessageType, bodies: [[UInt8]]) -> [UInt8] {
    var bytes: [UInt8] = []
    FrameHead(version: 1, type: type, from: Incarnation(300), to: Incarnation(301), sequence: 77)
      .write(cluster, into: &bytes)
    bytes.appendVarint(UInt64(bodies.count))
    for body in bodies {
      bytes += [5, 9]
      bytes.append(counted: body)
    }
    return bytes
  }
}
