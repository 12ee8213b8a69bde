import BorealisBase
import Model
import PushTesting
import Storage
import Testing

@testable import Core

/// Ways around the brakes, and who may change them.
@Suite(.timeLimit(.minutes(2))) struct BrakeTests {
  private static let day: Int64 = 86_400

  // MARK: Acceptance

  /// Senders, whether app servers are included, and whether a push to three devices goes above two.
  @Test(arguments: [
    (PushSender.api, false, true), (.api, true, false), (.person(PersonID(2)), false, false),
    (.person(PersonID(2)), true, false), (.group(1), false, true), (.group(1), true, false),
    (.schedule(1), false, true), (.schedule(1), true, false),
  ])
  func `A push to too many devices is refused whoever makes it`(
    sender: PushSender, includesServers: Bool, goes: Bool
  ) async throws {
    let world = try await ApprovalWorld(includesServers: includesServers)
    var request = AcceptRequest.test()
    request = AcceptRequest(request.push, from: sender)
    let result = await world.base.accept(request)
    #expect(((try? result.get()) != nil) == goes)
    if !goes {
      #expect(result == .failure(.volumeRefused))
      guard case .failure(let error) = result else { return }
      #expect(error.message.contains("3 devices") && error.message.contains("more than 2"))
    }
    #expect(world.deliveries == (goes ? [1, 1, 1] : [0, 0, 0]))
    // Up to the number everything goes.
    let few = AcceptRequest.test(to: Array(world.devices.prefix(2)))
    let small = AcceptRequest(few.push, from: sender)
    #expect((try? await world.base.accept(small).get()) != nil)
  }

  @Test func `A repeated request gets its first answer`() async throws {
    let world = try await ApprovalWorld(above: 0, includesServers: false)
    let first = try await world.base.push(cid: "c")
    try await world.setBrakes(BrakesRow(approvalAbove: 1, includesServers: true))
    #expect(try await world.base.push(cid: "c") == first)
    #expect(world.deliveries == [1, 1, 1])
  }

  @Test func `Validating says the same of a server's push`() async throws {
    let world = try await ApprovalWorld(includesServers: true)
    func validate(_ request: AcceptRequest) async -> Result<AcceptedPush, APIError> {
      await awaitCallback { done in
        world.router.acceptance.validate(request, for: world.app) { done($0) }
      }
    }
    #expect(await validate(.test()) == .failure(.volumeRefused))
    let person = AcceptRequest(AcceptRequest.test().push, from: .person(world.sender))
    #expect(try await validate(person).get().targets == 3)
  }

  // MARK: Schedules

  @Test func `A scheduled push is approved in advance, for all its times`() async throws {
    let world = try await ApprovalWorld()
    let id = try await world.plan(in: 100, days: 2)
    #expect(try await world.state(id) == .waiting)
    #expect(try await world.approve(id, by: world.second) == nil)
    for expected in 1...3 {
      world.base.clock.advance(seconds: expected == 1 ? 100 : Self.day)
      try await world.tick()
      #expect(world.deliveries.allSatisfy { $0 >= 1 })
      #expect(try await world.sent(id) == expected)
    }
  }

  @Test func `A scheduled push that grows waits when its time comes`() async throws {
    let world = try await ApprovalWorld()
    let id = try await world.plan(in: 100, devices: 2)
    #expect(try await world.state(id) == ScheduleApproval.State.none)
    world.base.clock.advance(seconds: 100)
    #expect(try await world.tick() == [.held] && world.deliveries == [0, 0, 0])
    // Nobody gets it going by turning it on.
    let update = ScheduleUpdate(isEnabled: true)
    let resumed = await awaitCallback { done in
      world.router.schedules.change(id, update, in: world.app) { done($0) }
    }
    #expect((try? resumed.get()) == nil)
    #expect(try await world.tick().isEmpty)
    world.base.clock.advance(seconds: 7 * 3600)
    #expect(try await world.approve(id, by: world.second) == nil)
    #expect(try await world.tick().count == 1 && world.deliveries == [1, 1, 1])
  }

  @Test func `Turning on what waits is refused before its time, too`() async throws {
    let world = try await ApprovalWorld()
    let id = try await world.plan(in: 100)
    let update = ScheduleUpdate(isEnabled: true)
    let resumed = await awaitCallback { done in
      world.router.schedules.change(id, update, in: world.app) { done($0) }
    }
    #expect((try? resumed.get()) == nil)
    world.base.clock.advance(seconds: 100)
    #expect(try await world.tick().isEmpty && world.deliveries == [0, 0, 0])
  }

  @Test func `A change of push or times takes the approval back`() async throws {
    let world = try await ApprovalWorld()
    let few = world.devices.prefix(2).map { "\"\($0.id.text)\"" }.joined(separator: ",")
    let small =
      #"{"platform":"all","audience":{"registration_id":[\#(few)]},"message":{"msg_content":"x"}}"#
    let later = ScheduleTrigger.single(world.router.zone.local(world.base.clock.now().adding(seconds: 200)))
    for update in [
      ScheduleUpdate(push: try ApprovalWorld.push(ApprovalWorld.everybody)), ScheduleUpdate(trigger: later),
    ] {
      let id = try await world.plan(in: 100)
      #expect(try await world.approve(id, by: world.second) == nil)
      // Whoever changes it says that it is for few.
      try await world.change(id, update, devices: 2)
      #expect(try await world.state(id) == ScheduleApproval.State.none)
      world.base.clock.advance(seconds: 200)
      #expect(try await world.tick().allSatisfy { $0 == .held } && world.deliveries == [0, 0, 0])
      world.base.clock.advance(seconds: -200)
    }
    // Pausing is not a change.
    let id = try await world.plan(in: 100, small)
    #expect(try await world.approve(id, by: world.second) == nil)
    for isEnabled in [false, true] {
      _ = try await awaitCallback { done in
        world.router.schedules.change(id, ScheduleUpdate(isEnabled: isEnabled), in: world.app) { done($0) }
      }.get()
    }
    #expect(try await world.state(id) == .approved)
  }

  @Test func `A change of the segment takes the approval back`() async throws {
    let world = try await ApprovalWorld()
    let condition = try DeviceCondition.parse(parseJSON(Array(#"{"platform":"android"}"#.utf8)))
    let segment = try await awaitCallback { done in
      world.router.segments.add("s", condition, to: world.app) { done($0) }
    }.get()
    let push =
      #"{"platform":"all","audience":{"segment":["\#(segment.id)"]},"message":{"msg_content":"x"}}"#
    let wider = try DeviceCondition.parse(
      parseJSON(Array(#"{"any":[{"platform":"android"},{"tag":"x"}]}"#.utf8)))
    let id = try await world.plan(in: 100, push)
    let seen = try await world.mark(id)
    _ = try await awaitCallback { done in
      world.router.segments.change(segment.id, to: "wide", wider, of: world.app) { done($0) }
    }.get()
    #expect(try await world.approve(id, by: world.second, seen: seen) == .changed)
    #expect(try await world.approve(id, by: world.second) == nil)
    _ = try await awaitCallback { done in
      world.router.segments.change(segment.id, to: "other", condition, of: world.app) { done($0) }
    }.get()
    #expect(try await world.state(id) == ScheduleApproval.State.none)
    world.base.clock.advance(seconds: 100)
    #expect(try await world.tick() == [.held] && world.deliveries == [0, 0, 0])
  }

  @Test func `A schedule of a server is the server's`() async throws {
    let world = try await ApprovalWorld(includesServers: true)
    let local = world.router.zone.local(world.base.clock.now().adding(seconds: 10))
    let schedule = try await ScheduleTests.makeSchedule(.single(local), in: world.base)
    world.base.clock.advance(seconds: 10)
    #expect(try await world.tick() == [.failed(.volumeRefused)] && world.deliveries == [0, 0, 0])
    #expect(try await world.state(schedule.id) == ScheduleApproval.State.none)
  }

  // MARK: The setting

  private static func set(
    _ above: Int, _ servers: Bool = false, by person: PersonID, in world: ApprovalWorld
  ) async -> String {
    let audit = world.entry("", by: person)
    let result = await world.router.apps.setApproval(
      above: above, ofServers: servers, of: world.app, by: person, approvals: world.router.approvals
    ) { action in
      var entry = audit
      entry.action = action
      return entry
    }
    switch result {
    case .success(let change): return "\(change)"
    case .failure(let failure): return "\(failure)"
    }
  }

  /// (the setting, who changes it, what it is to be, what comes of it)
  @Test(arguments: [
    (10, true, Role.sender, 5, true, "forbidden"), (10, true, .viewer, 5, true, "forbidden"),
    (10, true, .admin, 5, true, "changed"), (10, true, .owner, 5, true, "changed"),
    (0, false, .admin, 10, true, "changed"), (10, false, .admin, 10, true, "changed"),
    (10, true, .admin, 10, true, "same"), (10, true, .admin, 11, true, "asked"),
    (10, true, .owner, 0, false, "asked"), (10, true, .admin, 5, false, "asked"),
    (10, false, .owner, 1_000_000, false, "asked"),
  ])
  func `Looser brakes need a second admin`(
    above: Int, servers: Bool, role: Role, newAbove: Int, newServers: Bool, outcome: String
  ) async throws {
    let world = try await ApprovalWorld(above: above, includesServers: servers)
    let person = try #require(world.people[role])
    #expect(await Self.set(newAbove, newServers, by: person, in: world) == outcome)
    let holds = outcome == "changed"
    #expect(world.app.brakes.approvalAbove == (holds ? newAbove : above))
    #expect(world.app.brakes.includesServers == (holds ? newServers : servers))
    let asked = try await world.router.apps.askedBrakes(of: world.app).get()
    #expect((asked != nil) == (outcome == "asked"))
  }

  @Test func `Looser brakes hold once another admin has approved them`() async throws {
    let world = try await ApprovalWorld(above: 10)
    let (admin, owner) = (try #require(world.people[.admin]), try #require(world.people[.owner]))
    func approve(_ seen: AskedBrakesRow, by person: PersonID) async -> ApprovalFailure? {
      let result = await world.router.apps.approveBrakes(
        seen, of: world.app, by: person, noting: world.entry("brakes.approve", by: person))
      if case .failure(let failure) = result { return failure }
      return nil
    }
    #expect(await Self.set(20, by: admin, in: world) == "asked")
    let first = try #require(try await world.router.apps.askedBrakes(of: world.app).get()).asked
    #expect(await approve(first, by: admin) == .own)
    #expect(await approve(first, by: world.second) == .forbidden)
    #expect(await Self.set(0, by: admin, in: world) == "asked")
    #expect(await approve(first, by: owner) == .changed, "another number than was seen")
    let second = try #require(try await world.router.apps.askedBrakes(of: world.app).get()).asked
    world.base.clock.advance(seconds: Self.day)
    #expect(await approve(second, by: owner) == .over)
    #expect(await Self.set(20, by: admin, in: world) == "asked")
    let third = try #require(try await world.router.apps.askedBrakes(of: world.app).get()).asked
    #expect(await approve(third, by: owner) == nil)
    #expect(world.app.brakes.approvalAbove == 20)
    #expect(await approve(third, by: owner) == .over)
    try await world.base.restart(isOrderly: false)
    #expect(world.app.brakes.approvalAbove == 20)
    #expect(try await world.actions() == ["brakes.ask", "brakes.ask", "brakes.ask", "brakes.approve"])
  }

  @Test func `A tighter setting forgets the looser one`() async throws {
    let world = try await ApprovalWorld(above: 10)
    let admin = try #require(world.people[.admin])
    #expect(await Self.set(20, by: admin, in: world) == "asked")
    #expect(await Self.set(5, by: admin, in: world) == "changed")
    #expect(try await world.router.apps.askedBrakes(of: world.app).get() == nil)
  }

  @Test func `Nobody turns approval on who is alone`() async throws {
    let world = try await ApprovalWorld(above: 0)
    let (account, owner) = (world.app.account, try #require(world.people[.owner]))
    let others = [world.sender, world.second, world.people[.admin]].compactMap { $0 }
    try await world.base.store.change { transaction throws(StorageError) in
      for person in others { try transaction.members.setRole(of: person, in: account, .viewer) }
    }
    #expect(await Self.set(5, by: owner, in: world) == "alone")
    #expect(world.app.brakes.approvalAbove == 0)
  }
}

extension ApprovalWorld {
  /// Changes a schedule as its author.
  func change(_ id: String, _ update: ScheduleUpdate, devices count: Int) async throws {
    let audit = entry("schedule.change", by: sender)
    let author = Schedules.Author(sender, devices: count) { action in
      var entry = audit
      entry.action = action
      return entry
    }
    _ = try await awaitCallback { done in
      router.schedules.change(id, update, in: app, by: author) { done($0) }
    }.get()
  }

  /// How many pushes a schedule has made.
  func sent(_ id: String) async throws -> Int {
    guard let row = try await row(id)?.row.id else { return 0 }
    return try await base.store.look { transaction throws(StorageError) in
      try transaction.schedules.runs(of: row).count { $0.code == 0 }
    }
  }
}
