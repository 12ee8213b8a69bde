import BorealisBase
import BorealisCrypto
import Model
import PushTesting
import Storage
import Testing

@testable import Core

/// From what happens to a push to what an app server gets.
@Suite(.timeLimit(.minutes(2))) struct DeliveryTests {
  @Test func aDeliveryIsTold() async throws {
    let world = try await CallbackWorld()
    let receiver = try TestReceiver()
    defer { receiver.close() }
    let secret = try #require(try await world.set(receiver.url))
    let device = try await world.register()
    let id = try await world.push(
      callback: PushCallback(params: Array(#"{"trace":"x1"}"#.utf8)), sendno: 771)
    _ = world.router.deliveries.acknowledge([id], by: device.number, in: world.app)
    try await world.tick { receiver.eventIDs.count == 2 }
    let request = try #require(receiver.requests.first)
    #expect(request.line == "POST /hook HTTP/1.1")
    #expect(request.fields["content-type"] == "application/json")
    let stamp = try #require(request.fields["x-borealis-timestamp"].flatMap { Int64($0) })
    #expect(
      request.fields["x-borealis-signature"]
        == CallbackSecret.signature(request.body, at: stamp, with: [Array(secret.utf8)]))
    #expect(request.fields["x-borealis-attempt"] == "1")
    let event = try #require(request.events.first { $0["type"]?.int64 == 1 })
    #expect(event["event"]?.string == "delivered" && event["msg_id"]?.string == id.text)
    #expect(event["sendno"]?.string == "771" && event["registration_id"]?.string == device.id.text)
    #expect(event["platform"]?.string == "android" && event["channel"]?.string == "connection")
    #expect(event["params"]?["trace"]?.string == "x1" && event["reason"] == nil)
    #expect(Set(request.events.compactMap { $0["type"]?.int64 }) == [1, 8])
    try await world.tick { try await world.batches(.done).count == 1 }
    #expect(world.metrics.render().contains("borealis_callback_events_total 2"))
  }

  @Test func onlyWhatIsAskedForIsTold() async throws {
    let world = try await CallbackWorld()
    let receiver = try TestReceiver()
    defer { receiver.close() }
    try await world.set(receiver.url, types: [.clicked, .notDelivered])
    let device = try await world.register()
    let silent = try await world.push(callback: PushCallback(types: 4))
    let tapped = try await world.push(callback: PushCallback(types: 3))
    let usual = try await world.push()
    _ = world.router.deliveries.acknowledge([silent, tapped, usual], by: device.number, in: world.app)
    world.router.deliveries.note(
      [silent, tapped, usual].map { (id: $0, isTap: true) }, by: device.number, in: world.app)
    try await world.tick { receiver.eventIDs.count >= 3 }
    let told = receiver.requests.flatMap(\.events).map {
      "\($0["msg_id"]?.string ?? "") \($0["type"]?.int64 ?? 0)"
    }
    #expect(told.sorted() == ["\(tapped.text) 1", "\(tapped.text) 2", "\(usual.text) 2"].sorted())
  }

  @Test func nothingIsStoredForAppsThatAskForNothing() async throws {
    let world = try await CallbackWorld()
    let device = try await world.register()
    let id = try await world.push(callback: PushCallback(types: 15))
    _ = world.router.deliveries.acknowledge([id], by: device.number, in: world.app)
    await world.tick()
    #expect(!world.router.callbacks.contains(world.app.id))
    #expect(try await world.batches().isEmpty)
  }

  @Test func aPushMayNameAnAddressOfItsOwn() async throws {
    let world = try await CallbackWorld()
    let receiver = try TestReceiver()
    defer { receiver.close() }
    let device = try await world.register()
    let id = try await world.push(callback: PushCallback(url: receiver.url, types: 1))
    _ = world.router.deliveries.acknowledge([id], by: device.number, in: world.app)
    try await world.tick { !receiver.requests.isEmpty }
    // The app has no secret to sign with.
    #expect(receiver.requests.first?.fields["x-borealis-signature"] == nil)
    #expect(receiver.eventIDs.count == 1)
  }

  @Test func whoWillNotGetAPushIsTold() async throws {
    let world = try await CallbackWorld()
    let receiver = try TestReceiver()
    defer { receiver.close() }
    try await world.set(receiver.url, types: [.notDelivered, .delivered])
    var devices: [(number: RegistrationNumber, id: RegistrationID)] = []
    for _ in 0..<250 { devices.append(try await world.register()) }
    let expiring = try await world.push(timeToLive: 60)
    _ = world.router.deliveries.acknowledge([expiring], by: devices[3].number, in: world.app)
    await world.tick()
    world.clock.advance(seconds: 61)
    try await world.tick { receiver.eventIDs.count >= 250 }
    let events = receiver.requests.flatMap(\.events)
    let expired = events.filter { $0["type"]?.int64 == 4 }
    #expect(expired.count == 249 && events.count == 250)
    #expect(expired.allSatisfy { $0["reason"]?.string == "Expired" })
    let told = Set(expired.compactMap { $0["registration_id"]?.string })
    #expect(told == Set(devices.map { $0.id.text }).subtracting([devices[3].id.text]))
    #expect(receiver.requests.allSatisfy { $0.events.count <= 100 })
    #expect(Set(receiver.eventIDs).count == 250)
  }

  /// What was told cannot be recalled: a device whose word comes later is told of once more.
  @Test(arguments: [false, true]) func whoseWordComesAfterTheRecallIsTold(isReceipt: Bool) async throws {
    let world = try await CallbackWorld()
    let receiver = try TestReceiver()
    defer { receiver.close() }
    try await world.set(receiver.url, types: [.notDelivered, .delivered])
    let device = try await world.register()
    let id = try await world.push()
    _ = await awaitCallback { done in
      world.router.deliveries.recall(id, in: world.app) { done($0) }
    }
    try await world.tick { receiver.eventIDs.count == 1 }
    if isReceipt { world.router.deliveries.note([(id, false)], by: device.number, in: world.app) }
    for _ in 0..<2 { _ = world.router.deliveries.acknowledge([id], by: device.number, in: world.app) }
    try await world.tick { receiver.eventIDs.count == 2 }
    for _ in 0..<3 {
      await world.tick()
      world.clock.advance(seconds: 1)
    }
    let events = receiver.requests.flatMap(\.events)
    #expect(events.map { $0["type"]?.int64 } == [4, 1])
    #expect(events[0]["reason"]?.string == "Recalled" && events[1]["channel"]?.string == "connection")
    #expect(Set(receiver.eventIDs).count == 2)
  }

  @Test func aRecalledPushIsTold() async throws {
    let world = try await CallbackWorld()
    let receiver = try TestReceiver()
    defer { receiver.close() }
    try await world.set(receiver.url, types: .notDelivered)
    _ = try await world.register()
    let id = try await world.push()
    _ = await awaitCallback { done in
      world.router.deliveries.recall(id, in: world.app) { done($0) }
    }
    try await world.tick { !receiver.requests.isEmpty }
    #expect(receiver.requests.first?.events.first?["reason"]?.string == "Recalled")
    #expect(receiver.requests.first?.events.first?["msg_id"]?.string == id.text)
  }
}
