import BorealisBase
import BorealisProtocol
import PushTesting
import Testing

@testable import BorealisDevice

/// One push by two ways: Apple brings its notification, the direct connection its message, perhaps both.
@Suite(.timeLimit(.minutes(1))) struct RemoteNotificationTests {
  private let fixture: DeviceFixture
  private let server: TestServer

  init() throws {
    fixture = DeviceFixture()
    server = try TestServer()
  }

  private func phone(_ platform: Platform = .ios) -> Device {
    Device(
      server: server.address, profile: DeviceProfile(appKey: CoreRun.appKey, platform: platform),
      store: fixture.store(), hub: fixture.hub)
  }

  private static func payload(_ id: UInt64, alert: String = #""Hello""#) -> [UInt8] {
    Array(#"{"aps":{"alert":\#(alert)},"_j_msgid":\#(id)}"#.utf8)
  }

  /// A push with a notification and a message.
  private static func push(_ id: UInt64) -> [UInt8] {
    let content = #"{"notification":{"alert":"Hello"},"message":{"msg_content":"data"}}"#
    return ServerFrame.encodePush(messageID: MessageID(id), offline: false, content: Array(content.utf8))
  }

  @Test(
    arguments: [
      (#"{"aps":{"alert":"x"},"_j_msgid":373490804551680}"#, 373_490_804_551_680, true),
      (#"{"_j_msgid":"12","aps":{"alert":{"title":"t"}},"k":[1]}"#, 12, true),
      (#"{"aps":{"content-available":1},"_j_msgid":5}"#, 5, false),
      (#"{"aps":{"alert":"","sound":""},"_j_msgid":5}"#, 5, false),
      (#"{"_j_msgid":9007199254740991}"#, 9_007_199_254_740_991, false),
      (#"{"_j_msgid":9007199254740992}"#, nil, false), (#"{"_j_msgid":-1}"#, nil, false),
      (#"{"_j_msgid":1.5}"#, nil, false), (#"{"_j_msgid":1e3}"#, nil, false),
      (#"{"_j_msgid":null}"#, nil, false), (#"{"_j_msgid":true}"#, nil, false),
      (#"{"aps":{"alert":"another vendor's"}}"#, nil, false), (#"[{"_j_msgid":1}]"#, nil, false),
      (#"{"_j_msgid":1"#, nil, false), ("", nil, false),
      (#"{"_j_msgid":1,"x":"\#(String(repeating: "x", count: 16 * 1024))"}"#, nil, false),
      (
        #"{"_j_msgid":1,"x":\#(String(repeating: "[", count: 40))\#(String(repeating: "]", count: 40))}"#,
        nil, false
      ),
    ] as [(String, UInt64?, Bool)])
  func payloadsAreRead(text: String, id: UInt64?, isVisible: Bool) {
    let payload = RemotePayload(Array(text.utf8))
    #expect(payload?.messageID == id.map { MessageID($0) })
    #expect((payload?.isVisible ?? false) == isVisible)
  }

  /// The message is handed over all the same, also by a later run of the app.
  @Test func whatAppleBroughtIsNotShownAgain() async throws {
    var device: Device? = phone()
    let first = device?.handleRemoteNotification(Self.payload(1))
    #expect(first == RemoteNotification(messageID: MessageID(1), wasTapped: false, shouldPresent: true))
    #expect(device?.handleRemoteNotification(Self.payload(1))?.shouldPresent == false)
    let tapped = device?.handleRemoteNotification(Self.payload(1), tapped: true)
    #expect(tapped == RemoteNotification(messageID: MessageID(1), wasTapped: true, shouldPresent: false))
    #expect(device?.handleRemoteNotification(Self.payload(2, alert: #""""#)) != nil)
    #expect(device?.handleRemoteNotification(Self.payload(3), tapped: true)?.wasTapped == true)
    #expect(device?.handleRemoteNotification(Array("{}".utf8), tapped: true) == nil)
    try device?.start()
    var events = EventReader(try #require(device))
    async let served = server.play { server in
      let peer = try server.accept()
      try peer.welcome()
      var receipts: [Receipt] = []
      while receipts.count < 4, let next = try peer.next(), case .receipt(let list) = next.frame {
        for index in 0..<list.count { receipts.append(list[index, in: next.bytes.span]) }
      }
      try peer.send(Self.push(1) + Self.push(4))
      #expect(try peer.acknowledged(2) == [1, 4])
      #expect(try peer.next() == nil)
      return receipts
    }
    for (id, wasShown) in [(1, true), (4, false)] as [(UInt64, Bool)] {
      let push = try await events.push()
      #expect(push.messageID == MessageID(id) && push.notificationWasShown == wasShown)
      #expect(push.json?["message"]?["msg_content"]?.string == "data")
      device?.handled(push.messageID)
    }
    // Its turn comes after the acknowledgements.
    await device?.close()
    // Nothing is shown of the silent one, so nothing is told.
    #expect(
      try await served == [
        Receipt(.shown, MessageID(1)), Receipt(.tapped, MessageID(1)), Receipt(.shown, MessageID(3)),
        Receipt(.tapped, MessageID(3)),
      ])
    device = nil

    let again = phone()
    try again.start()
    #expect(
      again.handleRemoteNotification(Self.payload(4))?.shouldPresent == false, "the direct connection had it")
    async let second: Void = server.play { server in
      let peer = try server.accept()
      try peer.welcome()
      try peer.send(Self.push(2) + Self.push(3) + Self.push(5))
      #expect(try peer.next() == nil)
    }
    events = EventReader(again)
    for (id, wasShown) in [(2, true), (3, true), (5, false)] as [(UInt64, Bool)] {
      let push = try await events.push()
      #expect(push.messageID == MessageID(id) && push.notificationWasShown == wasShown)
    }
    // In the app's hands: it shows it itself.
    #expect(again.handleRemoteNotification(Self.payload(5))?.shouldPresent == false)
    await again.close()
    try await second
  }

  @Test func recalledNotificationsAreNotShown() async throws {
    let device = phone()
    try device.start()
    async let served: Void = server.play { server in
      let peer = try server.accept()
      try peer.welcome()
      try peer.send(Wire.bytes(.recall(MessageID(7))))
      #expect(try peer.next()?.frame.type == .receipt)
    }
    var events = EventReader(device)
    while let event = await events.next(), event != .recalled(MessageID(7)) {}
    let late = device.handleRemoteNotification(Self.payload(7), tapped: true)
    #expect(late?.shouldPresent == false)
    try await served
    await device.close()
  }

  /// Elsewhere there is no Apple, and content is not looked into.
  @Test func othersKeepNoNotifications() async throws {
    let device = phone(.android)
    try device.start()
    async let served: Void = server.play { server in
      let peer = try server.accept()
      try peer.welcome()
      try peer.send(Self.push(1))
      #expect(try peer.acknowledged(1) == [1])
    }
    var events = EventReader(device)
    let push = try await events.push()
    #expect(!push.notificationWasShown)
    device.handled(push.messageID)
    try await served
    await device.close()
    let kinds = try fixture.stateKinds()
    #expect(kinds.contains(6) && !kinds.contains(7))
  }
}

extension DeviceFixture {
  /// The kinds of the records in the state file, whose length follows them.
  fileprivate func stateKinds() throws -> Set<UInt8> {
    let bytes = TemporaryFolder.bytes(folder.file("state"))
    var kinds: Set<UInt8> = []
    var at = StateFile.header.count
    while at + 9 <= bytes.count {
      kinds.insert(bytes[at + 4])
      at += 9 + bytes[at + 5..<at + 9].reduce(0) { $0 << 8 | Int($1) } + 4
    }
    return kinds
  }
}
