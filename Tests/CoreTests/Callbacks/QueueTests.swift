import BorealisBase
import Model
import PushTesting
import Storage
import Testing

@testable import Core

/// From the database to an app server.
@Suite(.timeLimit(.minutes(2))) struct QueueTests {
  @Test(arguments: [
    [TestReceiver.Act.status(500)], [.status(302, "Location: http://127.0.0.1:1/\r\n")], [.breakOff],
    [.answer("nonsense\r\n\r\n")], [.status(404), .breakOff, .status(503)],
  ])
  func whatFailsIsSentAgainUnchanged(acts: [TestReceiver.Act]) async throws {
    let world = try await CallbackWorld()
    let receiver = try TestReceiver { $0 <= acts.count ? acts[$0 - 1] : .status(204) }
    defer { receiver.close() }
    try await world.set(receiver.url)
    try await world.storeEvent()
    try await world.tick { receiver.requests.count > acts.count }
    try await world.tick { try await world.batches(.done).count == 1 }
    #expect(Set(receiver.requests.map(\.body)).count == 1)
    #expect(Set(receiver.requests.compactMap { $0.fields["x-borealis-delivery"] }).count == 1)
    let row = try #require(try await world.batches(.done).first)
    #expect(row.attempts == acts.count + 1 && row.status == 204 && row.error == nil)
  }

  @Test func whatFailsForADayIsGivenUp() async throws {
    let world = try await CallbackWorld()
    let receiver = try TestReceiver { $0 < 100 ? .status(500) : .status(200) }
    defer { receiver.close() }
    try await world.set(receiver.url)
    try await world.storeEvent()
    while try await world.batches(.failed).isEmpty {
      await world.tick()
      world.clock.advance(seconds: 600)
      try await Task.sleep(for: .milliseconds(5))
    }
    let row = try #require(try await world.batches(.failed).first)
    #expect(row.status == 500 && row.error == "answered 500" && row.attempts > 1)
    // An operator's wish starts a new day.
    _ = await awaitCallback { done in
      world.service.resend(row.id, of: world.app.id) { done($0) }
    }
    let before = receiver.requests.count
    try await world.tick { receiver.requests.count > before }
    #expect(receiver.requests.last?.body == receiver.requests.first?.body)
  }

  @Test func aDeadReceiverDelaysNobodyElse() async throws {
    let world = try await CallbackWorld()
    let dead = try TestReceiver { _ in .hang }
    let well = try TestReceiver()
    defer {
      dead.close()
      well.close()
    }
    let other = try await world.addApp()
    try await world.set(dead.url)
    try await world.set(well.url, of: other)
    for _ in 0..<40 { try await world.storeEvent() }
    await world.tick()
    try await world.storeEvent(in: other)
    try await world.tick { !well.requests.isEmpty && !dead.requests.isEmpty }
    // Its requests still hang, and they are no more than its share.
    #expect(try await world.batches(.done).isEmpty)
    #expect((1...4).contains(dead.requests.count))
  }

  @Test(arguments: ["http://127.0.0.1:9/", "http://[::1]:9/", "http://localhost:9/"])
  func addressesThatAreNotPublicAreRefused(url: String) async throws {
    let world = try await CallbackWorld(networks: [])
    try await world.storeEvent(to: CallbackAddress(url))
    try await world.tick { try await world.batches().contains { $0.attempts > 0 } }
    #expect(
      try await world.batches().allSatisfy { $0.error == "the address is not allowed" && $0.status == 0 })
  }

  @Test func longAnswersAreCutOff() async throws {
    let world = try await CallbackWorld()
    let body = String(repeating: "x", count: 1 << 20)
    let receiver = try TestReceiver { _ in
      .answer("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n" + body)
    }
    defer { receiver.close() }
    try await world.set(receiver.url)
    let answer = try await world.test()
    #expect(answer.isSuccess && answer.body.count == 2048)
  }

  @Test func anOldSecretSignsForADayMore() async throws {
    let world = try await CallbackWorld()
    let receiver = try TestReceiver()
    defer { receiver.close() }
    let first = try #require(try await world.set(receiver.url))
    #expect(try await world.set(receiver.url) == nil)
    let second = try #require(try await world.rotate())
    _ = try await world.test()
    world.clock.advance(seconds: 86_401)
    _ = try await world.test()
    func signed(_ index: Int, with secrets: [String]) -> Bool {
      let request = receiver.requests[index]
      let stamp = Int64(request.fields["x-borealis-timestamp"] ?? "") ?? 0
      return request.fields["x-borealis-signature"]
        == CallbackSecret.signature(request.body, at: stamp, with: secrets.map { Array($0.utf8) })
    }
    #expect(signed(0, with: [second, first]))
    #expect(signed(1, with: [second]))
    #expect(receiver.requests.first?.events.first?["event"]?.string == "ping")
  }

  @Test func whatWasRemovedIsGivenUp() async throws {
    let world = try await CallbackWorld()
    try await world.set("http://127.0.0.1:9/")
    try await world.storeEvent()
    _ = await awaitCallback { done in
      world.service.remove(world.app.id) { done($0) }
    }
    try await world.tick { try await world.batches(.failed).count == 1 }
    #expect(try await world.batches(.failed).first?.error == "the app has no callback address")
  }

  @Test func whatIsOldIsSwept() async throws {
    let world = try await CallbackWorld()
    let receiver = try TestReceiver()
    defer { receiver.close() }
    try await world.set(receiver.url)
    try await world.storeEvent()
    try await world.tick { try await world.batches(.done).count == 1 }
    world.clock.advance(seconds: 3 * 86_400)
    for _ in 0..<61 { world.service.tick() }
    try await world.tick { try await world.batches().isEmpty }
  }
}
