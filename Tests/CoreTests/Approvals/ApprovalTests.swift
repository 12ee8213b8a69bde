import BorealisBase
import Model
import PushTesting
import Storage
import Testing

@testable import Core

/// Pushes that wait for a second person, or for the time in which they can be undone.
@Suite(.timeLimit(.minutes(2))) struct ApprovalTests {
  private static let day: Int64 = 86_400

  // MARK: The table

  /// Who does something.
  enum Actor: CaseIterable, Sendable {
    case author, second, viewer, admin, outsider

    func id(_ world: ApprovalWorld) -> PersonID {
      switch self {
      case .author: world.sender
      case .second: world.second
      case .viewer: world.people[.viewer] ?? PersonID(0)
      case .admin: world.people[.admin] ?? PersonID(0)
      case .outsider: PersonID(999)
      }
    }

    /// Whether this is a member who may push.
    var mayPush: Bool { self != .viewer && self != .outsider }
  }

  /// What something waits for when somebody does something.
  enum Start: CaseIterable, Sendable {
    case undo, waiting, approved, stopped, expired, sent

    func make(_ world: ApprovalWorld) async throws -> String {
      let id = try await world.send(devices: self == .undo || self == .sent ? 1 : 3, audience(world))
      switch self {
      case .undo, .waiting: break
      case .approved: #expect(try await world.approve(id, by: world.people[.owner] ?? PersonID(0)) == nil)
      case .stopped: #expect(await world.stop(id, by: world.sender) == nil)
      case .expired:
        world.base.clock.advance(seconds: ApprovalTests.day)
        try await world.tick()
      case .sent:
        world.base.clock.advance(seconds: 11)
        try await world.tick()
      }
      return id
    }

    private func audience(_ world: ApprovalWorld) -> String {
      guard self == .undo || self == .sent else { return ApprovalWorld.everybody }
      let one = world.devices[0].id.text
      return
        #"{"platform":"all","audience":{"registration_id":["\#(one)"]},"message":{"msg_content":"x"}}"#
    }
  }

  @Test(arguments: Start.allCases, Actor.allCases)
  func `Approving is for another person who may push, and what waits`(start: Start, actor: Actor) async throws
  {
    let world = try await ApprovalWorld(undo: 10)
    let id = try await start.make(world)
    let before = world.deliveries
    let expected: ApprovalFailure? =
      !actor.mayPush ? .forbidden : start != .waiting ? .over : actor == .author ? .own : nil
    #expect(try await world.approve(id, by: actor.id(world)) == expected)
    guard expected != nil else {
      #expect(try await world.state(id) == .approved)
      #expect(try await world.tick().count == 1)
      #expect(world.deliveries == [1, 1, 1])
      return
    }
    #expect(world.deliveries == before, "a refused approval reaches nobody")
  }

  @Test(arguments: Start.allCases, Actor.allCases)
  func `Stopping is for all who may push, and what has not gone`(start: Start, actor: Actor) async throws {
    let world = try await ApprovalWorld(undo: 10)
    let id = try await start.make(world)
    let before = world.deliveries
    let isOpen = [.undo, .waiting, .approved].contains(start)
    let expected: ApprovalFailure? = !actor.mayPush ? .forbidden : isOpen ? nil : .over
    #expect(await world.stop(id, by: actor.id(world)) == expected)
    guard expected == nil else { return }
    #expect(try await world.state(id) == .stopped)
    world.base.clock.advance(seconds: 60)
    #expect(try await world.tick().isEmpty)
    #expect(world.deliveries == before, "what was stopped reaches nobody")
    let action =
      start != .waiting ? "push.undo" : actor == .author ? "push.withdraw" : "push.reject"
    #expect(try await world.actions().last == action)
  }

  // MARK: Approval

  @Test func `What waits reaches nobody until another person approves it`() async throws {
    let world = try await ApprovalWorld()
    let id = try await world.send()
    world.base.clock.advance(seconds: 3600)
    #expect(try await world.tick().isEmpty && world.deliveries == [0, 0, 0])
    // The audience is that of the moment.
    let late = try await world.base.register()
    #expect(try await world.approve(id, by: world.second) == nil)
    guard case .fired(let push) = try await world.tick().first else {
      Issue.record("not fired")
      return
    }
    for _ in 0..<2 { #expect(try await world.tick().isEmpty) }
    #expect(world.deliveries == [1, 1, 1] && world.base.pending(late) == [push])
    #expect(try await world.actions() == ["push.ask", "push.approve", "push.send"])
    let account = world.app.account
    let sent = try await world.base.store.look { transaction throws(StorageError) in
      try transaction.audit.entries(.account(account), before: nil, limit: 1).first?.entry
    }
    #expect(sent?.person == world.sender && sent?.target == "\(push.text) (4)")
  }

  @Test func `Two approvals at the same time send once`() async throws {
    let world = try await ApprovalWorld()
    let id = try await world.send()
    let (mark, app) = (try await world.mark(id), world.app)
    let approvals = world.router.approvals
    let people = [world.second, world.people[.admin], world.people[.owner]].compactMap { $0 }
    let entries = people.map { world.entry("push.approve", by: $0) }
    let results = await withTaskGroup(of: Bool.self) { group in
      for (person, entry) in zip(people, entries) {
        group.addTask {
          let result = await awaitCallback {
            (done: @escaping @Sendable (Result<Void, ApprovalFailure>) -> Void) in
            approvals.approve(id, seen: mark, by: person, in: app, noting: entry, reply: done)
          }
          return (try? result.get()) != nil
        }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(results.count { $0 } == 1)
    for _ in 0..<3 { try await world.tick() }
    #expect(world.deliveries == [1, 1, 1])
    #expect(try await world.actions().count { $0 == "push.approve" } == 1)
  }

  /// A kill between the approval and the push loses nothing, and one after the push repeats nothing.
  @Test func `A kill between approval and push sends once`() async throws {
    let world = try await ApprovalWorld()
    let id = try await world.send()
    try await world.base.restart(isOrderly: false)
    #expect(try await world.tick().isEmpty)
    #expect(try await world.approve(id, by: world.second) == nil)
    try await world.base.restart(isOrderly: false)
    world.base.clock.advance(seconds: 3600)
    #expect(try await world.tick().count == 1)
    try await world.base.restart(isOrderly: false)
    #expect(try await world.tick().isEmpty)
    #expect(world.deliveries == [1, 1, 1])
  }

  @Test func `What nobody approves ends after 24 hours`() async throws {
    let world = try await ApprovalWorld()
    let id = try await world.send()
    world.base.clock.advance(seconds: Self.day - 1)
    try await world.tick()
    #expect(try await world.state(id) == .waiting)
    world.base.clock.advance(seconds: 1)
    // Before anybody has looked.
    #expect(try await world.approve(id, by: world.second) == .over)
    try await world.tick()
    #expect(try await world.state(id) == .expired)
    #expect(try await world.approve(id, by: world.second) == .over)
    #expect(await world.stop(id, by: world.second) == .over)
    #expect(try await world.tick().isEmpty && world.deliveries == [0, 0, 0])
    #expect(try await world.actions().last == "push.expire")
  }

  @Test func `An approval of what has changed since is refused`() async throws {
    let world = try await ApprovalWorld()
    let id = try await world.plan(in: 3600)
    let seen = try await world.mark(id)
    let other = #"{"platform":"all","audience":"all","message":{"msg_content":"other"}}"#
    let update = ScheduleUpdate(push: try ApprovalWorld.push(other))
    try await world.change(id, update, devices: 3)
    #expect(try await world.approve(id, by: world.second, seen: seen) == .changed)
    #expect(try await world.approve(id, by: world.second) == nil)
  }

  @Test func `The same form twice waits once`() async throws {
    let world = try await ApprovalWorld()
    let first = try await world.send(cid: "a")
    #expect(try await world.send(cid: "a") == first)
    _ = try await world.base.push(cid: "b")
    #expect(try await world.send(cid: "b") == "sent")
  }

  @Test func `As many pushes wait as may, and no more`() async throws {
    let world = try await ApprovalWorld()
    for _ in 0..<Approvals.most { try await world.send() }
    await #expect(throws: APIError.self) { try await world.send() }
  }

  @Test func `Those who may approve get mail, in their language`() async throws {
    let world = try await ApprovalWorld(mailSite: "https://push.example.com")
    let id = try await world.send()
    let now = world.base.clock.now()
    let mails = try await world.base.store.look { transaction throws(StorageError) in
      try transaction.mail.due(at: now, limit: 10).map(\.mail)
    }
    #expect(
      mails.map(\.recipient).sorted() == ["ada@example.com", "olga@example.com", "sue@example.com"])
    let page = "https://push.example.com/console/apps/\(world.app.key.text)/waiting/\(id)"
    #expect(mails.allSatisfy { $0.body.contains(page) && $0.body.contains("sam") })
    #expect(mails.first { $0.recipient == "sue@example.com" }?.subject.contains("等待审批") == true)
  }

  // MARK: Undo

  @Test func `A push goes by itself when nobody undoes it`() async throws {
    let world = try await ApprovalWorld(undo: 10, above: 0)
    let id = try await world.send()
    world.base.clock.advance(seconds: 9)
    #expect(try await world.tick().isEmpty)
    world.base.clock.advance(seconds: 2)
    #expect(try await world.tick().count == 1)
    #expect(world.deliveries == [1, 1, 1])
    #expect(await world.stop(id, by: world.sender) == .over)
    #expect(try await world.actions() == ["push.submit", "push.send"])
  }

  @Test func `A kill within the time to undo neither loses nor doubles`() async throws {
    let world = try await ApprovalWorld(undo: 10, above: 0)
    let undone = try await world.send()
    try await world.send()
    try await world.base.restart(isOrderly: false)
    #expect(await world.stop(undone, by: world.sender) == nil)
    try await world.base.restart(isOrderly: false, zone: FixedZone(secondsEast: 0))
    world.base.clock.advance(seconds: 3600)
    #expect(try await world.tick().count == 1)
    try await world.base.restart(isOrderly: false)
    #expect(try await world.tick().isEmpty)
    #expect(world.deliveries == [1, 1, 1])
  }

  @Test func `An audience that has grown waits for approval`() async throws {
    let world = try await ApprovalWorld(undo: 10)
    let id = try await world.send(devices: 2)
    #expect(try await world.state(id) == ScheduleApproval.State.none)
    world.base.clock.advance(seconds: 11)
    #expect(try await world.tick() == [.held])
    #expect(try await world.state(id) == .waiting && world.deliveries == [0, 0, 0])
    #expect(try await world.approve(id, by: world.sender) == .own)
    #expect(try await world.approve(id, by: world.second) == nil)
    try await world.tick()
    #expect(world.deliveries == [1, 1, 1])
    #expect(try await world.actions() == ["push.submit", "push.ask", "push.approve", "push.send"])
  }
}
