import BorealisBase
import BorealisCrypto
import Model
import PushTesting
import Storage
import Synchronization
import Testing

@testable import Core

/// Callbacks to an app's own address in Getui's format.
@Suite(.timeLimit(.minutes(2))) struct GetuiFormatTests {
  private func set(_ url: String, _ world: CallbackWorld) async throws -> CallbackSetting {
    try await awaitCallback { done in
      world.service.set(world.app.id, url: url, types: .all, format: .getui) {
        done($0.map { $0.setting })
      }
    }.get()
  }

  private func makeSecret(_ world: CallbackWorld) async throws -> String {
    try await awaitCallback { done in
      world.service.getui.make(for: world.app.id) { done($0) }
    }.get()
  }

  @Test func `The published vector is the digest of a receipt`() {
    let signed =
      "demoAppId00001ccccccccccccccccccccccccccccccccRASL_0101_0123456789abcdef0123456789abcdefm-0001demoMasterSecret01"
    #expect(MD5.digest(Array(signed.utf8)).map { Hex.encode($0) } == "d481ab655085cd6068a508dfff578510")
  }

  @Test func `Without a master secret it is refused`() async throws {
    let world = try await CallbackWorld()
    await #expect(throws: CallbackError.noGetuiSecret) { _ = try await set("http://127.0.0.1:9/", world) }
  }

  @Test func `What a device has shown has a receipt of its own, once`() async throws {
    let world = try await CallbackWorld()
    let (receiver, other) = (try TestReceiver(), try TestReceiver())
    defer {
      receiver.close()
      other.close()
    }
    _ = try await makeSecret(world)
    _ = try await set(receiver.url, world)
    let (android, phone) = (
      try await world.register(), try await world.router.newDevice(in: world.app, platform: .ios)
    )
    let plain = try await world.push()
    let named = try await world.push(callback: PushCallback(url: other.url))
    for number in [android.number, phone.number, android.number] {
      _ = world.router.deliveries.acknowledge([plain, named], by: number, in: world.app)
      world.router.deliveries.note([(plain, false), (named, false)], by: number, in: world.app)
    }
    @Sendable func actions() -> [String] {
      receiver.requests.flatMap { $0.body.split(separator: 10) }
        .compactMap { try? parseJSON(Array($0)) }.compactMap { $0["actionId"]?.string }
    }
    try await world.tick { actions().count >= 4 && !other.requests.isEmpty }
    #expect(actions().sorted() == ["0", "0", "10000", "10009"])
    // The format of an address that a push names has no such event.
    #expect(other.requests.flatMap { $0.events }.allSatisfy { $0["event"]?.string != "shown" })
  }

  /// A shown notification has an event in Getui's format alone.
  @Test func `What was stored for the other format is left out`() async throws {
    let world = try await CallbackWorld()
    let isUp = Atomic<Bool>(false)
    let receiver = try TestReceiver { _ in .status(isUp.load(ordering: .relaxed) ? 200 : 500) }
    defer { receiver.close() }
    _ = try await makeSecret(world)
    _ = try await set(receiver.url, world)
    let device = try await world.register()
    let push = try await world.push()
    _ = world.router.deliveries.acknowledge([push], by: device.number, in: world.app)
    world.router.deliveries.note([(push, false)], by: device.number, in: world.app)
    try await world.tick { receiver.requests.count >= 1 }
    _ = try await awaitCallback { done in
      world.service.set(world.app.id, url: receiver.url, types: .all, format: .borealis) {
        done($0.map { $0.setting })
      }
    }.get()
    isUp.store(true, ordering: .relaxed)
    @Sendable func events() -> [String] {
      receiver.requests.flatMap { $0.events }.compactMap { $0["event"]?.string }
    }
    try await world.tick { events().contains("delivered") }
    #expect(!events().contains("shown"))
  }

  @Test func `The app's own address gets signed lines, an address of a push gets events`() async throws {
    let world = try await CallbackWorld()
    let (receiver, other) = (try TestReceiver(), try TestReceiver())
    defer {
      receiver.close()
      other.close()
    }
    let secret = try await makeSecret(world)
    let setting = try await set(receiver.url, world)
    #expect(setting.format == .getui && setting.types == [.delivered, .clicked, .notDelivered])
    let device = try await world.register()
    let plain = try await world.push()
    let named = try await world.push(callback: PushCallback(url: other.url))
    _ = world.router.deliveries.acknowledge([plain, named], by: device.number, in: world.app)
    try await world.tick { !receiver.requests.isEmpty && !other.requests.isEmpty }
    let request = try #require(receiver.requests.first)
    #expect(request.fields["content-type"] == "text/plain;charset=utf-8")
    let lines = request.body.split(separator: 10)
    #expect(lines.count == 1 && request.body.last == 10)
    let line = try parseJSON(Array(try #require(lines.first)))
    let key = world.app.key.text
    #expect(line["appid"]?.string == key && line["cid"]?.string == device.id.text)
    // A push to everybody is a task of its own, whichever API sent it.
    let task = GetuiTaskID(.app, plain).text
    #expect(line["msgid"]?.string == plain.text && line["taskid"]?.string == task)
    #expect(line["code"]?.string == "200" && line["actionId"]?.string == "0")
    let signed = MD5.digest(Array("\(key)\(device.id.text)\(task)\(plain.text)\(secret)".utf8))
    #expect(line["sign"]?.string == signed.map { Hex.encode($0) })
    #expect(try #require(other.requests.first).events.first?["msg_id"]?.string == named.text)
    let answer = try await world.test()
    #expect(answer.isSuccess)
    let ping = try parseJSON(try #require(receiver.requests.last).body.dropLast().map { $0 })
    #expect(ping["desc"]?.string == "ping" && ping["appid"]?.string == key)
  }
}
