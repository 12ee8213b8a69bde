import BorealisBase
import Core
import HTTP
import Model
import PushTesting
import Storage
import Testing

@testable import Console

/// A test notification through one channel, from the page of its credentials.
@Suite struct ChannelTestTests {
  /// Brings what the channel in the file brings, and goes first.
  private final class FirstChannel: ServiceChannel {
    let info = ChannelInfo(
      id: ChannelID(rawValue: 201), name: "first", english: "First", chinese: "第一",
      platforms: PlatformSet(.android), parts: .notification,
      tokens: [TokenKind(1, name: "word", form: .text, maximumBytes: 32)])

    func offers(_ content: PushContent, _ strategy: Strategy, in app: App) -> [ChannelOffer] {
      [ChannelOffer(DeliveryLeg(info.id), to: TokenSlot(info.id, kind: 1), on: info.platforms)]
    }

    func deliver(_ push: ChannelPush) {}
  }

  private static func set(
    _ channels: [ChannelID], of device: RegistrationID, in world: ConsoleWorld, _ app: App
  ) async throws {
    let number = try #require(app.directory.find(device))
    let tokens = channels.map { PushToken(TokenSlot($0, kind: 1), .only, Array("word \(number)".utf8)) }
    try await awaitCallback { done in
      world.router.registrations.setTokens(tokens, of: number, in: app) { done($0) }
    }.get()
  }

  @Test func `It goes to a device with a token, through this channel alone`() async throws {
    let world = try ConsoleWorld()
    let account = try await world.account("some")
    let app = try await world.app(of: account)
    let admin = try await world.member(.admin, of: account, name: "ada")
    let folder = TemporaryFolder()
    let (first, file) = (
      FirstChannel(), FileChannel(world.router, world.store, path: folder.file("x"), acceptsCredentials: true)
    )
    world.router.add(first)
    world.router.add(file)
    let page = "/console/apps/\(app.key.text)/settings/credentials/file"
    let none = await admin.open("\(page)/test")
    #expect(none.status == 200 && none.text.contains("No device can be reached through this channel yet"))
    #expect(!none.text.contains("Send a test notification</button>"))

    let devices = [try await world.device(in: app), try await world.device(in: app)]
    try await Self.set([first.info.id, file.info.id], of: devices[0], in: world, app)
    try await Self.set([first.info.id], of: devices[1], in: world, app)
    let shown = await admin.open("\(page)/test").text
    #expect(shown.contains("value=\"\(devices[0].text)\"") && shown.contains("this channel: 1"))
    #expect(!shown.contains(devices[1].text))

    func send(_ device: String, cid: String? = nil) async -> (status: Int, text: String, location: String) {
      let fields = [
        "registration_id": device, "title": "T", "text": "Hello", "cid": cid ?? PushPages.newCID(app),
      ]
      let answer = await admin.post("\(page)/test", fields)
      return (
        answer.status, String(decoding: answer.body, as: UTF8.self), answer.headers["location"] ?? ""
      )
    }
    let other = await send(devices[1].text)
    #expect(other.status == 422 && other.text.contains("This device has no token for this channel."))
    #expect(await send("nobody").text.contains("Enter the registration ID of one of the app&#39;s devices."))
    #expect(await send(devices[0].text, cid: "").status == 403)
    let sent = await send(devices[0].text)
    #expect(sent.status == 303 && sent.location.contains("/pushes/"), "\(sent)")
    let id = try #require(
      sent.location.split(separator: "/").last.flatMap { MessageID(decimal: Array($0.utf8)) })
    let rows = try await world.store.look { transaction throws(StorageError) in
      try transaction.deliveries.targets(of: id)
    }
    let legs = try #require(rows).push.legs
    #expect(legs.map(\.leg.channel) == [file.info.id])

    // Those who may not change credentials do not see the page.
    let sender = try await world.member(.sender, of: account, name: "sam")
    #expect(await sender.open("\(page)/test").status == 403)
  }

  /// The form has whole hours, of which such a plan allows none.
  @Test func `A plan of less than an hour allows test pushes`() async throws {
    let world = try ConsoleWorld()
    let account = try await world.account("some")
    let app = try await world.app(of: account)
    let admin = try await world.member(.admin, of: account, name: "ada")
    let folder = TemporaryFolder()
    let file = FileChannel(world.router, world.store, path: folder.file("x"), acceptsCredentials: true)
    world.router.add(file)
    let (id, plan) = (app.id, PlanRow(name: "brief", maxTimeToLive: 600))
    try await world.store.change { transaction throws(StorageError) in
      try transaction.plans.set(plan)
      _ = try transaction.apps.setPlan(app: id, plan.name)
    }
    while app.plan != plan { world.router.tick() }
    let device = try await world.device(in: app)
    try await Self.set([file.info.id], of: device, in: world, app)
    let base = "/console/apps/\(app.key.text)"
    let page = "\(base)/settings/credentials/file"
    _ = await admin.open("\(page)/test")
    let test = [
      "registration_id": device.text, "title": "T", "text": "Hello", "cid": PushPages.newCID(app),
    ]
    let sent = await admin.post("\(page)/test", test)
    #expect(sent.status == 303 && sent.headers["location"]?.contains("/pushes/") == true)
    let message = try #require(
      sent.headers["location"]?.split(separator: "/").last.flatMap { MessageID(decimal: Array($0.utf8)) })
    let row = try await world.store.look { transaction throws(StorageError) in
      try transaction.pushes.find(id: message)
    }
    let push = try #require(row)
    #expect(push.expiresAt.seconds - push.createdAt.seconds == 600)

    let form = await admin.open("\(base)/push").text
    #expect(form.contains("name=\"hours\" type=\"number\" value=\"\""))
    let typed = [
      "kind": "message", "android": "1", "audience": "registration", "names": device.text, "text": "x",
      "hours": "",
    ]
    let confirmed = await admin.submit("\(base)/push/confirm", typed)
    #expect(confirmed.status == 200 && confirmed.text.contains("<dd>10 minutes</dd>"))
  }
}
