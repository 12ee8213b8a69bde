import PushBase
import PushDomain
import PushTesting
import Testing

@testable import PushStorage

/// Tokens for calls and Live Activities.
@Suite struct TokenTests {
  let folder = TemporaryFolder()
  let zero = RegistrationNumber(0)
  let one = RegistrationNumber(1)

  private func activity(_ name: String) throws -> APNsTokenSlot {
    try #require(APNsTokenSlot(.liveActivity, name: name))
  }

  /// Numbers for icons ascend with the pushes, and asking again for the same push takes no other one; with the end of the
  /// push's way to Apple nothing is left of it.
  @Test func `A push takes a number for an icon once`() async throws {
    let store = try Store.testing(folder)
    defer { store.close() }
    let app = try await store.addApp(registrations: 2)
    let (zero, one) = (zero, one)
    let (first, second) = (MessageID(7), MessageID(8))
    try await store.change { transaction throws(StorageError) in
      func take(_ push: MessageID, _ numbers: [RegistrationNumber], _ badge: APNsBadge = .add(1))
        throws(StorageError) -> [RegistrationNumber: Int64]
      {
        try transaction.channelQueue.take(push, app: app, .device, for: numbers, badge)
      }
      try transaction.channelQueue.insert(id: first, app: app, channel: .apns, expiresAt: .start)
      #expect(try take(first, [one]) == [one: 1])
      #expect(try take(second, [zero, one]) == [zero: 1, one: 2])
      #expect(try take(first, [zero, one, RegistrationNumber(9)]) == [zero: 2, one: 1])
      #expect(try take(MessageID(9), [one], .set(40)) == [one: 40])
      #expect(try take(MessageID(10), [one]) == [one: 41])
      #expect(try take(MessageID(9), [one], .set(40)) == [one: 40])
      #expect(try take(MessageID(11), [one]) == [one: 42])
      #expect(try transaction.channelQueue.take(first, app: app, .voip, for: [one], .unchanged) == [one: 0])
      #expect(try transaction.channelQueue.tried(of: first) == [.voip: [one]])
      #expect(try transaction.channelQueue.finish(id: first, app: app, channel: .apns))
      #expect(try transaction.channelQueue.tried(of: first) == [:])
      #expect(try take(first, [one]) == [one: 43])
    }
  }

