import PushBase
import PushWire

@testable import PushCluster

/// One message of every kind, with the bytes that it has on the bus.
enum ClusterSamples {
  static let cluster = ClusterName("test") ?? { fatalError("no name") }()
  static let handle = Handle(incarnation: Incarnation(300), loop: 2, slot: 0x10203, generation: 7)
  static let registrationID = RegistrationID(high: 0x1A2B_3C4D_5E6F_7081, low: 0x923)
  static let number = RegistrationNumber(0x0001_0002)
  static let id = MessageID(0x0001_6F5E_6600_0001)
  static let next = MessageID(0x0001_6F5E_6600_0002)

  /// The body of each message in hexadecimal.
  static let all: [(message: ClusterMessage, body: String)] = [
    (
      .hello(
        NodeHello(
          versions: 1...2, name: "a", address: "h:80", program: "1.0", load: 500, isDraining: true,
          wantsAnswer: true)),
      "0102" + "0161" + "04683a3830" + "03312e30" + "f403" + "01" + "01"
    ),
    (
      .position(
        LinkPosition(
          sequence: 128, timeline: 3, apps: [AppPosition(app: AppID(5), epoch: Epoch(9), id: id)])),
      "8001" + "03" + "01" + "0509" + idHex
    ),
    (.applied(LinkApplied(sequence: 1, timeline: 0, apps: [])), "01" + "00" + "00"),
    (
      .login(
        SessionLogin(
          handle: handle, registrationID: registrationID, secretHigh: 1, secretLow: 2, isForeground: true)),
      handleHex + registrationHex + "0000000000000001" + "0000000000000002" + "01"
    ),
    (
      .close(SessionClose(handle: handle, number: number, reason: 4)), handleHex + numberHex + "04"
    ),
    (
      .state(SessionState(handle: handle, number: number, isForeground: false, wantsNewest: true)),
      handleHex + numberHex + "00" + "01"
    ),
    (
      .acks(
        AckBatch(
          batch: 7, singles: [.init(number, id)], broadcasts: [.init(next, numbers: [0xAA, 0xBB])])),
      "07" + "01" + numberHex + idHex + "01" + nextHex + "02aabb"
    ),
    (
      .operation(DeviceRequest(handle: handle, sequence: 9, number: number, body: [0x30, 1])),
      handleHex + "00000009" + numberHex + "023001"
    ),
    (
      .register(DeviceRequest(handle: handle, sequence: 1, number: RegistrationNumber(0), body: [0x11])),
      handleHex + "00000001" + "00000000" + "0111"
    ),
    (
      .receipts(DeviceRequest(handle: handle, sequence: 2, number: number, body: [])),
      handleHex + "00000002" + numberHex + "00"
    ),
    (
      .pull(PullRequest(handle: handle, number: number, sentThrough: id, limit: 200)),
      handleHex + numberHex + idHex + "c801"
    ),
    (.replay(ReplayRequest(after: id)), idHex),
    (
      .digest(
        DigestMessage(first: 0, last: 4_294_967_295, buckets: [.init(index: 16, hash: 255, inFlight: 1)])),
      "00" + "ffffffff0f" + "01" + "10" + "00000000000000ff" + "01"
    ),
    (
      .sessions(
        SessionList(
          first: 16, last: 16, hasMore: true, applied: id,
          items: [
            .init(
              handle: handle, registrationID: registrationID, order: 3, sentThrough: id, isForeground: true,
              inFlight: [id, next], unstored: [next])
          ])),
      "10" + "10" + "01" + idHex + "01" + handleHex + registrationHex + "03" + idHex + "01" + "02" + idHex
        + nextHex + "01" + nextHex
    ),
    (.recalled(RecallConfirmation(id: id)), idHex),
    (
      .loginResult(
        SessionLoginResult(
          handle: handle,
          outcome: .accepted(.init(number: number, order: 5, newest: id, pending: 2, platform: 1)))),
      handleHex + "01" + numberHex + "05" + idHex + "02" + "01"
    ),
    (
      .loginResult(SessionLoginResult(handle: handle, outcome: .refused(1011))), handleHex + "00" + "03f3"
    ),
    (.stateTaken(StateTaken(handle: handle, newest: id)), handleHex + idHex),
    (.stored(AcksStored(batches: [7], counts: [.init(handle, 300)])), "0107" + "01" + handleHex + "ac02"),
    (
      .result(DeviceResult(handle: handle, sequence: 9, code: 0, payload: [1])),
      handleHex + "00000009" + "0000" + "0101"
    ),
    (
      .pushOne(
        SinglePush(id: next, handles: [handle], content: [0x7B, 0x7D], hasNotificationElsewhere: true)
      ).following(id),
      idHex + nextHex + "01" + handleHex + "01" + "027b7d"
    ),
    (
      .pushMany(
        FanOutPush(
          id: next, part: 1, hasMore: true, contents: [.init(platform: 2, bytes: [0x7B, 0x7D])],
          targets: [0xCC], isComplement: true)
      ).following(id),
      idHex + nextHex + "01" + "01" + "01" + "02027b7d" + "01" + "01cc"
    ),
    (.late(LatePush(counter: 4, id: id, handles: [handle])), "04" + idHex + "01" + handleHex),
    (
      .pulled(
        PulledPart(
          handle: handle, after: id, through: next, hasMore: false,
          pushes: [.init(id: next, content: [0x7B, 0x7D])])),
      handleHex + idHex + nextHex + "00" + "00" + "01" + nextHex + "027b7d"
    ),
    (.recall(PushRecall(id: id, targets: [0xDD], isComplement: false)), idHex + "00" + "01dd"),
    (.endSession(SessionEnd(handle: handle, reason: 2)), handleHex + "02"),
    (.replayed(ReplayEnd(through: next)).following(id), idHex + nextHex),
    (.home(HomeNotice(incarnation: Incarnation(300), newest: id)), "ac02" + idHex),
    (.wantSessions(SessionsWanted(buckets: [1, 300])), "02" + "01" + "ac02"),
  ]

  private static let handleHex = "ac02" + "0002" + "00010203" + "00000007"
  private static let registrationHex = "1a2b3c4d5e6f70819230"
  private static let numberHex = "00010002"
  private static let idHex = "00016f5e66000001"
  private static let nextHex = "00016f5e66000002"

  /// A frame with one entry.
  static func frame(_ message: ClusterMessage) -> [UInt8] {
    let head = FrameHead(
      type: message.type, from: Incarnation(300), to: Incarnation(301), sequence: 77)
    return ClusterFrame.encode(
      head, [ClusterEntry(app: AppID(5), epoch: Epoch(9), message)], cluster: cluster) ?? []
  }
}
