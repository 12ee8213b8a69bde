import BorealisBase
import BorealisProtocol
import Foundation
import PushTesting
import Testing
import UserNotifications

@testable import BorealisDevice

/// An app with the library, against a server whose part the test plays.
@Suite(.timeLimit(.minutes(1)), .serialized) @MainActor struct BorealisTests {
  /// What the app learns, in words.
  final class Listener: BorealisListener {
    private let continuation: AsyncStream<String>.Continuation
    private var words: AsyncStream<String>.Iterator
    var handlesPushes = true
    private(set) var opened: [OpenedNotification] = []
    private(set) var pushes: [DevicePush] = []

    init() {
      let (stream, continuation) = AsyncStream<String>.makeStream()
      self.continuation = continuation
      words = stream.makeAsyncIterator()
    }

    /// The next word that begins so; others are skipped.
    func next(_ beginning: String) async -> String? {
      var iterator = words
      defer { words = iterator }
      while let word = await iterator.next(isolation: #isolation) {
        if word.hasPrefix(beginning) { return word }
      }
      return nil
    }

    func didRegister(_ registrationID: RegistrationID) {
      continuation.yield("registered \(registrationID.text)")
    }
    func didConnect(pending: UInt32) { continuation.yield("connected \(pending)") }
    func didDisconnect(_ reason: DisconnectReason, retryIn: UInt64?) {
      continuation.yield("disconnected \(reason)")
    }
    func didRecall(_ messageID: MessageID) { continuation.yield("recalled \(messageID.rawValue)") }
    func didOpen(_ notification: OpenedNotification) { opened.append(notification) }
    func didReceive(_ push: DevicePush) -> Bool {
      pushes.append(push)
      continuation.yield("push \(push.messageID.rawValue)")
      return handlesPushes
    }
  }

  private let folder = TemporaryFolder()
  private let server: TestServer
  private let listener = Listener()
  private let borealis: Borealis

  init() throws {
    server = try TestServer()
    var configuration = try #require(
      BorealisConfiguration(server: "127.0.0.1:\(server.port)", appKey: CoreRun.appKey.text))
    configuration.security = .plain
    configuration.statePath = folder.file("library/state")
    configuration.appGroup = "group.test"
    configuration.api = "http://push.test"
    setenv("TEST_APP_GROUPS", folder.path, 1)
    borealis = Borealis(configuration, listener: listener)
  }

  private static func notification(
    _ userInfo: [AnyHashable: Any], id: String = "x"
  ) -> UNNotification {
    let content = UNMutableNotificationContent()
    content.userInfo = userInfo
    return UNNotification(of: UNNotificationRequest(identifier: id, content: content, trigger: nil))
  }

  private static func payload(_ id: UInt64, _ more: [String: Any] = [:]) -> [AnyHashable: Any] {
    var payload: [AnyHashable: Any] = ["aps": ["alert": "Hello"], "_j_msgid": id]
    for (name, value) in more { payload[name] = value }
    return payload
  }

  @Test func nothingHappensWithoutConsent() throws {
    let registrations = Phone.registrations
    borealis.didRegister(Data([1, 2, 3]))
    try borealis.start(consent: false)
    borealis.stop()
    #expect(TemporaryFolder.files(folder.path).isEmpty)
    #expect(Phone.registrations == registrations)
    #expect(UNUserNotificationCenter.current().delegate === borealis)
  }

  @Test func aConfigurationIsChecked() {
    #expect(BorealisConfiguration(server: "push.example.com", appKey: CoreRun.appKey.text) == nil)
    #expect(BorealisConfiguration(server: "push.example.com:7443", appKey: "short") == nil)
    #expect(BorealisConfiguration(server: "[::1]:7443", appKey: CoreRun.appKey.text)?.server.host == "::1")
  }

  /// State and token go out first, a push comes in, and the server learns that the app leaves the screen.
  @Test func followsTheLifeOfTheApp() async throws {
    async let served = server.play { server in
      let peer = try server.accept()
      try peer.welcome()
      // In the order in which the main thread makes them.
      var operations = Set([try peer.answer(), try peer.answer()])
      try peer.send(CoreRun.push(5))
      let acknowledged = try peer.acknowledged(1)
      operations.insert(try peer.answer())
      return (operations, acknowledged)
    }
    borealis.didRegister(Data([1, 2, 3]))
    let registrations = Phone.registrations
    try borealis.start()
    #expect(Phone.registrations == registrations + 1)
    #expect(await listener.next("registered") == "registered \(CoreRun.identity.registrationID.text)")
    #expect(await listener.next("connected") == "connected 2")
    #expect(await listener.next("push") == "push 5")
    let tasks = Phone.backgroundTasks
    Phone.leaveApp()
    let (operations, acknowledged) = try await served
    #expect(acknowledged == [5])
    #expect(
      operations == [
        .appState(.foreground), .appState(.background), .setToken(DeviceToken(.production, [1, 2, 3])),
      ])
    #expect(Phone.backgroundTasks == tasks + 1)
    borealis.stop()
    #expect(await listener.next("disconnected stopped") != nil)
    await borealis.device.close()
    // What the extension needs is there.
    let handover = try #require(SharedFolder(group: "group.test")?.handover)
    #expect(handover.registrationID == CoreRun.identity.registrationID.text)
    #expect(handover.api == "http://push.test" && handover.appKey == CoreRun.appKey.text)
    #expect(handover.secret == Hex.encode(CoreRun.identity.secret.bytes))
  }

  /// A tap that started the app comes before the start, and is reported after it.
  @Test func tapsAreNotLost() async throws {
    let response = UNNotificationResponse(
      UNNotificationDefaultActionIdentifier,
      to: Self.notification(Self.payload(9, ["page": "offers", "n": 3])))
    await Phone.tap(response, borealis)
    let opened = try #require(listener.opened.first)
    #expect(opened.messageID == MessageID(9) && opened.action == nil)
    #expect(opened.userInfo.keys.sorted { "\($0)" < "\($1)" } == ["n", "page"])
    let dismissed = UNNotificationResponse(
      UNNotificationDismissActionIdentifier, to: Self.notification(Self.payload(10)))
    #expect(!borealis.handle(dismissed))
    let others = UNNotificationResponse(
      UNNotificationDefaultActionIdentifier, to: Self.notification(["aps": ["alert": "another's"]]))
    #expect(!borealis.handle(others))
    let action = UNNotificationResponse("reply", to: Self.notification(Self.payload(11)))
    #expect(borealis.handle(action))
    #expect(listener.opened.map(\.action) == [nil, "reply"])
    async let receipts = server.play { server in
      let peer = try server.accept()
      try peer.welcome()
      var receipts: [Receipt] = []
      while receipts.count < 4, let next = try peer.next() {
        guard case .receipt(let list) = next.frame else { continue }
        for index in 0..<list.count { receipts.append(list[index, in: next.bytes.span]) }
      }
      return receipts
    }
    try borealis.start()
    #expect(
      try await receipts == [
        Receipt(.shown, MessageID(9)), Receipt(.tapped, MessageID(9)), Receipt(.shown, MessageID(11)),
        Receipt(.tapped, MessageID(11)),
      ])
    await borealis.device.close()
  }

  /// The user sees each notification once: by APNs, by the connection, or by the extension's note.
  @Test func eachNotificationIsPresentedOnce() async throws {
    let group = try #require(SharedFolder(group: "group.test"))
    group.write(
      SharedFolder.Handover(api: "a", appKey: "k", registrationID: "r", secret: "s", keys: Data()))
    group.note(MessageID(3), isReported: true)
    group.note(MessageID(4), isReported: false)
    async let served = server.play { server in
      let peer = try server.accept()
      try peer.welcome()
      var receipts: [Receipt] = []
      while receipts.count < 2, let next = try peer.next() {
        guard case .receipt(let list) = next.frame else { continue }
        for index in 0..<list.count { receipts.append(list[index, in: next.bytes.span]) }
      }
      try peer.send(Self.push(3) + Self.push(6) + Wire.bytes(.recall(MessageID(7))))
      #expect(try peer.next() == nil || true)
      return receipts
    }
    borealis.presentation = [.banner]
    try borealis.start()
    #expect(borealis.presentation(for: Self.notification(Self.payload(2))) == [.banner])
    #expect(borealis.presentation(for: Self.notification(Self.payload(2))) == [])
    #expect(borealis.presentation(for: Self.notification(Self.payload(4))) == [], "the extension had it")
    #expect(borealis.presentation(for: Self.notification(["aps": ["alert": "another's"]])) == nil)
    let others = await Phone.presentation(of: Self.notification(["a": 1]), by: borealis)
    #expect(others == [.banner], "as usual")
    #expect(await listener.next("push 3") != nil)
    #expect(await listener.next("push 6") != nil)
    #expect(await listener.next("recalled 7") != nil)
    // Not of 3, which the server had from the extension.
    #expect(try await served == [Receipt(.shown, MessageID(4)), Receipt(.shown, MessageID(2))])
    #expect(listener.pushes.map { borealis.show($0) } == [false, true])
    let shown = try #require(UNUserNotificationCenter.current().shown.first { $0.identifier == "6" })
    #expect(shown.content.title == "T" && shown.content.body == "B" && shown.content.subtitle == "S")
    #expect(shown.content.userInfo["page"] as? String == "offers" && shown.content.badge == 4)
    #expect(borealis.presentation(for: UNNotification(of: shown)) == [.banner])
    let tap = UNNotificationResponse(UNNotificationDefaultActionIdentifier, to: UNNotification(of: shown))
    #expect(borealis.handle(tap) && listener.opened.last?.messageID == MessageID(6))
    await borealis.device.close()
  }

  /// The app is asked to show it all the same.
  @Test func whatTheSystemDoesNotTakeIsNotReported() async throws {
    async let served = server.play { server in
      let peer = try server.accept()
      try peer.welcome()
      try peer.send(Self.push(16) + Self.push(17))
      var receipts: [Receipt] = []
      while receipts.isEmpty, let next = try peer.next() {
        guard case .receipt(let list) = next.frame else { continue }
        for index in 0..<list.count { receipts.append(list[index, in: next.bytes.span]) }
      }
      return receipts
    }
    try borealis.start()
    #expect(await listener.next("push 16") != nil)
    #expect(await listener.next("push 17") != nil)
    let center = UNUserNotificationCenter.current()
    center.isAllowed = false
    #expect(borealis.show(listener.pushes[0]))
    center.isAllowed = true
    #expect(borealis.show(listener.pushes[1]))
    #expect(try await served == [Receipt(.shown, MessageID(17))])
    #expect(!center.shown.contains { $0.identifier == "16" })
    await borealis.device.close()
  }

  nonisolated private static func push(_ id: UInt64) -> [UInt8] {
    let content = """
      {"notification":{"alert":{"title":"T","subtitle":"S","body":"B"},"badge":4,"sound":"default",\
      "thread-id":"t","category":"c","extras":{"page":"offers"}}}
      """
    return ServerFrame.encodePush(messageID: MessageID(id), offline: false, content: Array(content.utf8))
  }

  @Test func theNumberOnTheIconIsTold() async throws {
    async let served = server.play { server in
      let peer = try server.accept()
      try peer.welcome()
      return [try peer.answer(), try peer.answer()]
    }
    try borealis.start()
    borealis.setBadge(3)
    #expect(try await served == [.appState(.foreground), .setBadge(3)])
    #expect(UNUserNotificationCenter.current().badge == 3)
    #expect(try await borealis.requestPermission())
    #expect(UNUserNotificationCenter.current().authorization == [.alert, .badge, .sound])
    await borealis.device.close()
  }

  /// The facts of the phone are read when the server asks for them, and no others are.
  @Test func factsAreReportedWhenAskedFor() async throws {
    let wanted: [DeviceFact] = [.language, .timeZone, .system, .model, .appVersion, .storeChannel]
    async let served = server.play { server in
      let peer = try server.accept()
      try peer.welcome(version: 6)
      _ = try peer.answer()
      try peer.send(Wire.bytes(.factsWanted(DeviceFactSet(wanted.map { DeviceFactSet($0) }))))
      var facts: [DeviceFact: String] = [:]
      for _ in 0..<2 {
        guard case .setFacts(let report) = try peer.answer() else { break }
        facts.merge(report) { $1 }
      }
      return facts
    }
    try borealis.start()
    #expect(await listener.next("connected") != nil)
    borealis.device.setFacts([.storeChannel: "TestFlight", .optedOut: "no"])
    let facts = try await served
    #expect(facts[.system] == "iOS" && facts[.storeChannel] == "TestFlight" && facts[.optedOut] == nil)
    #expect(facts[.timeZone] == TimeZone.current.identifier)
    #expect(facts[.language] == Locale.preferredLanguages.first && facts[.model]?.isEmpty == false)
    #expect(facts[.systemVersion] == nil && facts[.notificationPermission] == nil)
    await borealis.device.close()
  }

  /// The permission is reported again when the user has answered.
  @Test func thePermissionIsReportedAfterTheQuestion() async throws {
    UNUserNotificationCenter.current().authorization = nil
    let (wanted, isKnown) = (DeviceFactSet(.notificationPermission), AsyncStream<Void>.makeStream())
    async let served = server.play { server in
      let peer = try server.accept()
      try peer.welcome(version: 6)
      _ = try peer.answer()
      try peer.send(Wire.bytes(.factsWanted(wanted)))
      let first = try peer.answer()
      isKnown.continuation.yield()
      return [first, try peer.answer()]
    }
    try borealis.start()
    var known = isKnown.stream.makeAsyncIterator()
    _ = await known.next()
    #expect(try await borealis.requestPermission())
    #expect(
      try await served == [
        .setFacts([.notificationPermission: "not_asked"]), .setFacts([.notificationPermission: "on"]),
      ])
    await borealis.device.close()
  }

  /// A push that the app does not report as handled comes again.
  @Test func whatIsNotHandledIsNotAcknowledged() async throws {
    listener.handlesPushes = false
    async let served = server.play { server in
      let peer = try server.accept()
      try peer.welcome()
      _ = try peer.answer()
      try peer.send(CoreRun.push(5))
      return try peer.acknowledged(1)
    }
    try borealis.start()
    #expect(await listener.next("push") == "push 5")
    borealis.device.handled(MessageID(5))
    #expect(try await served == [5])
    await borealis.device.close()
  }
}
