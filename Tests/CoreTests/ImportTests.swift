import BorealisBase
import BorealisCrypto
import Model
import PushTesting
import Storage
import Synchronization
import Testing

@testable import Core

/// Registrations that another process imports, and the devices that come for them.
@Suite struct ImportTests {
  private func id(_ number: UInt64) -> RegistrationID { RegistrationID(high: number, low: 7) }

  private func make(
    _ world: TestWorld, _ imported: [ImportedRegistration], _ adoption: Adoption = .token
  ) async throws -> [ImportResult.Outcome] {
    try await results(world, imported, adoption).map(\.outcome)
  }

  /// Imports, after a trial that must have had the same results and changed nothing.
  private func results(
    _ world: TestWorld, _ imported: [ImportedRegistration], _ adoption: Adoption = .token,
    updating fields: ImportFields = [], tagLimit: Int = RegistrationLimits.tagsPerApp
  ) async throws -> [ImportResult] {
    let work = RegistrationImport(
      into: world.app.id, adoption: adoption, updating: fields, at: Timestamp(milliseconds: 5),
      tagLimit: tagLimit)
    let foretold = try await world.store.look { t throws(StorageError) in
      var forecast = ImportForecast()
      // In two steps, as a long file is read.
      return try work.foretell(Array(imported.prefix(2)), after: &forecast, in: t)
        + work.foretell(Array(imported.dropFirst(2)), after: &forecast, in: t)
    }
    let results = try await world.store.change { t throws(StorageError) in try work.add(imported, in: t) }
    #expect(foretold == results)
    try await learn(world)
    return results
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
      isForeground: true, location: Location(loop: 0, slot: number.rawValue, generation: 1),
      askedAt: world.clock.monotonic())
    var answers: [HomeMessage] = []
    LocalHome(world.router).handle([.login(login)], answers: &answers)
    try await world.barrier()
    guard case .loginResult(_, .accepted) = answers.first else { return false }
    return true
  }

  private func ask(_ world: TestWorld, _ facts: DeviceFactSet) async throws {
    try await awaitCallback { [router = world.router, app = world.app] in
      router.apps.setFacts(facts, of: app, noting: .test, done: $0)
    }.get()
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
      #expect(outcomes.allSatisfy { $0.outcome == .added })
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

  /// Tokens of other channels than APNs stand in another table: a running server learns of both, and so does
  /// one that starts later.
  /// Facts of imported devices are known at once, those that the app does not ask for are not stored, and a
  /// later table changes them.
  @Test func `Facts are imported`() async throws {
    let world = try await TestWorld()
    try await ask(world, [DeviceFactSet(.language), DeviceFactSet(.timeZone)])
    func one(_ facts: [DeviceFact: String]) -> ImportedRegistration {
      ImportedRegistration(registrationID: id(1), platform: .ios, facts: facts)
    }
    _ = try await results(world, [one([.language: "de", .timeZone: "Europe/Berlin", .model: "x"])])
    let number = try #require(world.app.directory.find(id(1)))
    for isNew in [false, true] {
      if isNew { try await world.restart(isOrderly: false) }
      #expect(world.app.directory.facts(of: number) == [.language: "de", .timeZone: "Europe/Berlin"])
    }
    let known = try await results(world, [one([.language: "fr"])])
    #expect(known.map(\.outcome) == [.known])
    let updated = try await results(world, [one([.language: "fr"])], updating: .facts)
    #expect(updated.map(\.outcome) == [.updated])
    #expect(world.app.directory.facts(of: number) == [.language: "fr", .timeZone: "Europe/Berlin"])
    #expect(try await results(world, [one([.language: "fr"])], updating: .facts).map(\.outcome) == [.known])
  }

  /// An app has a limited number of values of each fact.
  @Test func `Facts without room are named`() async throws {
    let world = try await TestWorld()
    try await ask(world, [DeviceFactSet(.model), DeviceFactSet(.system)])
    let imported = (0...FactTable.mostValues).map {
      ImportedRegistration(
        registrationID: id(UInt64($0)), platform: .android, facts: [.model: "m\($0)", .system: "s"])
    }
    let results = try await results(world, imported)
    #expect(results.dropLast().allSatisfy { $0.losses.isEmpty })
    #expect(results.last?.losses == [.factFull(.model)] && results.last?.outcome == .added)
    let last = try #require(world.app.directory.find(id(UInt64(FactTable.mostValues))))
    #expect(world.app.directory.facts(of: last) == [.system: "s"])
  }

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
        app: app, number: number, tokens[1], .byService, unlessReportedAfter: Timestamp(milliseconds: 1),
        at: Timestamp(milliseconds: 2))
    }
    #expect(isRetired)
  }

  /// An import that is repeated adds nothing; what cannot be taken is named.
  @Test func outcomes() async throws {
    let world = try await TestWorld()
    let other = try await world.addApp()
    let own = try await world.register(token: [9], platform: .ios)
    let one = ImportedRegistration(
      registrationID: id(1), platform: .ios, alias: "a", tokens: [PushToken(.production, [1])])
    #expect(try await make(world, [one]) == [.added])
    #expect(try await make(world, [one]) == [.known])
    // Another app may have the same table, as for a trial.
    let foreign = try await world.store.change { t throws(StorageError) in
      try RegistrationImport(into: other.id, adoption: .token, at: Timestamp(milliseconds: 5)).add(
        [one], in: t)
    }
    #expect(foreign.map(\.outcome) == [.added])
    let taken = ImportedRegistration(
      registrationID: id(2), platform: .ios, tokens: [PushToken(.production, [1])])
    let again = ImportedRegistration(
      registrationID: id(3), platform: .ios, tokens: [PushToken(.production, [2])])
    let third = ImportedRegistration(
      registrationID: id(4), platform: .ios, tokens: [PushToken(.production, [2])])
    #expect(
      try await make(world, [taken, again, third]) == [
        .tokenTaken(by: id(1)), .added, .tokenTaken(by: id(3)),
      ])
    let many = (10..<20).map { ImportedRegistration(registrationID: id($0), platform: .android, alias: "a") }
    let results = try await results(world, many)
    #expect(results.allSatisfy { $0.outcome == .added })
    #expect(results.map(\.losses) == Array(repeating: [], count: 9) + [[.aliasFull]])
    #expect(aliasHolders(world, "a").count == 10)
    // What is refused changes nothing: not even tags are made.
    let known = ImportedRegistration(registrationID: id(1), platform: .ios, tags: ["of none"])
    #expect(try await make(world, [known]) == [.known])
    let names = try await world.store.look { [id = world.app.id] t throws(StorageError) in
      try t.tags.all(app: id)
    }
    #expect(names.isEmpty)
    _ = own
  }

  /// A device of which something cannot be taken over is imported without it.
  @Test func `An app with too many tags gets the devices without new ones`() async throws {
    let world = try await TestWorld()
    let imported = ["a b", "b c", "b", "c d"].enumerated().map { place, tags in
      ImportedRegistration(
        registrationID: id(UInt64(place + 1)), platform: .android,
        tags: tags.split(separator: " ").map(String.init))
    }
    let results = try await results(world, imported, tagLimit: 3)
    #expect(results.allSatisfy { $0.outcome == .added })
    #expect(results.map(\.losses) == [[], [], [], [.appTagsFull]])
    for (tag, count) in [("a", 1), ("b", 3), ("c", 1), ("d", 0)] {
      #expect(world.app.directory.resolve(AudienceFilter(tags: [tag])).count == count)
    }
  }

  /// A later table updates what its columns have, as long as the device has not come; a running server learns
  /// of it.
  @Test func `Importing again updates`() async throws {
    let world = try await TestWorld()
    let words = TokenSlot(ChannelID(rawValue: 200), kind: 1)
    var one = ImportedRegistration(
      registrationID: id(1), platform: .ios, alias: "anna", tags: (0..<40).map { "t\($0)" },
      tokens: [PushToken(.production, [1])], mobile: "1")
    var other = ImportedRegistration(registrationID: id(2), platform: .android, alias: "bert", tags: ["t0"])
    _ = try await make(world, [one, other])
    #expect(
      try await results(world, [one, other], updating: [.alias, .tags, .mobile, .tokens]).map(\.outcome)
        == [.known, .known])
    (one.alias, one.tags, one.mobile) = ("bert", ["t0", "new"], nil)
    one.tokens = [PushToken(.production, [2]), PushToken(words, .only, [3])]
    (other.alias, other.tags) = (nil, [])
    // What the file has no column for stays.
    #expect(try await make(world, [one, other]) == [.known, .known])
    #expect(aliasHolders(world, "anna") == [id(1)])
    let results = try await results(world, [one, other], updating: [.alias, .tags, .mobile, .tokens])
    #expect(results.map(\.outcome) == [.updated, .updated] && results.allSatisfy(\.losses.isEmpty))
    for isNew in [false, true] {
      if isNew { try await world.restart(isOrderly: false) }
      #expect(aliasHolders(world, "anna") == [] && aliasHolders(world, "bert") == [id(1)])
      let number = try #require(world.app.directory.find(id(1)))
      for (tag, count) in [("t0", 1), ("new", 1), ("t1", 0), ("t39", 0)] {
        #expect(world.app.directory.resolve(AudienceFilter(tags: [tag])).count == count, "\(tag)")
      }
      let holders = world.app.directory.state.withLock { $0.table.members(holding: words) }
      #expect(holders.contains(number))
      let app = world.app.id
      let tokens = try await world.store.look { t throws(StorageError) in
        try t.tokens.all(app: app, of: number).map(\.token)
      }
      #expect(tokens == one.tokens)
    }
    // From when its device has come, the device says what it has.
    let device = try await register(world, .ios, token: [2])
    #expect(device.id == id(1))
    one.alias = "carl"
    #expect(try await self.results(world, [one], updating: .alias).map(\.outcome) == [.known])
    #expect(aliasHolders(world, "bert") == [id(1)])
  }

  /// An import without adoption by ID is repaired by another one: for devices that have not come, and for
  /// those that have come as new ones.
  @Test(arguments: [false, true])
  func `Importing again repairs what was imported without adoption by ID`(isAfterRestart: Bool) async throws {
    let world = try await TestWorld()
    let imported = (1...3).map { number in
      ImportedRegistration(
        registrationID: id(UInt64(number)), platform: .android, alias: "a\(number)", tags: ["t\(number)"],
        mobile: "\(number)", fingerprints: ImportedID.fingerprints(id(UInt64(number)).text))
    }
    _ = try await make(world, imported)
    var devices: [Registrations.Registered] = []
    for number in [1, 2] as [UInt64] {
      let device = try await register(world, .android, fingerprint: "jpush:\(id(number).text)")
      #expect(device.id != id(number))
      #expect(try await enter(world, device))
      devices.append(device)
    }
    // The second one has set an alias itself.
    let own = try #require(world.app.directory.find(devices[1].id))
    try await awaitCallback { done in
      world.router.registrations.setAlias("own", of: own, in: world.app) { done($0) }
    }.get()
    let results = try await results(world, imported, .registrationID)
    #expect(results.map(\.outcome) == [.updated, .updated, .updated])
    #expect(results.map(\.registrationID) == [devices[0].id, devices[1].id, id(3)])
    for isNew in [false, true] where !isNew || isAfterRestart {
      if isNew { try await world.restart(isOrderly: false) }
      #expect(aliasHolders(world, "a1") == [devices[0].id] && aliasHolders(world, "a2") == [])
      #expect(aliasHolders(world, "own") == [devices[1].id])
      for (tag, place) in [("t1", 0), ("t2", 1)] {
        let holders = world.app.directory.resolve(AudienceFilter(tags: [tag])).numbers.members()
        #expect(holders.map { world.app.directory.identity($0)?.id } == [devices[place].id])
      }
      #expect(world.app.directory.find(id(1)) == nil && world.app.directory.registrationCount == 3)
    }
    // It has been done; the third device comes now.
    #expect(try await make(world, imported, .registrationID) == [.known, .known, .known])
    let third = try await register(world, .android, fingerprint: "jpush:\(id(3).text)")
    #expect(third.id == id(3))
  }

  /// A device that has come before the import gets what the file has of it; several that name the same ID get
  /// nothing.
  @Test func `Devices may come before the import`() async throws {
    let world = try await TestWorld()
    let named = try await register(world, .android, fingerprint: "jpush:\(id(1).text)")
    #expect(try await enter(world, named))
    let holder = try await register(world, .ios, token: [7])
    for _ in 0..<2 {
      #expect(try await enter(world, try await register(world, .android, fingerprint: "jpush:\(id(3).text)")))
    }
    let imported = (1...3 as ClosedRange<UInt64>).map { number in
      var one = ImportedRegistration(registrationID: id(number), platform: .android, alias: "a\(number)")
      one.fingerprints = ImportedID.fingerprints(id(number).text)
      if number == 2 { (one.platform, one.tokens) = (.ios, [PushToken(.sandbox, [7])]) }
      return one
    }
    let results = try await results(world, imported, .registrationID)
    #expect(results.map(\.outcome) == [.updated, .updated, .added])
    #expect(results.map(\.registrationID) == [named.id, holder.id, id(3)])
    #expect(aliasHolders(world, "a1") == [named.id] && aliasHolders(world, "a2") == [holder.id])
    #expect(aliasHolders(world, "a3") == [id(3)])
  }

  /// A device with the imported token becomes that registration, with its alias and tags.
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
    // Naming the ID is not enough.
    let outsider = try await register(world, .ios, fingerprint: "jpush:\(id(1).text)")
    #expect(outsider.id != id(1))
    let registered = try await register(world, .ios, fingerprint: "new", token: [1])
    #expect(registered.id == id(1))
    var request = AcceptRequest.test()
    request.push.audience = .filter(AudienceFilter(aliases: ["a"]))
    let push = try await world.accept(request).get()
    #expect(try await enter(world, registered))
    let device = TestDevice(id: registered.id, secret: registered.secret, number: number)
    #expect(world.pending(device) == [push.id])
    #expect(aliasHolders(world, "a") == [id(1)] && world.app.directory.hasTag("t", number))
    // From then on it is like any other: the same token again is a new device.
    #expect(try await register(world, .ios, token: [1]).id != id(1))
    #expect(aliasHolders(world, "a") == [])
  }

  /// A device that names the ID becomes that registration, once, if the import allowed it. Many know an ID:
  /// whoever else names it changes nothing.
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

  /// A device whose connection ends before the answer to its REGISTER sends that again, perhaps without its
  /// token or with another one, and perhaps to a server that has started anew.
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
    _ = try await world.accept(.test()).get()
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
    let push = try await world.accept(.test()).get()
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
    // Each has logged in: who comes with the same now is another install, or the same one that lost what it
    // had.
    if isAfterRestart { try await world.restart(isOrderly: false) }
    for (index, one) in again.enumerated() {
      let other = try await register(world, .ios, fingerprint: one.fingerprint, token: one.token)
      #expect(other.id != lost[index].id)
    }
    #expect(aliasHolders(world, "a0") == [ids[0]], "its ID is no secret")
    for alias in ["a1", "a2", "a3"] { #expect(aliasHolders(world, alias) == []) }
  }

  /// Whoever pushes through two platforms for a while must not reach anybody twice: what was pushed before a
  /// device came is not brought when it comes.
  @Test(arguments: [false, true])
  func `Pushes from before its device comes are not brought later`(isAfterRestart: Bool) async throws {
    let world = try await TestWorld()
    _ = try await make(
      world,
      [
        ImportedRegistration(registrationID: id(1), platform: .android, alias: "a", tags: ["t"]),
        ImportedRegistration(
          registrationID: id(2), platform: .ios, alias: "b", tokens: [PushToken(.production, [1])]),
      ], .registrationID)
    if isAfterRestart { try await world.restart(isOrderly: false) }
    var toAlias = AcceptRequest.test()
    toAlias.push.audience = .filter(AudienceFilter(aliases: ["a"]))
    await #expect(throws: APIError.noTarget) { _ = try await world.accept(toAlias).get() }
    let before = try await world.accept(.test()).get()
    #expect(before.targets == 1, "the one with a token")
    world.clock.advance(seconds: 1)
    let devices = [
      try await register(world, .android, fingerprint: "jpush:\(id(1).text)"),
      try await register(world, .ios, token: [1]),
    ]
    #expect(devices.map(\.id) == [id(1), id(2)])
    let after = try await world.accept(.test()).get()
    #expect(after.targets == 2)
    for device in devices {
      #expect(try await enter(world, device))
      let number = try #require(world.app.directory.find(device.id))
      let known = TestDevice(id: device.id, secret: device.secret, number: number)
      #expect(world.pending(known) == [after.id])
      let why = try await WhyTests.why(before.id, known, in: world)
      #expect(why.firstFailure?.cause == (device.id == id(1) ? .registeredLater : .noChannel))
    }
  }

  /// Until the time that the operator sets, imported tokens are not used either.
  @Test func `An app sets from when on imported registrations get pushes`() async throws {
    let world = try await TestWorld()
    let token = PushToken(.production, [1])
    let imported = ImportedRegistration(registrationID: id(1), platform: .ios, alias: "a", tokens: [token])
    _ = try await make(world, [imported], .registrationID)
    let app = world.app.id
    func targets(from moment: Timestamp) async throws -> Int? {
      let row = try await world.store.change { t throws(StorageError) in
        _ = try t.apps.setImportsFrom(app: app, moment)
        return try t.apps.find(app)
      }
      _ = world.app.update(try #require(row))
      return try? await world.accept(.test()).get().targets
    }
    let now = world.clock.now()
    #expect(try await targets(from: now.adding(seconds: 1)) == nil)
    #expect(try await targets(from: now) == 1)
    #expect(try await targets(from: Timestamp(milliseconds: .max)) == nil)
    _ = try await register(world, .ios, fingerprint: "jpush:\(id(1).text)")
    #expect(try await targets(from: Timestamp(milliseconds: .max)) == 1)
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

  /// One transaction may import more than a server learns in one step; numbers have no gaps where lines are
  /// refused.
  @Test func manyAreLearnedPieceByPiece() async throws {
    let world = try await TestWorld()
    let app = world.app.id
    var imported = (1...2500).map { number in
      ImportedRegistration(
        registrationID: id(number), platform: .android, alias: "a\(number)", tags: ["t\(number % 3)"])
    }
    imported.insert(imported[0], at: 7)
    let outcomes = try await world.store.change { [imported] t throws(StorageError) in
      try RegistrationImport(into: app, adoption: .token, at: Timestamp(milliseconds: 5)).add(imported, in: t)
    }.map(\.outcome)
    try await learn(world)
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
    // A change of all of them is learned in as few steps.
    imported.remove(at: 7)
    let last = try await world.store.look { t throws(StorageError) in try t.imports.last() }
    let changed = try await make(world, imported, .registrationID)
    #expect(changed.count { $0 == .updated } == 2500)
    #expect(try await world.store.look { t throws(StorageError) in try t.imports.last() } == last + 3)
  }

  @Test func formerIDs() {
    let (app, other) = (AppKey(high: 1, low: 2), AppKey(high: 1, low: 3))
    for (text, kept) in [
      ("13065ffa4e0b5fb6ba3", "13065ffa4e0b5fb6ba3"), ("13065FFA4E0B5FB6BA3", "13065ffa4e0b5fb6ba3"),
      ("0207870f1b8", "0207870f1b8"), ("0207870F1B8", "0207870f1b8"),
    ] {
      #expect(ImportedID.registrationID(text, in: app).text == kept)
    }
    let made = ImportedID.registrationID("c0ffee00c0ffee00c0ffee00c0ffee00", in: app)
    #expect(made == ImportedID.registrationID("C0FFEE00c0ffee00c0ffee00c0ffee00", in: app))
    #expect(made != ImportedID.registrationID("c0ffee00c0ffee00c0ffee00c0ffee00", in: other))
    #expect(ImportedID.registrationID("User-A", in: app) != ImportedID.registrationID("user-a", in: app))
    let cid = "c0ffee00c0ffee00c0ffee00c0ffee00"
    #expect(ImportedID.candidates(fingerprint: Array("jpush:\(cid)".utf8), in: app) == [made])
    for text in ["", "jpush", "jpush:", "jpus:0207870f1b8", "JPUSH:x"] {
      #expect(ImportedID.candidates(fingerprint: Array(text.utf8), in: app) == [], "\(text)")
    }
    #expect(ImportedID.candidates(fingerprint: Array("jpush:".utf8) + [0xff], in: app) == [])
    // Earlier versions derived an ID from these as well.
    #expect(ImportedID.candidates("13065ffa4e0b5fb6ba3", in: app).count == 1)
    for text in ["0207870f1b8", "13065FFA4E0B5FB6BA3", cid.uppercased()] {
      #expect(ImportedID.candidates(text, in: app).count == 2)
    }
  }

  /// What earlier versions imported under another ID is found under that.
  @Test func `IDs of earlier versions are known`() async throws {
    let world = try await TestWorld()
    let ids = ImportedID.candidates("0207870f1b8", in: world.app.key)
    let before = ImportedRegistration(registrationID: ids[1], platform: .android, alias: "a")
    #expect(try await make(world, [before], .registrationID) == [.added])
    let now = ImportedRegistration(
      registrationID: ids[0], platform: .android, alias: "a", olderIDs: Array(ids.dropFirst()))
    let results = try await results(world, [now], .registrationID)
    #expect(results.map(\.outcome) == [.known] && results.map(\.registrationID) == [ids[1]])
    #expect(world.app.registration("0207870f1b8") == world.app.directory.find(ids[1]))
    #expect(try await register(world, .android, fingerprint: "jpush:0207870f1b8").id == ids[1])
  }
}
