import BorealisBase
import PushTesting
import Testing

@testable import Storage

/// People, and where their roles come from.
@Suite struct PersonTests {
  let folder = TemporaryFolder()

  private static func new(_ email: String) -> NewPerson {
    NewPerson(email: email, name: "Kim", password: "", language: "en", isOperator: false)
  }

  @Test func `An identity at the provider is one person's`() async throws {
    let store = try Store.testing(folder)
    defer { store.close() }
    let (kim, zoe) = try await store.change { t throws(StorageError) in
      (
        try t.people.add(Self.new("kim@example.com"), at: .start),
        try t.people.add(Self.new("zoe@example.com"), at: .start)
      )
    }
    try await store.change { t throws(StorageError) in
      try t.people.setIdentity(of: kim, issuer: "https://a.example", subject: "1")
      try t.people.setIdentity(of: zoe, issuer: "https://b.example", subject: "1")
    }
    await #expect(throws: StorageError.self) {
      try await store.change { t throws(StorageError) in
        try t.people.setIdentity(of: zoe, issuer: "https://a.example", subject: "1")
      }
    }
    func find(_ issuer: String, _ subject: String) async throws -> PersonRow? {
      try await store.look { t throws(StorageError) in try t.people.find(issuer: issuer, subject: subject) }
    }
    let found = try #require(try await find("https://a.example", "1"))
    #expect(found.id == kim && found.issuer == "https://a.example" && !found.hasPassword)
    #expect(try await find("https://b.example", "1")?.id == zoe)
    for (issuer, subject) in [
      ("https://a.example", "2"), ("https://A.example", "1"), ("https://a.example", "1 "), ("", ""),
    ] {
      #expect(try await find(issuer, subject) == nil, "\(issuer) \(subject)")
    }
    try await store.change { t throws(StorageError) in try t.people.removeIdentity(of: kim) }
    #expect(try await find("https://a.example", "1") == nil)
  }

  @Test func `A role is by a claim until somebody gives one`() async throws {
    let store = try Store.testing(folder)
    defer { store.close() }
    let kim = try await store.change { t throws(StorageError) in
      let kim = try t.people.add(Self.new("kim@example.com"), at: .start)
      try t.members.setRole(of: kim, in: .standard, .sender, isFromClaim: true)
      return kim
    }
    func grant(after change: @escaping @Sendable (WriteTransaction) throws(StorageError) -> Void) async throws
      -> [RoleGrant]
    {
      try await store.change { t throws(StorageError) in
        try change(t)
        let grants = try t.members.grants(of: kim)
        guard try t.members.all(of: .standard).map(\.isFromClaim) == grants.map(\.isFromClaim) else {
          return []
        }
        return grants
      }
    }
    func grants(_ role: Role, isFromClaim: Bool) -> [RoleGrant] {
      [RoleGrant(account: .standard, role: role, isFromClaim: isFromClaim)]
    }
    #expect(try await grant { _ throws(StorageError) in } == grants(.sender, isFromClaim: true))
    // An invitation to less than that changes nothing.
    #expect(
      try await grant { t throws(StorageError) in try t.members.join(kim, to: .standard, as: .viewer) }
        == grants(.sender, isFromClaim: true))
    #expect(
      try await grant { t throws(StorageError) in try t.members.join(kim, to: .standard, as: .admin) }
        == grants(.admin, isFromClaim: false))
    #expect(
      try await grant { t throws(StorageError) in
        try t.members.setRole(of: kim, in: .standard, .owner, isFromClaim: true)
      } == grants(.owner, isFromClaim: true))
    #expect(
      try await grant { t throws(StorageError) in try t.members.setRole(of: kim, in: .standard, .owner) }
        == grants(.owner, isFromClaim: false))
  }
}
