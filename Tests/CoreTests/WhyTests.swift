import BorealisBase
import Model
import PushTesting
import Testing

@testable import Core
@testable import Storage

/// Causes that are made for real, and found in what is stored.
@Suite struct WhyTests {
  static func why(
    _ id: MessageID, _ device: DeviceInQuestion, in world: TestWorld
  ) async throws -> Diagnosis {
    try await world.tick()
    let result = await awaitCallback { done in
      world.router.diagnostics.diagnose(id, device, in: world.app) { done($0) }
    }
    return try #require(try result.get())
  }

  static func why(_ id: MessageID, _ device: TestDevice, in world: TestWorld) async throws
    -> Diagnosis
  {
    try await why(id, .there(device.number), in: world)
  }

  private static func search(
    _ text: String, in world: TestWorld, limit: Int = 10
  ) async throws -> DeviceSearch {
    let result = await awaitCallback { done in
      world.router.diagnostics.search(text, in: world.app, limit: limit) { done($0) }
    }
    return try result.get()
  }

  /// A request with its push object, as it comes from outside.
  private static func request(_ audience: String, _ change: (inout AudienceFilter) -> Void) -> AcceptRequest {
    var request = AcceptRequest.test()
    var filter = AudienceFilter()
    change(&filter)
    request.push.audience = .filter(filter)
    request.object = Array(#"{"audience":{\#(audience)}}"#.utf8)
    return request
  }

  // MARK: The audience

  @Test func `Alias and tags that came, went or never were`() async throws {
    let world = try await TestWorld()
    let (anna, late, other) = (
      try await world.register(), try await world.register(), try await world.register()
    )
    _ = await world.change(DeviceChange(tags: .set(["red"]), alias: .set("anna")), of: anna)
    _ = await world.change(DeviceChange(tags: .set(["red", "blue"])), of: other)
    world.clock.advance(seconds: 10)
    _ = await world.change(DeviceChange(tags: .edit(add: [], remove: ["red"])), of: other)
    world.clock.advance(seconds: 10)
    let toAlias = try await world.accept(Self.request(#""alias":["anna"]"#) { $0.aliases = ["anna"] }).get()
      .id
    let toTag = try await world.accept(Self.request(#""tag":["red"]"#) { $0.tags = ["red"] }).get().id
    let without = try await world.accept(Self.request(#""tag_not":["blue"]"#) { $0.tagsNot = ["blue"] }).get()
      .id
    let named = try await world.accept(
      Self.request(#""registration_id":["\#(anna.id.text)"]"#) { $0.registrationIDs = [anna.id.text] }
    ).get().id
    world.clock.advance(seconds: 10)
    _ = await world.change(DeviceChange(tags: .set(["red"]), alias: .set("anna")), of: late)

    func first(_ id: MessageID, _ device: TestDevice) async throws -> WhyStep? {
      let diagnosis = try await Self.why(id, device, in: world)
      #expect(diagnosis.firstFailure?.point == .audience && diagnosis.conclusion == .failed)
      return diagnosis.firstFailure
    }
    let now = world.clock.now()
    #expect(
      try await first(toAlias, late) == WhyStep(.audience, .failed, at: now, .aliasBoundLater, detail: "anna")
    )
    #expect(try await first(toAlias, other)?.cause == .aliasNotBound)
    let seconds = Timestamp(milliseconds: now.seconds * 1000)
    #expect(
      try await first(toTag, late) == WhyStep(.audience, .failed, at: seconds, .tagBoundLater, detail: "red"))
    #expect(
      try await first(toTag, other)
        == WhyStep(.audience, .failed, at: seconds.adding(seconds: -20), .tagRemoved, detail: "red"))
    #expect(try await first(without, other)?.cause == .tagExcluded)
    #expect(try await first(named, late)?.cause == .notNamed)
    #expect(try await Self.why(toTag, anna, in: world).conclusion == .waiting)

    // Ten devices have the alias: the eleventh could not be bound.
    for _ in 0..<8 {
      _ = await world.change(DeviceChange(alias: .set("anna")), of: try await world.register())
    }
    #expect(isFailed(await world.change(DeviceChange(alias: .set("anna")), of: other), .aliasFull))
    #expect(try await first(toAlias, other)?.cause == .aliasFull)
  }

  @Test func `A device that came later, and one that never was`() async throws {
    let world = try await TestWorld()
    _ = try await world.register()
    let id = try await world.push()
    world.clock.advance(seconds: 1)
    let late = try await world.register()
    #expect(try await Self.why(id, late, in: world).firstFailure?.cause == .registeredLater)
    #expect(try await Self.why(id, .unknown, in: world).firstFailure?.cause == .registrationUnknown)
  }

  @Test func `Of a push whose object was not kept nobody knows whom it was for`() async throws {
    let world = try await TestWorld()
    let (device, named) = (try await world.register(), try await world.register())
    let id = try await world.push(to: [named])
    let diagnosis = try await Self.why(id, device, in: world)
    #expect(diagnosis.step(.audience) == WhyStep(.audience, .unknown, .audienceUnknown))
    #expect(diagnosis.conclusion == .unknown)
  }

  // MARK: The registration

  @Test func `A reinstall is remembered, found, and forgotten in the end`() async throws {
    let world = try await TestWorld()
    let old = try await world.register(fingerprint: [7])
    let id = try await world.push(to: [old])
    world.clock.advance(seconds: 5)
    let new = try await world.register(fingerprint: [7])
    let search = try await Self.search(old.id.text, in: world)
    let gone = try #require(search.gone)
    #expect(search.kind == .registrationID && search.numbers.isEmpty && gone.successor == new.id)
    let diagnosis = try await Self.why(id, .gone(gone), in: world)
    #expect(diagnosis.conclusion == .failed)
    #expect(
      diagnosis.firstFailure
        == WhyStep(.device, .failed, at: world.clock.now(), .registrationReplaced, detail: new.id.text))
    #expect(diagnosis.step(.connection)?.cause == .registrationReplaced)

    world.clock.advance(seconds: world.options.retention + 1)
    for _ in 0..<130 { try await world.tick() }
    #expect(try await Self.search(old.id.text, in: world).kind == nil)
  }

  // MARK: Our connection

  @Test func `Offline, and how the connection ended, also after a restart`() async throws {
    let world = try await TestWorld()
    let device = try await world.register()
    world.clock.advance(seconds: 700)
    let place = world.login(device)
    world.clock.advance(seconds: 700)
    world.app.directory.disconnect(device.number, from: place, at: world.clock.seconds, end: .heartbeatLost)
    let since = Timestamp(milliseconds: Int64(world.clock.seconds) * 1000)
    let id = try await world.push(to: [device], timeToLive: 60)
    let step = WhyStep(.connection, .waiting, at: since, .offlineHeartbeatLost)
    #expect(try await Self.why(id, device, in: world).step(.connection) == step)
    try await world.restart(isOrderly: true)
    #expect(try await Self.why(id, device, in: world).step(.connection) == step)

    world.clock.advance(seconds: 61)
    let over = try await Self.why(id, device, in: world)
    #expect(over.conclusion == .failed && over.firstFailure?.cause == .offlineHeartbeatLost)
    #expect(over.step(.lifetime)?.cause == .expired)
    _ = world.login(device)
    #expect(try await Self.why(id, device, in: world).firstFailure?.cause == .cameBackLate)
  }

  @Test func `A login that replaces another is noted as the end of that`() async throws {
    let world = try await TestWorld()
    let device = try await world.register()
    _ = world.login(device)
    #expect(world.app.directory.status(device.number)?.lastEnd == .unknown)
    _ = world.login(device)
    let status = try #require(world.app.directory.status(device.number))
    #expect(status.lastEnd == .replacedByLogin && status.isOnline)
  }

  @Test func `Acknowledged, shown and tapped, with their times`() async throws {
    let world = try await TestWorld()
    let device = try await world.register()
    _ = world.login(device)
    let id = try await world.push(to: [device])
    #expect(try await Self.why(id, device, in: world).step(.connection)?.cause == .notAcknowledged)
    world.clock.advance(seconds: 2)
    world.router.deliveries.acknowledge([id], by: device.number, in: world.app)
    let taken = world.clock.now()
    var diagnosis = try await Self.why(id, device, in: world)
    #expect(diagnosis.conclusion == .arrived && diagnosis.firstFailure == nil)
    #expect(diagnosis.step(.connection)?.at == taken)
    world.clock.advance(seconds: 2)
    world.router.deliveries.note([(id, false)], by: device.number, in: world.app)
    diagnosis = try await Self.why(id, device, in: world)
    // A message is shown by the app alone; that it was is known all the same.
    #expect(diagnosis.conclusion == .arrived)
  }

  @Test func `Recalled, replaced, crowded out, only for who is online`() async throws {
    var options = RouterOptions()
    options.pending.perDevice = 2
    let world = try await TestWorld(options: options)
    let device = try await world.register()
    let recalled = try await world.push(to: [device])
    _ = await world.recall(recalled)
    #expect(try await Self.why(recalled, device, in: world).firstFailure?.cause == .recalled)
    let old = try await world.push(to: [device])
    let newer = try await world.push(to: [device], overrides: old)
    #expect(
      try await Self.why(old, device, in: world).firstFailure
        == WhyStep(.sender, .failed, at: world.clock.now(), .overridden, detail: newer.text))
    _ = try await world.push(to: [device])
    _ = try await world.push(to: [device])
    #expect(try await Self.why(newer, device, in: world).firstFailure?.cause == .queueFull)
    let brief = try await world.push(to: [device], timeToLive: 0)
    #expect(try await Self.why(brief, device, in: world).firstFailure?.cause == .onlineOnly)
  }

  @Test func `A paced push says when it is a device's turn`() async throws {
    let world = try await TestWorld()
    let devices = try await world.registerMany(10)
    var request = AcceptRequest.test()
    request.push.options.bigPushDuration = 10
    let id = try await world.accept(request).get().id
    let start = world.clock.now()
    for (place, device) in devices.enumerated() {
      let step = try await Self.why(id, device, in: world).step(.release)
      #expect(step?.at == start.adding(seconds: Int64(place) * 60))
      #expect(step?.verdict == (place == 0 ? .ok : .waiting))
    }
    world.clock.advance(seconds: 60)
    #expect(try await Self.why(id, devices[1], in: world).step(.release)?.verdict == .ok)
  }

  // MARK: Apple

  @Test func `Tokens that came, were taken or went`() async throws {
    let world = try await TestWorld()
    let phone = try await world.register(token: [1, 2, 3], platform: .ios)
    func history() async throws -> TokenHistory {
      let (app, number) = (world.app.id, phone.number)
      let found = try await world.store.look { transaction throws(StorageError) in
        try transaction.tokens.all(app: app, of: number).first
      }
      return try #require(found)
    }
    let first = world.clock.now()
    #expect(try await history().since == first)
    world.clock.advance(seconds: 10)
    _ = await awaitCallback { done in
      world.router.registrations.setTokens([PushToken(.sandbox, [1, 2, 3])], of: phone.number, in: world.app)
      {
        done($0)
      }
    }
    let told = try await history()
    #expect(told.since == first && told.reportedAt == world.clock.now())
    let thief = try await world.register(platform: .ios)
    world.clock.advance(seconds: 10)
    _ = await awaitCallback { done in
      world.router.registrations.setTokens([PushToken(.sandbox, [1, 2, 3])], of: thief.number, in: world.app)
      {
        done($0)
      }
    }
    let taken = try await history()
    #expect(taken.end == .taken && taken.since == world.clock.now())
    world.router.registrations.retire(
      PushToken(.sandbox, [1, 2, 3]), of: thief.number, in: world.app, .otherApp,
      unlessReportedAfter: world.clock.now())
    try await world.barrier()
    let file = try await Self.file(thief, in: world)
    #expect(file?.tokens.map(\.end) == [.otherApp] && file?.tokens.map(\.token) == [PushToken(.none, [])])
  }

  // MARK: Looking devices up

  private static func file(_ device: TestDevice, in world: TestWorld) async throws -> DeviceFile? {
    let result = await awaitCallback { done in
      world.router.diagnostics.file(device.number, in: world.app) { done($0) }
    }
    return try result.get()
  }

  @Test func `Devices are found by ID, alias, token and tag`() async throws {
    let world = try await TestWorld()
    world.router.add(SilentAPNs())
    let token = [UInt8](repeating: 0xab, count: 32)
    let phone = try await world.register(token: token, platform: .ios)
    let others = try await world.registerMany(5)
    for device in others { _ = await world.change(DeviceChange(tags: .set(["red"])), of: device) }
    _ = await world.change(DeviceChange(alias: .set("anna")), of: phone)
    #expect(try await Self.search(phone.id.text, in: world).kind == .registrationID)
    let named = try await Self.search("anna", in: world)
    #expect(named.kind == .alias && named.numbers == [phone.number])
    let told = try await Self.search(String(repeating: "AB", count: 32), in: world)
    #expect(told.kind == .token && told.numbers == [phone.number])
    let page = try await Self.search("red", in: world, limit: 2)
    #expect(page.kind == .tag && page.count == 5 && page.numbers == others.prefix(2).map(\.number))
    let strange = String(repeating: "cd", count: 32)
    for nothing in ["nobody", strange, RegistrationID(high: 1, low: 1).text] {
      #expect(try await Self.search(nothing, in: world).kind == nil)
    }
  }

  @Test func `A device's file holds what became of its latest pushes`() async throws {
    let world = try await TestWorld()
    let (device, other) = (try await world.register(), try await world.register())
    _ = await world.change(DeviceChange(tags: .set(["red", "blue"]), alias: .set("anna")), of: device)
    _ = await world.change(DeviceChange(tags: .edit(add: [], remove: ["blue"])), of: device)
    _ = try await world.push(to: [other])
    let own = try await world.push(to: [device])
    let all = try await world.push()
    world.router.deliveries.acknowledge([own], by: device.number, in: world.app)
    try await world.tick()
    let file = try #require(try await Self.file(device, in: world))
    #expect(file.pushes.map(\.id) == [all, own])
    #expect(file.pushes.map(\.diagnosis.conclusion) == [.waiting, .arrived])
    let moment = Timestamp(milliseconds: world.clock.now().seconds * 1000)
    #expect(file.tags.map(\.name) == ["red"] && file.tags.map(\.at) == [moment])
    #expect(file.lostTags.map(\.name) == ["blue"] && file.row.alias == "anna")
    #expect(file.status.waiting == 1 && !file.isTestDevice)
  }
}
