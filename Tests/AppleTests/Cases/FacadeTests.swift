import BorealisBase
import BorealisDevice
import BorealisProtocol
import Foundation
import PushTesting
import Testing
import UserNotifications

@testable import BorealisJPush

/// An app that calls JPush's library keeps its calls.
@Suite(.timeLimit(.minutes(1)), .serialized) @MainActor struct FacadeTests {
  /// The calls as JPush's header gives them to Swift: one that has another form does not compile.
  @Test func theCallsHaveTheirForm() {
    let setUp: (@MainActor ([AnyHashable: Any]?, String, String?, Bool) -> Void, Any) = (
      JPUSHService.setup(withOption:appKey:channel:apsForProduction:),
      JPUSHService.setup(withOption:appKey:channel:apsForProduction:advertisingIdentifier:)
        as @MainActor ([AnyHashable: Any]?, String, String?, Bool, String?) -> Void
    )
    let calls: [Any] = [
      setUp.0, setUp.1,
      JPUSHService.register(forRemoteNotificationConfig:delegate:)
        as @MainActor (JPUSHRegisterEntity, (any JPUSHRegisterDelegate)?) -> Void,
      JPUSHService.registerDeviceToken as @MainActor (Data) -> Void,
      JPUSHService.registerVoipToken as @MainActor (Data) -> Void,
      JPUSHService.handleRemoteNotification as @MainActor ([AnyHashable: Any]) -> Void,
      JPUSHService.handleVoipNotification as @MainActor ([AnyHashable: Any]) -> Void,
      JPUSHService.registerLiveActivity(_:pushToken:completion:seq:)
        as @MainActor (String, Data?, JPUSHLiveActivityTokenCompletion?, Int) -> Void,
      JPUSHService.registerLiveActivity(_:pushToStartToken:completion:seq:)
        as @MainActor (String, Data?, JPUSHLiveActivityTokenCompletion?, Int) -> Void,
      JPUSHService.setAlias(_:completion:seq:)
        as @MainActor (String, JPUSHAliasOperationCompletion?, Int) -> Void,
      JPUSHService.deleteAlias(_:seq:) as @MainActor (JPUSHAliasOperationCompletion?, Int) -> Void,
      JPUSHService.getAlias(_:seq:) as @MainActor (JPUSHAliasOperationCompletion?, Int) -> Void,
      JPUSHService.setTags(_:completion:seq:)
        as @MainActor (Set<String>, JPUSHTagsOperationCompletion?, Int) -> Void,
      JPUSHService.addTags(_:completion:seq:)
        as @MainActor (Set<String>, JPUSHTagsOperationCompletion?, Int) -> Void,
      JPUSHService.deleteTags(_:completion:seq:)
        as @MainActor (Set<String>, JPUSHTagsOperationCompletion?, Int) -> Void,
      JPUSHService.cleanTags(_:seq:) as @MainActor (JPUSHTagsOperationCompletion?, Int) -> Void,
      JPUSHService.getAllTags(_:seq:) as @MainActor (JPUSHTagsOperationCompletion?, Int) -> Void,
      JPUSHService.validTag(_:completion:seq:)
        as @MainActor (String, JPUSHTagValidOperationCompletion?, Int) -> Void,
      JPUSHService.filterValidTags as @MainActor (Set<String>) -> Set<String>,
      JPUSHService.registrationID as @MainActor () -> String,
      JPUSHService.registrationIDCompletionHandler
        as @MainActor (@escaping (Int32, String?) -> Void) -> Void,
      JPUSHService.setBadge as @MainActor (Int) -> Bool, JPUSHService.resetBadge as @MainActor () -> Void,
      JPUSHService.setDebugMode as @MainActor () -> Void, JPUSHService.setLogOFF as @MainActor () -> Void,
      JGInforCollectionAuth.jCollectionAuth as @MainActor ((JGInforCollectionAuthItems) -> Void) -> Void,
    ]
    #expect(calls.count == 26)
  }

  /// Whatever is public is in the list, and whatever is in the list is public.
  @Test(arguments: [("BorealisJPush", "jpush"), ("BorealisGetui", "getui")])
  func theListNamesEveryCall(module: String, facade: String) throws {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    let list = try String(
      contentsOf: root.appendingPathComponent("\(facade)-signatures.txt"), encoding: .utf8)
    let sources = root.deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("Sources/\(module)")
    var found: [String] = []
    for name in try FileManager.default.contentsOfDirectory(atPath: sources.path).sorted() {
      let text = try String(contentsOf: sources.appendingPathComponent(name), encoding: .utf8)
      let declaration =
        /public static (?:func|let) (?<name>\w+)(?:\((?<parameters>[^{]*?)\)(?: -> (?<result>[^{]*?))? \{)?/
      for match in text.matches(of: declaration) {
        var line = String(match.name)
        if let parameters = match.parameters { line += "(\(parameters))" }
        if let result = match.result { line += " -> \(result)" }
        found.append(line.split { $0 == " " || $0 == "\n" }.joined(separator: " "))
      }
    }
    #expect(found.sorted() == list.split(separator: "\n").map(String.init))
  }

  private final class Delegate: JPUSHRegisterDelegate {
    var taps: [UNNotificationResponse] = []
    var presented = 0

    func jpushNotificationCenter(
      _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
      withCompletionHandler completionHandler: @escaping (Int) -> Void
    ) {
      presented += 1
      completionHandler(Int(UNNotificationPresentationOptions.sound.rawValue))
    }

    func jpushNotificationCenter(
      _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
      withCompletionHandler completionHandler: @escaping () -> Void
    ) {
      taps.append(response)
      completionHandler()
    }
  }

  private static func notification(_ id: UInt64) -> UNNotification {
    let content = UNMutableNotificationContent()
    content.userInfo = ["aps": ["alert": "Hello"], "_j_msgid": id]
    return UNNotification(of: UNNotificationRequest(identifier: "x", content: content, trigger: nil))
  }

  /// The names of the notifications that the facade posts, as they come.
  private func names() -> AsyncStream<String> {
    let all: [Notification.Name] = [
      .jpfNetworkIsConnecting, .jpfNetworkDidSetup, .jpfNetworkDidClose, .jpfNetworkDidRegister,
      .jpfNetworkFailedRegister, .jpfNetworkDidLogin, .jpfNetworkDidReceiveMessage, .jpfServiceError,
    ]
    let (stream, continuation) = AsyncStream<String>.makeStream()
    for name in all {
      _ = NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) { note in
        let content = ["content", "RegistrationID", "error"].lazy.compactMap { note.userInfo?[$0] }.first
        continuation.yield(name.rawValue + (content.map { " \($0)" } ?? ""))
      }
    }
    return stream
  }

  @Test func withoutASetUpCallsEnd() {
    JPUSHService.app = nil
    var codes: [Int] = []
    JPUSHService.setAlias("a", completion: { code, _, seq in codes += [code, seq] }, seq: 3)
    JPUSHService.validTag(
      "a", completion: { code, _, seq, has in codes += [code, seq, has ? 1 : 0] }, seq: 4)
    #expect(codes == [6012, 3, 6012, 4, 0])
    JPUSHService.registrationIDCompletionHandler { code, id in codes = [Int(code), id == nil ? 0 : 1] }
    #expect(codes == [1011, 0] && JPUSHService.registrationID() == "" && !JPUSHService.setBadge(1))
    // This program has no Info.plist.
    JPUSHService.setup(withOption: nil, appKey: CoreRun.appKey.text, channel: nil, apsForProduction: true)
    #expect(JPUSHService.app == nil)
  }

  @Test func tagsThatAreTooLongAreLeftOut() {
    let tags: Set = ["a", "", String(repeating: "长", count: 32), String(repeating: "x", count: 41)]
    #expect(JPUSHService.filterValidTags(tags) == ["a", String(repeating: "长", count: 32)])
  }

  @Test func anAppRuns() async throws {
    let folder = TemporaryFolder()
    let server = try TestServer()
    JPUSHService.app = nil
    defer { JPUSHService.app = nil }
    JGInforCollectionAuth.jCollectionAuth { $0.isAuth = false }
    var events = names().makeAsyncIterator()
    var configuration = try #require(
      BorealisConfiguration(server: "127.0.0.1:\(server.port)", appKey: CoreRun.appKey.text))
    configuration.security = .plain
    configuration.statePath = folder.file("state")
    JPUSHService.setup(configuration)
    let delegate = Delegate()
    let entity = JPUSHRegisterEntity()
    entity.types = Int(JPAuthorizationOptions.alert.rawValue | JPAuthorizationOptions.sound.rawValue)
    JPUSHService.register(forRemoteNotificationConfig: entity, delegate: delegate)
    #expect(TemporaryFolder.files(folder.path).isEmpty, "without consent")

    async let served = server.play { server in
      let peer = try server.accept()
      try peer.welcome()
      let operations = [
        try peer.answer(), try peer.answer(.aliasFull), try peer.answer(.ok, .tags(["a", "b"])),
      ]
      let content = #"{"message":{"msg_content":"hi","extras":{"k":1}},"notification":{"alert":"Hello"}}"#
      try peer.send(
        ServerFrame.encodePush(messageID: MessageID(21), offline: false, content: Array(content.utf8)))
      while let next = try peer.next() { if case .acknowledge = next.frame { break } }
      return operations
    }
    JGInforCollectionAuth.jCollectionAuth { $0.isAuth = true }
    let id: String? = await withCheckedContinuation { continuation in
      JPUSHService.registrationIDCompletionHandler { code, id in
        continuation.resume(returning: code == 0 ? id : nil)
      }
    }
    #expect(id == CoreRun.identity.registrationID.text && JPUSHService.registrationID() == id)
    let alias: [String] = await withCheckedContinuation { continuation in
      JPUSHService.setAlias(
        "anna",
        completion: { code, alias, seq in
          continuation.resume(returning: ["\(code)", alias ?? "", "\(seq)"])
        }, seq: 7)
    }
    #expect(alias == ["\(ResultCode.aliasFull.rawValue)", "anna", "7"])
    let tags: Set<String>? = await withCheckedContinuation { continuation in
      JPUSHService.getAllTags({ _, tags, _ in continuation.resume(returning: tags as? Set<String>) }, seq: 8)
    }
    #expect(tags == ["a", "b"])
    #expect(try await served == [.appState(.foreground), .setAlias("anna"), .getTags])
    var seen: [String] = []
    while seen.last?.hasPrefix("kJPFNetworkDidReceiveMessage") != true,
      let event = await events.next(isolation: #isolation)
    {
      seen.append(event)
    }
    #expect(
      seen == [
        "kJPFNetworkIsConnectingNotification",
        "kJPFNetworkDidRegisterNotification \(CoreRun.identity.registrationID.text)",
        "kJPFNetworkDidSetupNotification", "kJPFNetworkDidLoginNotification",
        "kJPFNetworkDidReceiveMessageNotification hi",
      ])
    #expect(UNUserNotificationCenter.current().shown.contains { $0.identifier == "21" })

    let center = try #require(UNUserNotificationCenter.current().delegate)
    let first = await Phone.presentation(of: Self.notification(22), by: center)
    let second = await Phone.presentation(of: Self.notification(22), by: center)
    #expect(first == [.sound] && second == [] && delegate.presented == 1)
    let tap = UNNotificationResponse(UNNotificationDefaultActionIdentifier, to: Self.notification(22))
    await Phone.tap(tap, center)
    #expect(delegate.taps == [tap])
    await JPUSHService.app?.borealis.device.close()
  }
}
