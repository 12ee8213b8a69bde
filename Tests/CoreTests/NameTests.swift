import BorealisBase
import Model
import PushTesting
import Testing

@testable import Core
@testable import Storage

/// Names count byte for byte in memory as in the database, whatever rules let them in.
@Suite struct NameTests {
  /// The same word, with é as one scalar and as two.
  private let short = "caf\u{e9}"
  private let long = "cafe\u{301}"

  @Test func `Canonically equivalent aliases and tags are different names`() async throws {
    let world = try await TestWorld()
    let (first, second) = (try await world.register(), try await world.register())
    #expect(short == long && ExactName(short) != ExactName(long))
    for (device, name) in [(first, short), (second, long)] {
      let change = DeviceChange(tags: .set([name]), alias: .set(name))
      _ = try await world.change(change, of: device).get()
    }
    for _ in 0..<2 {
      let directory = world.app.directory
      #expect(directory.registrations(alias: short) == [first.number])
      #expect(directory.registrations(alias: long) == [second.number])
      #expect(directory.hasTag(short, first.number) && !directory.hasTag(long, first.number))
      #expect(directory.firstTags(100).count == 2)
      let without = directory.resolve(AudienceFilter(tagsAnd: [long], tagsNot: [short]))
      #expect(without.numbers.members() == [second.number])
      try await world.restart(isOrderly: true)
    }
    // The other form is another alias: the change is made in both places.
    _ = try await world.change(DeviceChange(alias: .set(short)), of: second).get()
    #expect(world.app.directory.registrations(alias: short) == [first.number, second.number])
    #expect(world.app.directory.registrations(alias: long) == [])
    let app = world.app.id
    let (short, long) = (short, long)
    let counts = try await world.store.look { transaction throws(StorageError) in
      [
        try transaction.registrations.count(app: app, alias: short),
        try transaction.registrations.count(app: app, alias: long),
      ]
    }
    #expect(counts == [2, 0])
  }

  @Test func `Canonically equivalent names of tokens are different tokens`() async throws {
    let world = try await TestWorld()
    let device = try await world.register(platform: .ios)
    let slots = [short, long].map { TokenSlot(.apns, kind: 3, name: $0) }
    let tokens = slots.enumerated().map { PushToken($1, .only, [UInt8($0)]) }
    #expect(isDone(await world.setTokens(tokens, of: device)))
    for _ in 0..<2 {
      for slot in slots {
        let holders = world.app.directory.resolve(AudienceFilter(liveActivityID: slot.name))
        #expect(holders.numbers.members() == [device.number])
      }
      try await world.restart(isOrderly: true)
    }
    #expect(isDone(await world.setTokens([PushToken(slots[1], .none, [])], of: device)))
    let left = [short, long].map {
      world.app.directory.resolve(AudienceFilter(liveActivityID: $0)).numbers.members()
    }
    #expect(left == [[device.number], []])
  }
}

/// What devices tell of their tokens.
@Suite struct TokenKindTests {
  /// The ordinary token of APNs stands in another table than its others: memory and both tables agree on who
  /// has it as what.
  @Test func `A token that is told as another kind is no longer what it was`() async throws {
    let world = try await TestWorld()
    let (first, second) = (
      try await world.register(platform: .ios), try await world.register(platform: .ios)
    )
    let slots = [TokenSlot(.apns, kind: 1), TokenSlot(.apns, kind: 2)]
    let token = [UInt8](repeating: 7, count: 32)
    // As each kind, by the same device and by another.
    for (device, slot) in [
      (first, slots[0]), (first, slots[1]), (first, slots[0]), (second, slots[1]), (first, slots[0]),
    ] {
      #expect(isDone(await world.setTokens([PushToken(slot, .only, token)], of: device)))
      let app = world.app.id
      for one in [first, second] {
        let stored = try await world.store.look { transaction throws(StorageError) in
          try transaction.tokens.all(app: app, of: one.number).filter { !$0.token.bytes.isEmpty }
            .map(\.token.slot)
        }
        #expect(stored == (one.number == device.number ? [slot] : []))
      }
      for other in slots {
        let holders = world.app.directory.state.withLock { $0.table.members(holding: other) }
        #expect(holders.members() == (other == slot ? [device.number] : []))
      }
    }
  }
}

extension TestWorld {
  func setTokens(_ tokens: [PushToken], of device: TestDevice) async -> Result<Void, DeviceFailure> {
    await awaitCallback { done in
      router.registrations.setTokens(tokens, of: device.number, in: app) { done($0) }
    }
  }
}
