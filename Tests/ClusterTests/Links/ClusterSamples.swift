import BorealisBase
import BorealisProtocol

@testable import Cluster

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
          wantsAnswer: true, deviceAddress: "d:7443")),
      "0102" + "0161" + "04683a3830" + "03312e30" + "f403" + "01" + "01" + "06643a37343433"
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
          handle: handle, app: AppKey(high: 0x0102_0304_0506_0708, low: 0x090A_0B0C),
          registrationID: registrationID, secretHigh: 1, secretLow: 2, isForeground: true)),
      handleHex + "0102030405060708090a0b0c" + registrationHex + "0000000000000001" + "0000000000000002"
        + "01" + "00"
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
          batch: 7, isUrgent: true, held: 300,
          senders: [
            .init(
              number, newestWhileAway: next,
              arrivals: [.init(id, age: 2, isExact: true), .init(next, age: 100, isExact: false)])
          ])),
      "07" + "01" + "ac02" + "01" + numberHex + nextHex + "02" + idHex + "05" + nextHex + "c801" + "00"
    ),
    (
      .acks(
        AckBatch(
          batch: 8, senders: [],
          groups: [.init(id, wasAway: true, isExact: true, numbers: [0xCC], ages: [1, 300])])),
      "08" + "00" + "00" + "00" + "01" + idHex + "03" + "01cc" + "02" + "01" + "ac02"
    ),
    (
      .operation(
        DeviceRequest(
          handle: handle, sequence: 9, number: number, body: [0x30, 1], askedAt: 1_700_000_000)),
      handleHex + "00000009" + numberHex + "023001" + "80e2cfaa06"
    ),
    (
      .register(DeviceRequest(handle: handle, sequence: 1, number: RegistrationNumber(0), body: [0x11])),
      handleHex + "00000001" + "00000000" + "0111" + "00"
    ),
    (
      .receipts(DeviceRequest(handle: handle, sequence: 2, number: number, body: [])),
      handleHex + "00000002" + numberHex + "00" + "00"
    ),
    (
      .pull(PullRequest(handle: handle, number: number, sentThrough: id, limit: 200)),
      handleHex + numberHex + idHex + "c801"
    ),
    (.replay(ReplayRequest(after: id, number: 300)), idHex + "ac02"),
    (
      .digest(
        DigestMessage(first: 0, last: 4_294_967_295, buckets: [.init(index: 16, hash: 255, inFlight: 1)])),
      "00" + "ffffffff0f" + "01" + "10" + "00000000000000ff" + "01"
    ),
    (
      .sessions(
        SessionList(
          request: 2, index: 1, count: 3, first: 16, last: 16,
          items: [
            .init(
              handle: handle, registrationID: registrationID, number: number, order: 3, isForeground: true)
          ])),
      "02" + "01" + "03" + "10" + "10" + "01" + handleHex + registrationHex + numberHex + "03" + "01"
    ),
    (.recalled(RecallConfirmation(id: id)), idHex),
    (
      .recount(RecountRequest(handle: handle, number: number, through: id)), handleHex + numberHex + idHex
    ),
    (.lateReceived(LateConfirmation(counter: 300)), "ac02"),
    (
      .loginResult(
        SessionLoginResult(
          handle: handle,
          outcome: .accepted(
            .init(
              number: number, order: 5, newest: id, pending: 2, platform: 1, mayWait: true,
              facts: [DeviceFactSet(.language), DeviceFactSet(.notificationPermission)])))),
      handleHex + "01" + numberHex + "05" + idHex + "02" + "01" + "01" + "8101"
    ),
    (
      .loginResult(SessionLoginResult(handle: handle, outcome: .refused(1011))), handleHex + "00" + "03f3"
    ),
    (.stateApplied(StateApplied(handle: handle, newest: id)), handleHex + idHex),
    (.factsWanted(FactsWanted(facts: [DeviceFactSet(.language), DeviceFactSet(.optedOut)])), "8102"),
    (.stored(AcksStored(batches: [7, 300])), "02" + "07" + "ac02"),
    (
      .result(DeviceResult(handle: handle, sequence: 9, body: [1])), handleHex + "00000009" + "0101"
    ),
    (
      .pushOne(
        SinglePush(id: next, handles: [handle], content: [0x7B, 0x7D])
      ).following(id),
      idHex + nextHex + "01" + handleHex + "027b7d" + "0000"
    ),
    (
      .pushOne(
        SinglePush(id: next, handles: [handle], content: [0x7B, 0x7D], showBefore: 300, endsIn: 300)
      ).following(id),
      idHex + nextHex + "01" + handleHex + "027b7d" + "ac02" + "ac02"
    ),
    (
      .pushMany(
        FanOutMessage(
          id: next, part: 1, hasMore: true, content: [0x7B, 0x7D], targets: [0xCC])
      ).following(id),
      idHex + nextHex + "01" + "01" + "027b7d" + "01cc" + "0000" + "00"
    ),
    (
      .pushMany(
        FanOutMessage(
          id: next, part: 1, hasMore: true, content: [0x7B, 0x7D], targets: [0xCC], showBefore: 300,
          waited: [0xCD], endsIn: 1)
      ).following(id),
      idHex + nextHex + "01" + "01" + "027b7d" + "01cc" + "ac02" + "01cd" + "01"
    ),
    (
      .late(LatePush(counter: 4, id: id, handles: [handle], content: [9])),
      "04" + idHex + "01" + handleHex + "0109"
    ),
    (
      .pulled(
        PulledPart(
          handle: handle, after: id,
          outcome: .pushes([.init(id: next, content: [0x7B, 0x7D])], through: next))),
      handleHex + idHex + "01" + nextHex + "01" + nextHex + "027b7d" + "00"
    ),
    (
      .pulled(
        PulledPart(
          handle: handle, after: id,
          outcome: .pushes([.init(id: next, content: [0x7B, 0x7D])], through: next), showBefore: [next: 300])),
      handleHex + idHex + "01" + nextHex + "01" + nextHex + "027b7d" + "01" + nextHex + "ac02"
    ),
    (.pulled(PulledPart(handle: handle, after: id, outcome: .nothing)), handleHex + idHex + "00"),
    (.pulled(PulledPart(handle: handle, after: id, outcome: .unavailable)), handleHex + idHex + "02"),
    (.waiting(RecountResult(handle: handle, count: 300)), handleHex + "ac02"),
    (.recall(PushRecall(id: id, targets: [0xDD], isComplement: false)), idHex + "00" + "01dd"),
    (.endSession(SessionEnd(handle: handle, reason: 2)), handleHex + "02"),
    (.replayed(ReplayEnd(through: next, answers: 300)).following(id), idHex + nextHex + "ac02"),
    (.home(HomeNotice(incarnation: Incarnation(300))), "ac02"),
    (.wantSessions(SessionsWanted(request: 5, buckets: [1, 300])), "05" + "02" + "01" + "ac02"),
  ]

  /// The bodies of messages that the version before wrote, without the fields that have come since, and as
  /// what they are read.
  static let earlier: [(message: ClusterMessage, body: String)] = [
    (
      .login(
        SessionLogin(
          handle: handle, app: AppKey(high: 0x0102_0304_0506_0708, low: 0x090A_0B0C),
          registrationID: registrationID, secretHigh: 1, secretLow: 2, isForeground: true)),
      handleHex + "0102030405060708090a0b0c" + registrationHex + "0000000000000001" + "0000000000000002"
        + "01"
    ),
    (
      .register(DeviceRequest(handle: handle, sequence: 1, number: RegistrationNumber(0), body: [0x11])),
      handleHex + "00000001" + "00000000" + "0111"
    ),
    (
      .operation(DeviceRequest(handle: handle, sequence: 9, number: number, body: [0x30, 1])),
      handleHex + "00000009" + numberHex + "023001"
    ),
    (
      .receipts(DeviceRequest(handle: handle, sequence: 2, number: number, body: [])),
      handleHex + "00000002" + numberHex + "00"
    ),
    (
      .pushOne(SinglePush(id: next, handles: [handle], content: [0x7B, 0x7D])).following(id),
      idHex + nextHex + "01" + handleHex + "027b7d" + "00"
    ),
    (
      .pushOne(
        SinglePush(id: next, handles: [handle], content: [0x7B, 0x7D], showBefore: 300)
      ).following(id),
      idHex + nextHex + "01" + handleHex + "027b7d" + "ac02"
    ),
    (
      .pushMany(
        FanOutMessage(id: next, part: 1, hasMore: true, content: [0x7B, 0x7D], targets: [0xCC])
      ).following(id),
      idHex + nextHex + "01" + "01" + "027b7d" + "01cc" + "0000"
    ),
    (
      .pushMany(
        FanOutMessage(
          id: next, part: 1, hasMore: true, content: [0x7B, 0x7D], targets: [0xCC], showBefore: 300,
          waited: [0xCD])
      ).following(id),
      idHex + nextHex + "01" + "01" + "027b7d" + "01cc" + "ac02" + "01cd"
    ),
    (
      .hello(
        NodeHello(
          versions: 1...2, name: "a", address: "h:80", program: "1.0", load: 500, isDraining: true,
          wantsAnswer: true)),
      "0102" + "0161" + "04683a3830" + "03312e30" + "f403" + "01" + "01"
    ),
    (
      .pushOne(SinglePush(id: next, handles: [handle], content: [0x7B, 0x7D])).following(id),
      idHex + nextHex + "01" + handleHex + "027b7d"
    ),
    (
      .pushMany(
        FanOutMessage(id: next, part: 1, hasMore: true, content: [0x7B, 0x7D], targets: [0xCC])
      ).following(id),
      idHex + nextHex + "01" + "01" + "027b7d" + "01cc"
    ),
    (
      .pulled(
        PulledPart(
          handle: handle, after: id,
          outcome: .pushes([.init(id: next, content: [0x7B, 0x7D])], through: next))),
      handleHex + idHex + "01" + nextHex + "01" + nextHex + "027b7d"
    ),
    (
      .acks(
        AckBatch(
          batch: 7,
          senders: [.init(number, newestWhileAway: next, arrivals: [.init(id, age: 2, isExact: true)])])),
      "07" + "00" + "00" + "01" + numberHex + nextHex + "01" + idHex + "05"
    ),
    (.acks(AckBatch(batch: 8, senders: [])), "08" + "00" + "00" + "00"),
    (
      .acks(
        AckBatch(
          batch: 7, isUrgent: true, held: 300,
          senders: [
            .init(
              number, newestWhileAway: next,
              arrivals: [.init(id, age: 2, isExact: true), .init(next, age: 100, isExact: false)])
          ])),
      "07" + "01" + "ac02" + "01" + numberHex + nextHex + "02" + idHex + "05" + nextHex + "c801"
    ),
    (.replay(ReplayRequest(after: id)), idHex),
    (
      .loginResult(
        SessionLoginResult(
          handle: handle,
          outcome: .accepted(
            .init(number: number, order: 5, newest: id, pending: 2, platform: 1, mayWait: true)))),
      handleHex + "01" + numberHex + "05" + idHex + "02" + "01"
    ),
    (
      .loginResult(
        SessionLoginResult(
          handle: handle,
          outcome: .accepted(
            .init(number: number, order: 5, newest: id, pending: 2, platform: 1, mayWait: true)))),
      handleHex + "01" + numberHex + "05" + idHex + "02" + "01" + "01"
    ),
    (.replayed(ReplayEnd(through: next, answers: nil)).following(id), idHex + nextHex),
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