  /// However a push comes to its devices: each row is read with those that are asked for, and no other.
  @Test func `Taking numbers for icons costs the same at the end of a push as at its start`() async throws {
    let store = try Store.testing(folder)
    defer { store.close() }
    let app = try await store.addApp(registrations: 1024)
    let push = MessageID(7)
    try await store.change { transaction throws(StorageError) in
      let all = (UInt32(0)..<1024).map { RegistrationNumber($0) }
      // Each lies across all that were taken before it.
      for start in 0..<16 {
        let some = stride(from: start, to: 1024, by: 16).map { all[$0] }
        let taken = try transaction.channelQueue.take(push, app: app, .device, for: some, .add(1))
        #expect(taken == Dictionary(uniqueKeysWithValues: some.map { ($0, 1) }))
      }
      #expect(
        try transaction.channelQueue.take(push, app: app, .device, for: all, .add(1)).values.allSatisfy {
          $0 == 1
        })
      let next = try transaction.channelQueue.take(MessageID(8), app: app, .device, for: all, .add(1))
      #expect(next.count == 1024 && next.values.allSatisfy { $0 == 2 })
      let rows = try transaction.database.all(
        "SELECT length(taken) FROM apns_taken WHERE msg_id = ?", .message(push)
      ) { $0.integer() }
      #expect(rows == Array(repeating: 256 * 8, count: 4))
    }
    let plan = try queryPlan(of: "\(TakenList.row)", in: folder.database)
    #expect(plan == ["SEARCH apns_taken USING PRIMARY KEY (msg_id=? AND kind=? AND range=?)"])
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
              app: app, number: zero, as: slot, environment: .sandbox, token: [token],
              at: .start.adding(seconds: Int64(index))) == [])
        }
      }
      #expect(
        try transaction.tokens.set(
          app: app, number: RegistrationNumber(7), as: .voip, environment: .sandbox, token: [8], at: .start)
          == nil)
    }
    for (index, slot) in slots.enumerated() {
      let rows = try await store.look { transaction throws(StorageError) in
        try transaction.tokens.find(app: app, of: [zero, one], as: slot)
      }
      #expect(
        rows == [
          TokenRow(
            number: zero, environment: .sandbox, token: [UInt8(index)],
            tokenAt: .start.adding(seconds: Int64(index)), badge: 0)
        ])
    }
    let ordinary = try await store.look { transaction throws(StorageError) in
      try transaction.tokens.find(app: app, of: [zero])
    }
    #expect(ordinary.isEmpty)
  }

  @Test func `A token is one registration's alone, and goes with it`() async throws {
    let store = try Store.testing(folder)
    defer { store.close() }
    let app = try await store.addApp(registrations: 2)
    let (zero, one, game) = (zero, one, try activity("game"))
    func all() async throws -> [OtherTokenRow] {
      try await store.look { transaction throws(StorageError) in
        var rows: [OtherTokenRow] = []
        try transaction.tokens.others(app: app) { rows.append($0) }
        return rows
      }
    }
    try await store.change { transaction throws(StorageError) in
      for number in [zero, one] {
        let lost = try transaction.tokens.set(
          app: app, number: number, as: game, environment: .production, token: [1], at: .start)
        #expect(
          lost == (number == zero ? [] : [OtherTokenRow(number: zero, slot: game, environment: .none)]))
      }
    }
    #expect(try await all() == [OtherTokenRow(number: one, slot: game, environment: .production)])
    try await store.change { transaction throws(StorageError) in
      _ = try transaction.tokens.set(
        app: app, number: one, as: .voip, environment: .production, token: [2], at: .start)
      // No service is as good as no token.
      _ = try transaction.tokens.set(
        app: app, number: one, as: .voip, environment: .none, token: [2], at: .start)
    }
    #expect(try await all().map(\.slot) == [game])
    try await store.change { transaction throws(StorageError) in
      _ = try transaction.registrations.remove(app: app, number: one)
    }
    #expect(try await all() == [])
  }

  @Test func `Of too many Live Activities those told last stay`() async throws {
    let store = try Store.testing(folder)
    defer { store.close() }
    let app = try await store.addApp(registrations: 1)
    let zero = zero
    let most = RegistrationLimits.activityTokens
    let slots = try (0...most).map { try activity("\($0)") }
    try await store.change { transaction throws(StorageError) in
      _ = try transaction.tokens.set(
        app: app, number: zero, as: .voip, environment: .sandbox, token: [255], at: .start)
      for (index, slot) in slots.enumerated() {
        let lost = try transaction.tokens.set(
          app: app, number: zero, as: slot, environment: .sandbox, token: [UInt8(index)],
          at: .start.adding(seconds: Int64(index + 1)))
        #expect(lost?.map(\.slot) == (index < most ? [] : [slots[0]]))
      }
    }
    let left = try await store.look { transaction throws(StorageError) in
      var left: Set<APNsTokenSlot> = []
      try transaction.tokens.others(app: app) { left.insert($0.slot) }
      return left
    }
    #expect(left == Set(slots.dropFirst() + [.voip]))
  }

  @Test func `Apple's word retires or moves the token that it was about, and no newer one`() async throws {
    let store = try Store.testing(folder)
    defer { store.close() }
    let app = try await store.addApp(registrations: 1)
    let (zero, game) = (zero, try activity("game"))
    try await store.change { transaction throws(StorageError) in
      for slot in [APNsTokenSlot.device, .voip, game] {
        let token: [UInt8] = [slot.kind.rawValue]
        let told = Timestamp.start.adding(seconds: 5)
        _ = try transaction.tokens.set(
          app: app, number: zero, as: slot, environment: .production, token: token, at: told)
        #expect(
          try !transaction.tokens.retire(
            app: app, number: zero, as: slot, token: token, unlessToldAfter: .start, at: told))
        #expect(
          try !transaction.tokens.retire(
            app: app, number: zero, as: slot, token: [9], unlessToldAfter: told, at: told))
        #expect(
          try !transaction.tokens.move(app: app, number: zero, as: slot, token: [9], to: .sandbox))
        #expect(try transaction.tokens.move(app: app, number: zero, as: slot, token: token, to: .sandbox))
        #expect(
          try transaction.tokens.find(app: app, of: [zero], as: slot).map(\.environment) == [.sandbox])
        #expect(
          try transaction.tokens.retire(
            app: app, number: zero, as: slot, token: token, unlessToldAfter: told, at: told))
        #expect(try transaction.tokens.find(app: app, of: [zero], as: slot).isEmpty)
      }
    }
  }

  @Test func `What was wrong with a token is remembered`() async throws {
    let store = try Store.testing(folder)
    defer { store.close() }
    let app = try await store.addApp(registrations: 1)
    let zero = zero
    try await store.change { transaction throws(StorageError) in
      for (fault, end) in [
        (APNsTokenFault.unregistered, TokenEnd.byApple), (.expired, .byApple), (.unknownHere, .wrongService),
        (.unknownEverywhere, .wrongService), (.otherTopic, .otherTopic),
      ] {
        _ = try transaction.tokens.set(
          app: app, number: zero, as: .device, environment: .production, token: [1], at: .start)
        _ = try transaction.tokens.retire(
          app: app, number: zero, token: [1], for: fault, unlessToldAfter: .start, at: .start)
        #expect(try transaction.registrations.history(app: app, number: zero)?.tokenEnd == end)
      }
    }
  }
}
