import PushBase
import PushCrypto
import PushDomain
import PushStorage
import PushTesting
import Synchronization
import Testing

@testable import PushRouter

/// Registrations that another process imports, and the devices that come for them.
@Suite struct ImportTests {
  private func id(_ number: UInt64) -> RegistrationID { RegistrationID(high: number, low: 7) }

  private func make(_ world: TestWorld, _ imported: [ImportedRegistration], _ adoption: Adoption = .token)
    async throws
    -> [ImportOutcome]
  {
    let app = world.app.id
    let outcomes = try await world.store.change { t throws(StorageError) in
      try RegistrationImport(into: app, adoption: adoption, at: Timestamp(milliseconds: 5)).add(
        imported, in: t)
    }
    try await learn(world)
    return outcomes
  }

  /// Waits until the server has learned of all imports.
  private func learn(_ world: TestWorld) async throws {
    let last = try await world.store.look { t throws(StorageError) in try t.imports.last() }
    for _ in 0..<200 where world.router.imports.last != last { try await world.tick() }
    #expect(world.router.imports.last == last)
  }

  private func register(
    _ world: TestWorld, _ platform: Platform, fingerprint: String = "own", token: [UInt8] = []
  ) async throws -> Registrations.Registered {
    let result = await awaitCallback { done in
      world.router.registrations.register(
        in: world.app, platform: platform, fingerprint: Array(fingerprint.utf8),
        tokens: [PushToken(.sandbox, token)], appVersion: "2"
      ) { done($0) }
    }
    return try result.get()
  }

  /// The device logs in, as over a connection; what follows from that is stored.
  @discardableResult
  private func enter(_ world: TestWorld, _ device: Registrations.Registered) async throws -> Bool {
    let number = try #require(world.app.directory.find(device.id))
    let login = DeviceLogin(
      app: world.app.key, registrationID: device.id, secretHash: SHA256.digest128(device.secret),
      isForeground: true, location: Location(loop: 0, slot: number.rawValue, generation: 1))
    var answers: [HomeMessage] = []
    LocalHome(world.router).take([.login(login)], answers: &answers)
    try await world.barrier()
    guard case .loginResult(_, .accepted) = answers.first else { return false }
    return true
  }

  private func aliasHolders(_ world: TestWorld, _ alias: String) -> [RegistrationID?] {
    world.app.directory.registrations(alias: alias).map { world.app.directory.identity($0)?.id }
  }

