import BorealisBase
import BorealisDevice
import BorealisProtocol
import Foundation
import PushTesting
import Testing
import UserNotifications

@testable import BorealisGetui

/// An app that calls Getui's library keeps its calls.
@Suite(.timeLimit(.minutes(1)), .serialized) @MainActor struct GetuiFacadeTests {
  private static func notification(_ id: UInt64) -> UNNotification {
    let content = UNMutableNotificationContent()
    content.userInfo = ["aps": ["alert": "Hello"], "_j_msgid": id, "payload": "page"]
    return UNNotification(of: UNNotificationRequest(identifier: "x", content: content, trigger: nil))
  }

  @Test func withoutAStartCallsEnd() {
    GeTuiSdk.app = nil
    #expect(GeTuiSdk.clientId() == "" && GeTuiSdk.status() == .stoped && !GeTuiSdk.queryTag("1"))
    #expect(!GeTuiSdk.registerDeviceToken("00") && !GeTuiSdk.setTags([]))
    #expect(!GeTuiSdk.sendFeedbackMessage(60001, andTaskId: "", andMsgId: "1"))
    // This program has no Info.plist.
    let delegate = GetuiDelegate()
    GeTuiSdk.start(withAppId: CoreRun.appKey.text, appKey: "", appSecret: "", delegate: delegate)
    #expect(GeTuiSdk.app == nil && delegate.seen == ["error BorealisServer or the app ID is not valid"])
  }

  @Test func anAppRuns() async throws {
    let folder = TemporaryFolder()
    let server = try TestServer()
    GeTuiSdk.app = nil
    defer { GeTuiSdk.app = nil }
    var configuration = try #require(
      BorealisConfiguration(server: "127.0.0.1:\(server.port)", appKey: CoreRun.appKey.text))
    configuration.security = .plain
    configuration.statePath = folder.file("state")

    async let served = server.play { server in
      let peer = try server.accept()
      try peer.welcome(version: 2)
      var operations = [
        try peer.answer(), try peer.answer(.aliasFull), try peer.answer(.ok, .alias("bert")),
        try peer.answer(.tooFrequent), try peer.answer(.ok, .tags(["a", "b"])), try peer.answer(),
      ]
      let content = #"{"message":{"msg_content":"hi"}}"#
      try peer.send(
        ServerFrame.encodePush(messageID: MessageID(21), offline: true, content: Array(content.utf8)))
      var isAcknowledged = false
      while operations.count < 7 || !isAcknowledged, let next = try peer.next() {
        if case .operation(let number, let operation) = next.frame {
          operations.append(operation)
          try peer.send(Wire.result(number, .ok, .none))
        } else {
          isAcknowledged = true
        }
      }
      return operations
    }
    let delegate = GetuiDelegate()
    GeTuiSdk.start(configuration, delegate: delegate)
    let cid = CoreRun.identity.registrationID.text
    await delegate.wait(for: "client \(cid)")
    #expect(GeTuiSdk.clientId() == cid)
    GeTuiSdk.bindAlias("anna", andSequenceNum: "1")
    await delegate.wait(for: "bindAlias 1 false 30007")
    GeTuiSdk.unbindAlias("anna", andSequenceNum: "2", andIsSelf: false)
    // Its alias is another one.
    GeTuiSdk.unbindAlias("anna", andSequenceNum: "3", andIsSelf: true)
    await delegate.wait(for: "unbindAlias 3 true -")
    #expect(!GeTuiSdk.setTags([1]) && GeTuiSdk.setTags(["b", "a"], andSequenceNum: "4"))
    await delegate.wait(for: "tags 4 false 20002")
    #expect(GeTuiSdk.queryTag("5"))
    await delegate.wait(for: "queried [\"a\", \"b\"] 5 -")
    #expect(!GeTuiSdk.registerLiveActivity("match", activityToken: "xy", sequenceNum: "6"))
    #expect(GeTuiSdk.registerLiveActivity("match", activityToken: "0A0B", sequenceNum: "6"))
    await delegate.wait(for: "activity 6 true -")
    await delegate.wait(for: "payload hi 21 21 true")
    GeTuiSdk.setBadge(7)
    let activity = OtherToken(
      try #require(APNsTokenSlot(.liveActivity, name: "match")), DeviceToken(.production, [10, 11]))
    #expect(
      try await served == [
        .appState(.foreground), .setAlias("anna"), .getAlias, .setTags(["a", "b"]), .getTags,
        .setOtherToken(activity), .setBadge(7),
      ])
    // The server's part is over, so the connection may be too.
    #expect(
      delegate.seen.filter { $0 != "state offline" } == [
        "state starting", "client \(cid)", "state started", "bindAlias 1 false 30007",
        "unbindAlias 2 false 30002", "unbindAlias 3 true -", "tags 4 false 20002",
        "queried [\"a\", \"b\"] 5 -", "activity 6 true -", "payload hi 21 21 true",
      ])
    try await apns(delegate)
    await GeTuiSdk.app?.borealis.device.close()
  }

  /// What arrives through APNs, and how pushes are turned off.
  private func apns(_ delegate: GetuiDelegate) async throws {
    GeTuiSdk.registerRemoteNotification([.alert])
    await delegate.wait(for: "granted true")
    let center = try #require(UNUserNotificationCenter.current().delegate)
    let first = await Phone.presentation(of: Self.notification(22), by: center)
    let second = await Phone.presentation(of: Self.notification(22), by: center)
    #expect(first == [.sound] && second == [])
    await Phone.tap(
      UNNotificationResponse(UNNotificationDefaultActionIdentifier, to: Self.notification(22)), center)
    GeTuiSdk.setPushModeForOff(true)
    #expect(
      delegate.seen.suffix(5).filter { !$0.hasPrefix("state offline") }.suffix(4) == [
        "presents", "tap page", "state stoped", "off true",
      ])
    #expect(GeTuiSdk.status() == .stoped)
    #expect(GeTuiSdk.sendFeedbackMessage(60002, andTaskId: "23", andMsgId: "23"))
    #expect(!GeTuiSdk.sendFeedbackMessage(90001, andTaskId: "23", andMsgId: "23"))
  }
}
