import BorealisBase
import Model
import PushTesting
import Testing

@testable import Storage

@Suite struct CredentialTests {
  let folder = TemporaryFolder()

  private static func some(
    _ environment: APNsEnvironment = .production, sealed: [UInt8] = [1, 2, 3]
  ) -> NewCredential {
    NewCredential(
      channel: .apns, kind: .token, service: environment.service, subject: "com.example.app",
      teamID: "T5Z8W1R6PD", name: "K7Q2M9X4TB", fingerprint: Array(repeating: 5, count: 32), expiresAt: nil,
      sealed: sealed)
  }

  private func states(_ store: Store, _ app: AppID) async throws -> [CredentialState] {
    try await store.look { transaction throws(StorageError) in try transaction.credentials.all(app: app) }
      .map(\.state)
  }

  @Test func whatIsStoredIsRead() async throws {
    let store = try Store.testing(folder)
    defer { store.close() }
    let app = try await store.addApp()
    let other = try await store.addApp()
    let certificate = NewCredential(
      channel: .apns, kind: .certificate, service: APNsEnvironment.sandbox.service,
      subject: "com.example.app", fingerprint: Array(repeating: 6, count: 32),
      expiresAt: .start.adding(seconds: 1000), sealed: [9])
    let ids = try await store.change { transaction throws(StorageError) in
      [
        try transaction.credentials.add(app: app, Self.some(), at: .start),
        try transaction.credentials.add(app: app, certificate, at: .start),
        try transaction.credentials.add(app: other, Self.some(sealed: []), at: .start),
      ]
    }
    let (all, own, sealed) = try await store.look { transaction throws(StorageError) in
      (
        try transaction.credentials.all(in: .all), try transaction.credentials.all(app: app),
        [
          try transaction.credentials.sealed(app: app, id: ids[0]),
          try transaction.credentials.sealed(app: other, id: ids[0]),
          try transaction.credentials.sealed(app: other, id: ids[2]),
        ]
      )
    }
    #expect(all.map(\.id) == ids)
    #expect(own.map(\.id) == Array(ids[..<2]))
    #expect(sealed == [[1, 2, 3], nil, []])
    let appKey = try await store.look { transaction throws(StorageError) in try transaction.apps.all(in: .all)
    }[0]
    .key
    #expect(
      own[1]
        == CredentialRow(
          id: ids[1], app: app, appKey: appKey, channel: .apns, kind: .certificate,
          service: APNsEnvironment.sandbox.service, subject: "com.example.app", teamID: nil, name: "",
          fingerprint: Array(repeating: 6, count: 32),
          expiresAt: .start.adding(seconds: 1000), createdAt: .start, state: .active, changedAt: .start,
          replacedBy: nil))
    #expect(own[0].name == "K7Q2M9X4TB" && own[0].teamID == "T5Z8W1R6PD")
  }

  /// The next one for the same environment makes those before it retire; taking it away brings the last one
  /// back.
  @Test func replacingAndRemoving() async throws {
    let store = try Store.testing(folder)
    defer { store.close() }
    let app = try await store.addApp()
    let other = try await store.addApp()
    let ids = try await store.change { transaction throws(StorageError) in
      _ = try transaction.credentials.add(app: other, Self.some(), at: .start)
      _ = try transaction.credentials.add(app: app, Self.some(.sandbox), at: .start)
      var ids: [CredentialID] = []
      for _ in 0..<3 { ids.append(try transaction.credentials.add(app: app, Self.some(), at: .start)) }
      return ids
    }
    #expect(try await states(store, app) == [.active, .retiring, .retiring, .active])
    #expect(try await states(store, other) == [.active])
    // The one in the middle goes: the chain closes. Then the newest goes, twice.
    for (id, expected) in [
      (ids[1], [.active, .retiring, .active]), (ids[2], [.active, .active]), (ids[0], [.active]),
    ] as [(CredentialID, [CredentialState])] {
      let gone = try await store.change { transaction throws(StorageError) in
        [
          try transaction.credentials.remove(app: other, id: id, at: .start),
          try transaction.credentials.remove(app: app, id: id, at: .start),
          try transaction.credentials.remove(app: app, id: id, at: .start),
        ]
      }
      #expect(gone == [false, true, false])
      #expect(try await states(store, app) == expected)
    }
    // Numbers are never used again.
    let next = try await store.change { transaction throws(StorageError) in
      try transaction.credentials.add(app: app, Self.some(), at: .start)
    }
    #expect(next > ids[2])
  }

  /// Channels do not disturb each other, and one without standby credentials has one.
  @Test func channelsHaveTheirOwn() async throws {
    let store = try Store.testing(folder)
    defer { store.close() }
    let app = try await store.addApp()
    let other = ChannelID(rawValue: 9)
    @Sendable func new(_ subject: String) -> NewCredential {
      NewCredential(channel: other, subject: subject, sealed: [7])
    }
    let (own, latest) = try await store.change { transaction throws(StorageError) in
      _ = try transaction.credentials.add(app: app, Self.some(), at: .start)
      try transaction.credentials.replace(app: app, new("a"), at: .start)
      try transaction.credentials.replace(app: app, new("b"), at: .start)
      return (
        try transaction.credentials.all(app: app),
        try transaction.credentials.latest(of: app, for: other)
      )
    }
    #expect(own.map(\.channel) == [.apns, other] && own.map(\.subject) == ["com.example.app", "b"])
    #expect(own.map(\.state) == [.active, .active] && own.allSatisfy { $0.replacedBy == nil })
    #expect(latest?.row == own.last && latest?.sealed == [7])
    let (rows, sealed) = try await store.look { transaction throws(StorageError) in
      try transaction.credentials.sealed(of: .apns, except: [], in: .all)
    }
    #expect(rows.map(\.id) == [own[0].id] && sealed == [own[0].id: [1, 2, 3]])
    let known = try await store.look { transaction throws(StorageError) in
      try transaction.credentials.sealed(of: .apns, except: [own[0].id], in: .all)
    }
    #expect(known.rows == rows && known.sealed.isEmpty)
  }

  @Test func pausesSurviveARestart() async throws {
    var store = try Store.testing(folder)
    let app = try await store.addApp()
    let other = try await store.addApp()
    let (old, new) = try await store.change { transaction throws(StorageError) in
      let old = try transaction.credentials.add(app: app, Self.some(), at: .start)
      let new = try transaction.credentials.add(app: app, Self.some(), at: .start)
      return (old, new)
    }
    let paused = try await store.change { transaction throws(StorageError) in
      [
        try transaction.credentials.pause(app: app, id: old, reason: "revoked", at: .start),
        try transaction.credentials.pause(app: app, id: new, reason: "InvalidProviderToken", at: .start),
        // The first reason is the one that counts.
        try transaction.credentials.pause(app: app, id: new, reason: "later", at: .start),
        try transaction.credentials.pause(app: other, id: new, reason: "foreign", at: .start),
      ]
    }
    #expect(paused == [true, true, true, false])
    store.close()
    store = try Store.testing(folder)
    #expect(try await states(store, app) == [.paused("revoked"), .paused("InvalidProviderToken")])
    let resumed = try await store.change { transaction throws(StorageError) in
      [
        try transaction.credentials.resume(app: app, id: old, at: .start),
        try transaction.credentials.resume(app: app, id: new, at: .start),
        try transaction.credentials.resume(app: other, id: new, at: .start),
      ]
    }
    #expect(resumed == [true, true, false])
    #expect(try await states(store, app) == [.retiring, .active])
    for reason in ["", String(repeating: "x", count: 501)] {
      await #expect(throws: StorageError.self) {
        try await store.change { transaction throws(StorageError) in
          try transaction.credentials.pause(app: app, id: new, reason: reason, at: .start)
        }
      }
    }
    store.close()
  }

  /// An old one goes when its time is over, but never while the new one cannot be used.
  @Test func retiredOnesAreSwept() async throws {
    let store = try Store.testing(folder)
    defer { store.close() }
    let app = try await store.addApp()
    let later = Timestamp.start.adding(seconds: 100)
    let new = try await store.change { transaction throws(StorageError) in
      _ = try transaction.credentials.add(app: app, Self.some(), at: .start)
      _ = try transaction.credentials.add(app: app, Self.some(.sandbox), at: .start)
      let new = try transaction.credentials.add(app: app, Self.some(), at: later)
      _ = try transaction.credentials.pause(app: app, id: new, reason: "broken", at: later)
      return new
    }
    let sweep = { (limit: Timestamp) async throws -> Int in
      try await store.change { transaction throws(StorageError) in
        try transaction.credentials.sweep(retiringSince: limit, at: limit, in: .all)
      }
    }
    #expect(try await sweep(later.adding(seconds: 1)) == 0)
    _ = try await store.change { transaction throws(StorageError) in
      try transaction.credentials.resume(app: app, id: new, at: later)
    }
    #expect(try await sweep(later) == 0)
    #expect(try await sweep(later.adding(seconds: 1)) == 1)
    #expect(try await states(store, app) == [.active, .active])
  }

  @Test func resealing() async throws {
    let store = try Store.testing(folder)
    defer { store.close() }
    let app = try await store.addApp()
    let other = try await store.addApp()
    let (done, sealed) = try await store.change { transaction throws(StorageError) in
      let id = try transaction.credentials.add(app: app, Self.some(), at: .start)
      let done = [
        try transaction.credentials.reseal(app: other, id: id, sealed: [8]),
        try transaction.credentials.reseal(app: app, id: id, sealed: [9]),
      ]
      return (done, try transaction.credentials.sealed(app: app, id: id))
    }
    #expect(done == [false, true] && sealed == [9])
  }

  @Test func resealingOneTimePasswordsKeepsTheRecoveryCodes() async throws {
    let store = try Store.testing(folder)
    defer { store.close() }
    let (person, codes) = try await store.change { transaction throws(StorageError) in
      let id = try transaction.people.add(
        NewPerson(email: "zoe@example.com", name: "Zoe", password: "x", language: "en", isOperator: true),
        at: .start)
      try transaction.people.setTOTP(of: id, sealed: [8], step: 7)
      try transaction.people.setRecoveryCodes(of: id, (1...10).map { Array(repeating: UInt8($0), count: 32) })
      try transaction.people.resealTOTP(of: id, sealed: [9])
      let person = try transaction.people.all().first { $0.id == id }
      return (person, try transaction.people.recoveryCodes(of: id))
    }
    #expect(person?.sealedTOTP == [9] && person?.totpStep == 7 && codes == 10)
  }

  @Test func wrongRowsAreRefused() async throws {
    let store = try Store.testing(folder)
    defer { store.close() }
    let app = try await store.addApp()
    var short = Self.some()
    short.fingerprint = [1]
    for (owner, new) in [(app, Self.some(.none)), (AppID(99), Self.some()), (app, short)] {
      await #expect(throws: StorageError.self) {
        try await store.change { transaction throws(StorageError) in
          try transaction.credentials.add(app: owner, new, at: .start)
        }
      }
    }
    #expect(try await states(store, app) == [])
  }
}