  /// A commit may end early: what is left comes with the next one.
  @Test func `Takes as many as there is time for`() async throws {
    let world = try await TestWorld()
    let app = world.app.id
    var rest = (1...5).map {
      ImportedRegistration(registrationID: id($0), platform: .android, tags: ["tag\($0)"])
    }[...]
    var counts: [Int] = []
    while !rest.isEmpty {
      let outcomes = try await world.store.change { [rest] t throws(StorageError) in
        var left = 2
        return try RegistrationImport(into: app, adoption: .token, at: Timestamp(milliseconds: 5)).add(
          Array(rest), in: t
        ) {
          left -= 1
          return left > 0
        }
      }
      #expect(outcomes.allSatisfy { $0 == .added })
      counts.append(outcomes.count)
      rest = rest.dropFirst(outcomes.count)
    }
    #expect(counts == [2, 2, 1])
    try await learn(world)
    for number in 1...5 as ClosedRange<UInt64> { #expect(world.app.directory.find(id(number)) != nil) }
  }

  /// A running server pushes to what was imported beside it, and so does one that starts later.
  @Test func isLearned() async throws {
    let world = try await TestWorld()
    let outcomes = try await make(
      world,
      [
        ImportedRegistration(
          registrationID: id(1), platform: .ios, alias: "anna", tags: ["a", "b"],
          tokens: [PushToken(.sandbox, [1, 2])]),
        ImportedRegistration(registrationID: id(2), platform: .android, tags: ["b"], mobile: "1"),
      ])
    #expect(outcomes == [.added, .added])
    for isNew in [false, true] {
      if isNew { try await world.restart(isOrderly: false) }
      #expect(aliasHolders(world, "anna") == [id(1)])
      let terms = AudienceFilter(tags: ["b"])
      #expect(world.app.directory.resolve(terms, platforms: .all).count == 2)
      let number = try #require(world.app.directory.find(id(1)))
      let holders = world.app.directory.state.withLock {
        $0.table.members(holding: APNsTokenSlot.device.slot, for: .sandbox)
          .contains(number)
      }
      #expect(holders)
      #expect(world.app.directory.presence(number)?.lastSeen == 0)
    }
    // It learns each once: a second look finds nothing.
    try await learn(world)
    #expect(world.app.directory.registrationCount == 2)
  }

  /// Tokens of other channels than APNs stand in another table: a running server learns of both, and so does one that starts later.
  @Test func tokensOfAnyChannelAreLearned() async throws {
    let world = try await TestWorld()
    let words = TokenSlot(ChannelID(rawValue: 200), kind: 1)
    let tokens = [PushToken(.production, [1]), PushToken(words, .only, [2])]
    let one = ImportedRegistration(registrationID: id(1), platform: .ios, tokens: tokens)
    let taken = ImportedRegistration(
      registrationID: id(2), platform: .android, tokens: [PushToken(words, .only, [2])])
    #expect(try await make(world, [one, taken]) == [.added, .tokenTaken(by: id(1))])
    #expect(try await make(world, [one]) == [.known])
    for isNew in [false, true] {
      if isNew { try await world.restart(isOrderly: false) }
      let number = try #require(world.app.directory.find(id(1)))
      for token in tokens {
        let holders = world.app.directory.state.withLock { $0.table.members(holding: token.slot) }
        #expect(holders.members() == [number])
      }
      let app = world.app.id
      let stored = try await world.store.look { t throws(StorageError) in
        try t.tokens.all(app: app, of: number).map(\.token)
      }
      #expect(stored == tokens)
    }
    // What was told at an unknown time is older than any word of its service.
    let (app, number) = (world.app.id, try #require(world.app.directory.find(id(1))))
    let isRetired = try await world.store.change { t throws(StorageError) in
      try t.tokens.retire(
        app: app, number: number, tokens[1], .byService, unlessToldAfter: Timestamp(milliseconds: 1),
        at: Timestamp(milliseconds: 2))
    }
    #expect(isRetired)
  }

  /// An import that is repeated adds nothing; what cannot be taken is told.
  @Test func outcomes() async throws {
    let world = try await TestWorld()
    let other = try await world.addApp()
    let own = try await world.register(token: [9], platform: .ios)
    let one = ImportedRegistration(
      registrationID: id(1), platform: .ios, alias: "a", tokens: [PushToken(.production, [1])])
    #expect(try await make(world, [one, one]) == [.added, .known])
    #expect(try await make(world, [one]) == [.known])
    let foreign = try await world.store.change { t throws(StorageError) in
      try RegistrationImport(into: other.id, adoption: .token, at: Timestamp(milliseconds: 5)).add(
        [one], in: t)
    }
    #expect(foreign == [.foreign])
    let taken = ImportedRegistration(
      registrationID: id(2), platform: .ios, tokens: [PushToken(.production, [9])])
    #expect(try await make(world, [taken]) == [.tokenTaken(by: own.id)])
    let many = (10..<20).map { ImportedRegistration(registrationID: id($0), platform: .android, alias: "a") }
    let results = try await make(world, many)
    #expect(results == Array(repeating: ImportOutcome.added, count: 9) + [.aliasFull])
    let tags = ImportedRegistration(
      registrationID: id(30), platform: .android, tags: (0...1000).map { "t\($0)" })
    #expect(try await make(world, [tags]) == [.tooManyTags])
    // What is refused changes nothing: not even tags are made.
    let known = ImportedRegistration(registrationID: id(1), platform: .ios, tags: ["of none"])
    #expect(try await make(world, [known]) == [.known])
    let names = try await world.store.look { [id = world.app.id] t throws(StorageError) in
      try t.tags.all(app: id)
    }
    #expect(names.isEmpty)
  }

  /// A device with the imported token becomes that registration: what waits for it is there, and its alias and tags.
  @Test func adoptionByToken() async throws {
    let world = try await TestWorld()
    _ = try await make(
      world,
      [
        ImportedRegistration(
          registrationID: id(1), platform: .ios, alias: "a", tags: ["t"],
          tokens: [PushToken(.production, [1])])
      ])
    let number = try #require(world.app.directory.find(id(1)))
    var request = AcceptRequest.test()
    request.push.audience = .filter(AudienceFilter(aliases: ["a"]))
    let push = try await world.accept(request).get()
    // Naming the ID is not enough.
    let outsider = try await register(world, .ios, fingerprint: "jpush:\(id(1).text)")
    #expect(outsider.id != id(1))
    let registered = try await register(world, .ios, fingerprint: "new", token: [1])
    #expect(registered.id == id(1))
    #expect(try await enter(world, registered))
    let device = TestDevice(id: registered.id, secret: registered.secret, number: number)
    #expect(world.pending(device) == [push.id])
    #expect(aliasHolders(world, "a") == [id(1)] && world.app.directory.hasTag("t", number))
    // From then on it is like any other: the same token again is a new device.
    #expect(try await register(world, .ios, token: [1]).id != id(1))
    #expect(aliasHolders(world, "a") == [])
  }

  /// A device that names the ID becomes that registration, once, if the import allowed it. Many know an ID: whoever else
  /// names it changes nothing.
  @Test func adoptionByID() async throws {
    let world = try await TestWorld()
    let old = ImportedID.registrationID("0207870f1b8", in: world.app.key)
    _ = try await make(
      world,
      [
        ImportedRegistration(registrationID: old, platform: .android, alias: "a"),
        ImportedRegistration(registrationID: id(1), platform: .android, alias: "b"),
      ], .registrationID)
    #expect(try await register(world, .ios, fingerprint: "jpush:\(id(1).text)").id != id(1))
    for (name, expected) in [("0207870f1b8", old), (id(1).text, id(1))] {
      let first = try await register(world, .android, fingerprint: "jpush:\(name)")
      #expect(first.id == expected)
      #expect(try await enter(world, first))
      for platform in [Platform.android, .ios, .android] {
        let other = try await register(world, platform, fingerprint: "jpush:\(name)")
        #expect(other.id != expected)
        #expect(try await enter(world, other))
      }
      #expect(try await enter(world, first), "it is still there")
    }
    #expect(aliasHolders(world, "a") == [old] && aliasHolders(world, "b") == [id(1)])
    #expect(world.app.directory.registrationCount == 8)
  }

  /// A device whose connection ends before the answer to its REGISTER sends that again, perhaps without its token or with
  /// another one, and perhaps to a server that has started anew.
  @Test(arguments: [false, true])
  func `A lost answer costs nothing`(isAfterRestart: Bool) async throws {
    let world = try await TestWorld()
    let ids = (1...4).map { id($0) }
    let name = "jpush:\(ids[0].text)"
    _ = try await make(
      world,
      ids.enumerated().map { index, id in
        ImportedRegistration(
          registrationID: id, platform: .ios, alias: "a\(index)", tags: ["t"],
          tokens: [PushToken(.production, [UInt8(index)])])
      }, .registrationID)
    let push = try await world.accept(.test()).get()
    let first: [(fingerprint: String, token: [UInt8])] = [
      (name, []), ("mine", [1]), ("own", [2]), ("other", [3]),
    ]
    let again: [(fingerprint: String, token: [UInt8])] = [
      (name, []), ("mine", [1]), ("own", []), ("other", [9]),
    ]
    var lost: [Registrations.Registered] = []
    for one in first {
      lost.append(try await register(world, .ios, fingerprint: one.fingerprint, token: one.token))
    }
    #expect(lost.map(\.id) == ids)
    if isAfterRestart { try await world.restart(isOrderly: false) }
    for (index, one) in again.enumerated() {
      let device = try await register(world, .ios, fingerprint: one.fingerprint, token: one.token)
      #expect(device.id == lost[index].id)
      #expect(try await !enter(world, lost[index]), "that secret nobody got")
      #expect(try await enter(world, device))
      let number = try #require(world.app.directory.find(device.id))
      let known = TestDevice(id: device.id, secret: device.secret, number: number)
      #expect(world.pending(known) == [push.id] && world.app.directory.hasTag("t", number))
      #expect(aliasHolders(world, "a\(index)") == [device.id])
    }
    // Each has logged in: who comes with the same now is another install, or the same one that lost what it had.
    if isAfterRestart { try await world.restart(isOrderly: false) }
    for (index, one) in again.enumerated() {
      let other = try await register(world, .ios, fingerprint: one.fingerprint, token: one.token)
      #expect(other.id != lost[index].id)
    }
    #expect(aliasHolders(world, "a0") == [ids[0]], "its ID is no secret")
    for alias in ["a1", "a2", "a3"] { #expect(aliasHolders(world, alias) == []) }
  }

  /// One that named an ID of which nothing was imported leaves no trace if its answer is lost.
  @Test func `Nothing piles up behind an unknown former ID`() async throws {
    let world = try await TestWorld()
    for _ in 0..<3 { _ = try await register(world, .android, fingerprint: "jpush:\(id(1).text)") }
    let device = try await register(world, .android, fingerprint: "jpush:\(id(1).text)")
    #expect(world.app.directory.registrationCount == 1)
    #expect(try await enter(world, device))
    _ = try await register(world, .ios, fingerprint: "jpush:\(id(1).text)")
    #expect(world.app.directory.registrationCount == 2)
    #expect(try await enter(world, device))
  }

  /// A device that comes before the server has learned of the import gets its registration all the same.
  @Test func adoptionAtOnce() async throws {
    let world = try await TestWorld()
    let app = world.app.id
    let imported = [
      ImportedRegistration(registrationID: id(1), platform: .android, alias: "a", tags: ["t"]),
      ImportedRegistration(registrationID: id(2), platform: .android, tags: ["t"]),
    ]
    _ = try await world.store.change { t throws(StorageError) in
      try RegistrationImport(into: app, adoption: .registrationID, at: Timestamp(milliseconds: 5)).add(
        imported, in: t)
    }
    let registered = try await register(world, .android, fingerprint: "jpush:\(id(1).text)")
    #expect(registered.id == id(1))
    let number = try #require(world.app.directory.find(id(1)))
    #expect(world.login(TestDevice(id: registered.id, secret: registered.secret, number: number)).loop == 0)
    try await learn(world)
    #expect(aliasHolders(world, "a") == [id(1)])
    let terms = AudienceFilter(tags: ["t"])
    #expect(world.app.directory.resolve(terms, platforms: .all).count == 2)
    #expect(world.app.directory.onlineCount == 1)
  }

  /// One transaction may import more than a server learns in one step; numbers have no gaps where lines are refused.
  @Test func manyAreLearnedPieceByPiece() async throws {
    let world = try await TestWorld()
    var imported = (1...2500).map { number in
      ImportedRegistration(
        registrationID: id(number), platform: .android, alias: "a\(number)", tags: ["t\(number % 3)"])
    }
    imported.insert(imported[0], at: 7)
    let outcomes = try await make(world, imported)
    #expect(outcomes[7] == .known && outcomes.count { $0 == .added } == 2500)
    #expect(try await world.store.look { t throws(StorageError) in try t.imports.last() } == 3)
    let terms = AudienceFilter(tags: ["t0"])
    #expect(world.app.directory.resolve(terms, platforms: .all).count == 833)
    #expect(aliasHolders(world, "a2500") == [id(2500)])
    #expect(world.app.directory.find(id(2500)) == RegistrationNumber(2499))
    // Whoever comes next has the next number.
    let device = try await register(world, .android)
    #expect(world.app.directory.find(device.id) == RegistrationNumber(2500))
    #expect(try await make(world, imported) == Array(repeating: .known, count: imported.count))
  }

  @Test func formerIDs() {
    let (app, other) = (AppKey(high: 1, low: 2), AppKey(high: 1, low: 3))
    #expect(ImportedID.registrationID("13065ffa4e0b5fb6ba3", in: app).text == "13065ffa4e0b5fb6ba3")
    let made = ImportedID.registrationID("0207870f1b8", in: app)
    #expect(made == ImportedID.registrationID("0207870f1b8", in: app))
    #expect(made != ImportedID.registrationID("0207870f1b8", in: other))
    #expect(ImportedID.registrationID(fingerprint: Array("jpush:0207870f1b8".utf8), in: app) == made)
    for text in ["", "jpush", "jpush:", "jpus:0207870f1b8", "JPUSH:x"] {
      #expect(ImportedID.registrationID(fingerprint: Array(text.utf8), in: app) == nil, "\(text)")
    }
    #expect(ImportedID.registrationID(fingerprint: Array("jpush:".utf8) + [0xff], in: app) == nil)
  }
}
