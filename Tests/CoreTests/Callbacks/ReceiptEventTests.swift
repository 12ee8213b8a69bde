import BorealisBase
import Model
import PushTesting
import Storage
import Testing

@testable import Core

/// What is told of a push that a channel's service says more of later.
@Suite(.timeLimit(.minutes(2))) struct ReceiptEventTests {
  private let world: CallbackWorld
  private let receiver: TestReceiver
  private let phones: [RegistrationNumber]
  private let id: MessageID

  init() async throws {
    world = try await CallbackWorld()
    receiver = try TestReceiver()
    let router = world.router
    router.add(SilentService())
    try await world.set(receiver.url, types: [.notDelivered, .delivered])
    var phones: [RegistrationNumber] = []
    for name in ["a", "b", "c"] {
      phones.append(
        try await router.newDevice(
          in: world.app, platform: .ios, environment: .production, token: Array(name.utf8)
        ).number)
    }
    self.phones = phones
    let text = Array("{}".utf8)
    let content = PushContent(variants: [ContentVariant(platforms: .all, notification: text)])
    let request = AcceptRequest(
      PushRequest(
        platforms: .all, audience: .all, content: content, options: PushOptions(sendno: 7, timeToLive: 600)))
    id = try await router.acceptance.accept(request, for: world.app).get().id
  }

  /// The service answers for some; those it answered for before stay.
  private func answer(_ results: [String: [Int]], news: [String], isFinal: Bool) async {
    let sets = results.mapValues { NumberSet($0.map { phones[$0] }) }
    let answers = ChannelAnswers(
      id: id, channel: .apns, results: [.apns: sets], news: [.apns: sets.filter { news.contains($0.key) }],
      isFinal: isFinal)
    await awaitCallback { done in
      world.router.deliveries.store(answers, of: world.app) { _ in done(()) }
    }
  }

  private func say(_ receipt: PushReceipt, _ phone: Int) {
    world.router.deliveries.note(
      receipt, of: id, by: phones[phone], in: world.app, since: world.clock.now())
  }

  /// What was told, `PHONE REASON` or `PHONE delivered`, once nothing is left to tell.
  private func reported() async throws -> [String] {
    await world.tick()
    try await world.tick {
      let left = try await world.store.look { transaction throws(StorageError) in
        let later = Timestamp(milliseconds: .max)
        return try transaction.callbacks.bulks(restBefore: later, limit: 1, in: .all).count
      }
      let waiting = try await world.batches(.pending)
      return left == 0 && waiting.isEmpty
    }
    let ids = phones.compactMap { world.app.directory.identity($0)?.id.text }
    let names = Dictionary(uniqueKeysWithValues: zip(ids, ["a", "b", "c"]))
    return receiver.requests.flatMap(\.events).map { event in
      let name = names[event["registration_id"]?.string ?? ""] ?? "?"
      return "\(name) \(event["reason"]?.string ?? event["event"]?.string ?? "?")"
    }.sorted()
  }

  @Test func `A receipt is told once, and not again when the push ends`() async throws {
    defer { receiver.close() }
    await answer([ChannelEnd.delivered: [0]], news: [ChannelEnd.delivered], isFinal: false)
    say(.notificationsOff, 0)
    #expect(try await reported() == ["a NotificationsOff", "a delivered"])
    await answer(
      [ChannelEnd.delivered: [0, 2], "BadToken": [1]], news: ["BadToken"], isFinal: true)
    #expect(try await reported() == ["a NotificationsOff", "a delivered", "b BadToken"])
    #expect(Set(receiver.eventIDs).count == receiver.eventIDs.count)
  }

  @Test func `A receipt that comes after the end has an ID of its own`() async throws {
    defer { receiver.close() }
    await answer(
      [ChannelEnd.delivered: [0, 2], ChannelEnd.noAnswer: [1]],
      news: [ChannelEnd.delivered, ChannelEnd.noAnswer], isFinal: true)
    #expect(try await reported() == ["a delivered", "b NoAnswer", "c delivered"])
    say(.deviceInactive, 1)
    say(.appRemoved, 2)
    let all = ["a delivered", "b DeviceInactive", "b NoAnswer", "c AppRemoved", "c delivered"]
    #expect(try await reported() == all)
    #expect(Set(receiver.eventIDs).count == receiver.eventIDs.count)
    // An end that is noted once more tells nothing again.
    await answer(
      [ChannelEnd.delivered: [0, 2], ChannelEnd.noAnswer: [1]], news: [ChannelEnd.noAnswer], isFinal: true)
    #expect(try await reported() == all)
  }
}

/// Takes what is for Apple's devices; the test answers.
private final class SilentService: ServiceChannel {
  private static let slot = APNsTokenSlot.device.slot

  let info = ChannelInfo(
    id: .apns, name: "service", english: "Service", chinese: "服务", platforms: PlatformSet(.ios),
    parts: .notification)

  func offers(_ content: PushContent, _ strategy: Strategy, in app: App) -> [ChannelOffer] {
    [ChannelOffer(.apns, to: Self.slot, on: PlatformSet(.ios))]
  }

  func deliver(_ push: ChannelPush) {}
  func slot(for content: PushContent) -> TokenSlot? { Self.slot }
}
