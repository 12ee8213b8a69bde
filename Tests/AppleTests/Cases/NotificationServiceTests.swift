import BorealisBase
import BorealisCrypto
import BorealisProtocol
import Foundation
import PushTesting
import Testing
import UserNotifications

@testable import BorealisDevice

/// The extension with what the app has left it. Its requests are in BlackBoxTests.
@Suite(.timeLimit(.minutes(1)), .serialized) struct NotificationServiceTests {
  final class Service: BorealisNotificationService {
    var attachment: URL?

    override var appGroup: String { "group.test" }

    override func attachmentURL(in userInfo: [AnyHashable: Any]) -> URL? {
      attachment ?? super.attachmentURL(in: userInfo)
    }

    override func adapt(_ content: UNMutableNotificationContent) { content.threadIdentifier += "adapted" }
  }

  private let folder = TemporaryFolder()
  private let shared: SharedFolder

  init() throws {
    setenv("TEST_APP_GROUPS", folder.path, 1)
    shared = try #require(SharedFolder(group: "group.test"))
  }

  static func request(_ userInfo: [AnyHashable: Any]) -> UNNotificationRequest {
    let content = UNMutableNotificationContent()
    content.title = "News"
    content.body = "You have news"
    content.userInfo = userInfo
    return UNNotificationRequest(identifier: "1", content: content, trigger: nil)
  }

  /// What is shown of a notification.
  static func show(
    _ request: UNNotificationRequest, by service: BorealisNotificationService
  ) async -> UNNotificationContent {
    nonisolated(unsafe) let request = request
    nonisolated(unsafe) let service = service
    let content = await awaitCallback { (done: @escaping @Sendable (Shown) -> Void) in
      service.didReceive(request) { done(Shown(content: $0)) }
    }
    return content.content
  }

  private struct Shown: @unchecked Sendable {
    let content: UNNotificationContent
  }

  private func handover(_ keys: DeviceKeyRing = DeviceKeyRing()) -> SharedFolder.Handover {
    var bytes: [UInt8] = []
    for record in keys.records { StateRecord.key(record).encode(device: 0, into: &bytes) }
    // Nobody listens there.
    return SharedFolder.Handover(
      api: "http://127.0.0.1:1", appKey: "k", registrationID: "r", secret: "s", keys: Data(bytes))
  }

  @Test func othersNotificationsStayAsTheyAre() async {
    let request = Self.request(["aps": ["alert": "another's"]])
    #expect(await Self.show(request, by: Service()).threadIdentifier == "")
  }

  @Test func beforeTheFirstStartWhatCameIsShown() async {
    let request = Self.request([
      "aps": ["alert": "x"], "_j_msgid": 5, "encrypted": ["key": "x", "data": "y"],
    ])
    let content = await Self.show(request, by: Service())
    #expect(content.body == "You have news" && content.threadIdentifier == "adapted")
    #expect(shared.drainNotes().isEmpty)
  }

  @Test(arguments: [DeviceKeyKind.x25519, .p256]) func decrypts(kind: DeviceKeyKind) async throws {
    var ring = DeviceKeyRing()
    #expect(ring.rotate(kind, at: 0) != nil)
    let key = try #require(ring.publicKey)
    shared.write(handover(ring))
    let plain = #"{"alert":{"title":"Bank","body":"12 yuan"},"badge":2,"extras":{"page":"account"}}"#
    let data = Base64.encode(try key.seal(Array(plain.utf8)))
    let request = Self.request([
      "aps": ["alert": "You have news"], "_j_msgid": 6,
      "encrypted": ["alg": "aes128gcm", "key": key.id.text, "data": data],
    ])
    let content = await Self.show(request, by: Service())
    #expect(content.title == "Bank" && content.body == "12 yuan" && content.badge == 2)
    #expect(content.userInfo["page"] as? String == "account")
    // The server was not there: the app will tell it.
    let notes = shared.drainNotes()
    #expect(notes.map(\.id) == [MessageID(6)] && notes.map(\.isReported) == [false])

    let changed = Self.request([
      "aps": ["alert": "x"], "_j_msgid": 7,
      "encrypted": ["alg": "aes128gcm", "key": key.id.text, "data": String(data.reversed())],
    ])
    #expect(await Self.show(changed, by: Service()).body == "You have news")
  }

  @Test func theEndOfTheTimeShowsWhatIsThere() async throws {
    shared.write(handover())
    // It accepts connections and answers nothing.
    let server = try TestServer()
    let service = Service()
    service.attachment = URL(string: "http://127.0.0.1:\(server.port)/picture.png")
    nonisolated(unsafe) let extensionOfTheApp = service
    nonisolated(unsafe) let request = Self.request(["aps": ["alert": "x"], "_j_msgid": 8])
    let (stream, continuation) = AsyncStream<String>.makeStream()
    extensionOfTheApp.didReceive(request) { content in
      continuation.yield(content.body)
    }
    extensionOfTheApp.serviceExtensionTimeWillExpire()
    extensionOfTheApp.serviceExtensionTimeWillExpire()
    continuation.finish()
    var bodies: [String] = []
    for await body in stream { bodies.append(body) }
    #expect(bodies == ["You have news"], "once")
  }

  @Test func notesAreTakenOnce() {
    shared.write(handover())
    for id in [3, 1, 2] as [UInt64] { shared.note(MessageID(id), isReported: id == 2) }
    shared.note(MessageID(2), isReported: false)
    let notes = shared.drainNotes()
    #expect(notes.map(\.id.rawValue) == [1, 2, 3] && notes.map(\.isReported) == [false, true, false])
    #expect(shared.drainNotes().isEmpty)
    #expect(shared.handover == handover(), "which are not notes")
    shared.write(nil)
    #expect(shared.handover == nil)
  }
}
