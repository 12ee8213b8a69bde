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
            try transaction.setToken(
              app: app, number: zero, as: slot, environment: .sandbox, token: [token],
              at: .start.adding(seconds: Int64(index))) == [])
        }
      }
      #expect(
        try transaction.setToken(
          app: app, number: RegistrationNumber(7), as: .voip, environment: .sandbox, token: [8], at: .start)
          == nil)
    }
    for (index, slot) in slots.enumerated() {
      let rows = try await store.look { transaction throws(StorageError) in
        try transaction.tokens(app: app, of: [zero, one], as: slot)
      }
      #expect(
        rows == [
          TokenRow(
            number: zero, environment: .sandbox, token: [UInt8(index)],
            tokenAt: .start.adding(seconds: Int64(index)), badge: 0)
        ])
    }
    let ordinary = try await store.look { transaction throws(StorageError) in
      try transaction.tokens(app: app, of: [zero])
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
        try transaction.otherTokens(app: app) { rows.append($0) }
        return rows
      }
    }
    try await store.change { transaction throws(StorageError) in
      for number in [zero, one] {
        let lost = try transaction.setToken(
          app: app, number: number, as: game, environment: .production, token: [1], at: .start)
        #expect(
          lost == (number == zero ? [] : [OtherTokenRow(number: zero, slot: game, environment: .none)]))
      }
    }
    #expect(try await all() == [OtherTokenRow(number: one, slot: game, environment: .production)])
    try await store.change { transaction throws(StorageError) in
      _ = try transaction.setToken(
        app: app, number: one, as: .voip, environment: .production, token: [2], at: .start)
      // No service is as good as no token.
      _ = try transaction.setToken(
        app: app, number: one, as: .voip, environment: .none, token: [2], at: .start)
    }
    #expect(try await all().map(\.slot) == [game])
    try await store.change { transaction throws(StorageError) in
      _ = try transaction.unregister(app: app, number: one)
    }
    #expect(try await all() == [])
  }

  @Test func `Of too many Live Activities those told last stay`() async throws {
    let store = try Store.testing(folder)
    defer { store.close() }
    let app = try await store.addApp(registrations: 1)
    let zero = zero
    let most = WriteTransaction.mostActivityTokens
    let slots = try (0...most).map { try activity("\($0)") }
    try await store.change { transaction throws(StorageError) in
      _ = try transaction.setToken(
        app: app, number: zero, as: .voip, environment: .sandbox, token: [255], at: .start)
      for (index, slot) in slots.enumerated() {
        let lost = try transaction.setToken(
          app: app, number: zero, as: slot, environment: .sandbox, token: [UInt8(index)],
          at: .start.adding(seconds: Int64(index + 1)))
        #expect(lost?.map(\.slot) == (index < most ? [] : [slots[0]]))
      }
    }
    let left = try await store.look { transaction throws(StorageError) in
      var left: Set<APNsTokenSlot> = []
      try transaction.otherTokens(app: app) { left.insert($0.slot) }
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
        _ = try transaction.setToken(
          app: app, number: zero, as: slot, environment: .production, token: token, at: told)
        #expect(
          try !transaction.retireToken(
            app: app, number: zero, as: slot, token: token, unlessToldAfter: .start, at: told))
        #expect(
          try !transaction.retireToken(
            app: app, number: zero, as: slot, token: [9], unlessToldAfter: told, at: told))
        #expect(
          try !transaction.moveToken(app: app, number: zero, as: slot, token: [9], to: .sandbox))
        #expect(try transaction.moveToken(app: app, number: zero, as: slot, token: token, to: .sandbox))
        #expect(
          try transaction.reading.tokens(app: app, of: [zero], as: slot).map(\.environment) == [.sandbox])
        #expect(
          try transaction.retireToken(
            app: app, number: zero, as: slot, token: token, unlessToldAfter: told, at: told))
        #expect(try transaction.reading.tokens(app: app, of: [zero], as: slot).isEmpty)
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
        _ = try transaction.setToken(
          app: app, number: zero, as: .device, environment: .production, token: [1], at: .start)
        _ = try transaction.retireToken(
          app: app, number: zero, token: [1], for: fault, unlessToldAfter: .start, at: .start)
        #expect(try transaction.reading.history(app: app, number: zero)?.tokenEnd == end)
      }
    }
  }
}
