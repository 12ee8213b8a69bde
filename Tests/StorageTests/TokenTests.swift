import BorealisBase
import Model
import PushTesting
import Testing

@testable import Storage

/// Tokens for calls and Live Activities.
@Suite struct TokenTests {
  let folder = TemporaryFolder()
  let zero = RegistrationNumber(0)
  let one = RegistrationNumber(1)

  private static let device = APNsTokenSlot.device.slot
  /// A channel that does not exist.
  private static let other = TokenSlot(ChannelID(rawValue: 200), kind: 1)

  private func activity(_ name: String) throws -> APNsTokenSlot {
    try #require(APNsTokenSlot(.liveActivity, name: name))
  }

  /// Numbers for icons ascend with the pushes, and asking again for the same push takes no other one; with
  /// the end of the push's way to Apple nothing is left of it.
  @Test func `A push takes a number for an icon once`() async throws {
    let store = try Store.testing(folder)
    defer { store.close() }
    let app = try await store.addApp(registrations: 2)
    let (zero, one) = (zero, one)
    let (first, second) = (MessageID(7), MessageID(8))
    try await store.change { transaction throws(StorageError) in
      func claim(_ push: MessageID, _ numbers: [RegistrationNumber], _ badge: BadgeChange = .add(1))
        throws(StorageError) -> [RegistrationNumber: Int64]
      {
        try transaction.channelQueue.claim(push, app: app, Self.device, for: numbers, badge)
      }
      try transaction.channelQueue.insert(id: first, app: app, channel: .apns, expiresAt: .start)
      #expect(try claim(first, [one]) == [one: 1])
      #expect(try claim(second, [zero, one]) == [zero: 1, one: 2])
      #expect(try claim(first, [zero, one, RegistrationNumber(9)]) == [zero: 2, one: 1])
      #expect(try claim(MessageID(9), [one], .set(40)) == [one: 40])
      #expect(try claim(MessageID(10), [one]) == [one: 41])
      #expect(try claim(MessageID(9), [one], .set(40)) == [one: 40])
      #expect(try claim(MessageID(11), [one]) == [one: 42])
      #expect(
        try transaction.channelQueue.claim(first, app: app, APNsTokenSlot.voip.slot, for: [one], .unchanged)
          == [one: 0])
      // Another channel's kind of the same number counts for itself.
      let two = try transaction.channelQueue.claim(
        first, app: app, TokenSlot(ChannelID(rawValue: 200), kind: 2), for: [zero], .unchanged)
      #expect(two == [zero: 0])
      func rows() throws(StorageError) -> [Int64] {
        try transaction.database.all(
          "SELECT channel * 10 + kind FROM channel_taken WHERE msg_id = 7 ORDER BY 1"
        ) { $0.integer() }
      }
      #expect(try rows() == [21, 22, 2002])
      #expect(try transaction.channelQueue.finish(id: first, app: app, channel: .apns))
      #expect(try rows() == [2002])
      #expect(try claim(first, [one]) == [one: 43])
    }
  }

  /// However a push comes to its devices: each row is read with those that are asked for, and no other.
  @Test(.onSQLite) func `Taking numbers for icons costs the same at the end of a push as at its start`()
    async throws
  {
    let store = try Store.testing(folder)
    defer { store.close() }
    let app = try await store.addApp(registrations: 1024)
    let push = MessageID(7)
    try await store.change { transaction throws(StorageError) in
      let all = (UInt32(0)..<1024).map { RegistrationNumber($0) }
      // Each lies across all that were taken before it.
      for start in 0..<16 {
        let some = stride(from: start, to: 1024, by: 16).map { all[$0] }
        let taken = try transaction.channelQueue.claim(push, app: app, Self.device, for: some, .add(1))
        #expect(taken == Dictionary(uniqueKeysWithValues: some.map { ($0, 1) }))
      }
      #expect(
        try transaction.channelQueue.claim(push, app: app, Self.device, for: all, .add(1)).values.allSatisfy {
          $0 == 1
        })
      let next = try transaction.channelQueue.claim(MessageID(8), app: app, Self.device, for: all, .add(1))
      #expect(next.count == 1024 && next.values.allSatisfy { $0 == 2 })
      let rows = try transaction.database.all(
        "SELECT length(taken) FROM channel_taken WHERE msg_id = ?", .message(push)
      ) { $0.integer() }
      #expect(rows == Array(repeating: 256 * 8, count: 4))
    }
    let plan = try queryPlan(of: "\(ClaimedBadges.row)", in: folder.database)
    #expect(
      plan == ["SEARCH channel_taken USING PRIMARY KEY (msg_id=? AND channel=? AND kind=? AND range=?)"])
  }

  @Test func `Each token of a registration is kept for itself, and told anew in its place`() async throws {
    let store = try Store.testing(folder)
    defer { store.close() }
    let app = try await store.addApp(registrations: 2)
    let slots = [
      APNsTokenSlot.voip, try activity("game"), try #require(APNsTokenSlot(.liveActivityStart, name: "game")),
    ]
    let (zero, one) = (zero, one)
    try await store.change { transaction throws(StorageError) in
      for (index, slot) in slots.enumerated() {
        for token in [UInt8(99), UInt8(index)] {
          #expect(
            try transaction.tokens.set(
              app: app, number: zero, PushToken(slot, .sandbox, [token]),
              at: .start.adding(seconds: Int64(index))) == [])
        }
      }
      #expect(
        try transaction.tokens.set(
          app: app, number: RegistrationNumber(7), PushToken(.voip, .sandbox, [8]), at: .start)
          == nil)
    }
    for (index, slot) in slots.enumerated() {
      let rows = try await store.look { transaction throws(StorageError) in
        try transaction.tokens.find(app: app, of: [zero, one], as: slot.slot)
      }
      #expect(
        rows == [
          TokenRow(
            number: zero, service: APNsEnvironment.sandbox.service, token: [UInt8(index)],
            tokenAt: .start.adding(seconds: Int64(index)), badge: 0)
        ])
    }
    let ordinary = try await store.look { transaction throws(StorageError) in
      try transaction.tokens.find(app: app, of: [zero], as: Self.device)
    }
    #expect(ordinary.isEmpty)
  }

  @Test func `A token is one registration's alone, and goes with it`() async throws {
    let store = try Store.testing(folder)
    defer { store.close() }
    let app = try await store.addApp(registrations: 2)
    let (zero, one, game) = (zero, one, try activity("game"))
    func all() async throws -> [HeldToken] {
      try await store.look { transaction throws(StorageError) in
        var rows: [HeldToken] = []
        try transaction.tokens.others(app: app) { rows.append($0) }
        return rows
      }
    }
    try await store.change { transaction throws(StorageError) in
      for number in [zero, one] {
        let lost = try transaction.tokens.set(
          app: app, number: number, PushToken(game, .production, [1]), at: .start)
        #expect(
          lost == (number == zero ? [] : [HeldToken(number: zero, slot: game.slot, service: .none)]))
      }
    }
    #expect(
      try await all() == [
        HeldToken(number: one, slot: game.slot, service: APNsEnvironment.production.service)
      ])
    try await store.change { transaction throws(StorageError) in
      _ = try transaction.tokens.set(
        app: app, number: one, PushToken(.voip, .production, [2]), at: .start)
      // No service is as good as no token.
      _ = try transaction.tokens.set(
        app: app, number: one, PushToken(.voip, .none, [2]), at: .start)
    }
    #expect(try await all().map(\.slot) == [game.slot])
    try await store.change { transaction throws(StorageError) in
      _ = try transaction.registrations.remove(app: app, number: one, at: .start)
    }
    #expect(try await all() == [])
  }

  @Test func `Of too many Live Activities those told last stay`() async throws {
    let store = try Store.testing(folder)
    defer { store.close() }
    let app = try await store.addApp(registrations: 1)
    let zero = zero
    let most = 5
    let slots = try (0...most).map { try activity("\($0)") }
    try await store.change { transaction throws(StorageError) in
      _ = try transaction.tokens.set(
        app: app, number: zero, PushToken(.voip, .sandbox, [255]), at: .start)
      for (index, slot) in slots.enumerated() {
        let others = try transaction.tokens.set(
          app: app, number: zero, PushToken(slot, .sandbox, [UInt8(index)]),
          at: .start.adding(seconds: Int64(index + 1)))
        #expect(others == [])
        let lost = try transaction.tokens.removeNamed(app: app, number: zero, but: slot.slot, keeping: most)
        #expect(lost.map(\.slot) == (index < most ? [] : [slots[0].slot]))
      }
    }
    let left = try await store.look { transaction throws(StorageError) in
      var left: Set<TokenSlot> = []
      try transaction.tokens.others(app: app) { left.insert($0.slot) }
      return left
    }
    #expect(left == Set((slots.dropFirst() + [.voip]).map(\.slot)))
  }

  @Test func `A service's word retires or moves the token that it was about, and no newer one`() async throws
  {
    let store = try Store.testing(folder)
    defer { store.close() }
    let app = try await store.addApp(registrations: 1)
    let (zero, game) = (zero, try activity("game"))
    try await store.change { transaction throws(StorageError) in
      for slot in [Self.device, APNsTokenSlot.voip.slot, game.slot, Self.other] {
        let token = PushToken(slot, .only, [slot.kind])
        let (wrong, moved) = (
          PushToken(slot, .only, [9]), PushToken(slot, ServiceID(rawValue: 2), token.bytes)
        )
        let told = Timestamp.start.adding(seconds: 5)
        func retire(_ token: PushToken, _ moment: Timestamp) throws(StorageError) -> Bool {
          try transaction.tokens.retire(
            app: app, number: zero, token, .byService, unlessReportedAfter: moment, at: told)
        }
        _ = try transaction.tokens.set(app: app, number: zero, token, at: told)
        #expect(try !retire(token, .start))
        #expect(try !retire(wrong, told))
        #expect(try !transaction.tokens.move(app: app, number: zero, wrong))
        #expect(try transaction.tokens.move(app: app, number: zero, moved))
        #expect(
          try transaction.tokens.find(app: app, of: [zero], as: slot).map(\.service.rawValue) == [2])
        #expect(try retire(token, told))
        #expect(try transaction.tokens.find(app: app, of: [zero], as: slot).isEmpty)
      }
    }
  }

  @Test func `Channels may have tokens of the same bytes`() async throws {
    let store = try Store.testing(folder)
    defer { store.close() }
    let app = try await store.addApp(registrations: 2)
    let (zero, one) = (zero, one)
    let slots = [APNsTokenSlot.voip.slot, Self.other, TokenSlot(ChannelID(rawValue: 201), kind: 1)]
    try await store.change { transaction throws(StorageError) in
      for (index, slot) in slots.enumerated() {
        let number = index == 0 ? one : zero
        #expect(
          try transaction.tokens.set(app: app, number: number, PushToken(slot, .only, [1]), at: .start) == [])
      }
      // The same channel's is one registration's alone.
      #expect(
        try transaction.tokens.set(app: app, number: one, PushToken(Self.other, .only, [1]), at: .start)
          == [HeldToken(number: zero, slot: Self.other, service: .none)])
      let known = try transaction.tokens.all(app: app, of: zero)
      #expect(known.map(\.token.slot) == [Self.other, slots[2]])
      #expect(known.map(\.end) == [.taken, .none] && known.map(\.since) == [.start, .start])
      // Who registers with it takes the other's place.
      var new = NewRegistration.some()
      new.tokens = [PushToken(slots[2], .only, [1])]
      let registered = try transaction.registrations.register(app: app, new, at: .start)
      #expect(registered.replaced.map(\.number) == [zero])
      #expect(try transaction.tokens.all(app: app, of: registered.number).map(\.token) == new.tokens)
    }
  }

  /// Who registers with a token takes the place of whoever told it before, as whatever kind.
  @Test(arguments: [
    (APNsTokenSlot.voip, APNsTokenSlot.device), (.device, .voip), (.voip, .voip), (.device, .device),
  ])
  func `A registration with a token of another kind replaces its holder`(
    old: APNsTokenSlot, new: APNsTokenSlot
  ) async throws {
    let store = try Store.testing(folder)
    defer { store.close() }
    let app = try await store.addApp(registrations: 2)
    let (zero, one) = (zero, one)
    try await store.change { transaction throws(StorageError) in
      _ = try transaction.tokens.set(app: app, number: zero, PushToken(old, .sandbox, [1]), at: .start)
      _ = try transaction.tokens.set(app: app, number: one, PushToken(old, .sandbox, [2]), at: .start)
      var next = NewRegistration.some()
      next.tokens = [PushToken(new, .sandbox, [1])]
      let registered = try transaction.registrations.register(app: app, next, at: .start)
      #expect(registered.replaced.map(\.number) == [zero])
      #expect(try transaction.tokens.all(app: app, of: registered.number).map(\.token) == next.tokens)
      #expect(try transaction.tokens.all(app: app, of: one).map(\.token.bytes) == [[2]])
    }
  }

  @Test func `What was wrong with a token is remembered`() async throws {
    let store = try Store.testing(folder)
    defer { store.close() }
    let app = try await store.addApp(registrations: 1)
    let zero = zero
    try await store.change { transaction throws(StorageError) in
      for slot in [Self.device, Self.other] {
        for end in TokenEnd.allCases where end != .none {
          let token = PushToken(slot, .only, [1])
          _ = try transaction.tokens.set(app: app, number: zero, token, at: .start)
          let later = Timestamp.start.adding(seconds: 9)
          _ = try transaction.tokens.retire(
            app: app, number: zero, token, end, unlessReportedAfter: .start, at: later)
          #expect(
            try transaction.tokens.all(app: app, of: zero).contains(
              TokenHistory(token: PushToken(slot, .none, []), since: later, reportedAt: .start, end: end)))
        }
      }
    }
  }
}
