import BorealisBase
import Model
import PushTesting
import Storage
import Testing

@testable import Core

/// An app with three devices whose pushes to more than two need approval, and an account with a person of
/// each role and a second sender.
final class ApprovalWorld {
  static let limit = 2

  let base: TestWorld
  let devices: [TestDevice]
  private(set) var people: [Role: PersonID] = [:]
  /// The second sender.
  private(set) var second = PersonID(0)
  var router: Router { base.router }
  var app: App { base.app }
  var sender: PersonID { people[.sender] ?? PersonID(0) }

  init(
    undo seconds: Int64 = 0, above limit: Int = ApprovalWorld.limit, includesServers: Bool = false,
    mailSite: String? = nil
  ) async throws {
    var options = RouterOptions()
    options.mailSite = mailSite
    base = try await TestWorld(options: options)
    devices = try await base.registerMany(3)
    let account = base.app.account
    let roles: [(Role, String)] = [
      (.viewer, "vera"), (.sender, "sam"), (.admin, "ada"), (.owner, "olga"), (.sender, "sue"),
    ]
    let ids = try await base.store.change { transaction throws(StorageError) in
      var ids: [PersonID] = []
      for (role, name) in roles {
        let person = try transaction.people.add(
          NewPerson(
            email: "\(name)@example.com", name: name, password: "x", language: name == "sue" ? "zh" : "en",
            isOperator: false), at: Timestamp(milliseconds: 0))
        try transaction.members.setRole(of: person, in: account, role)
        ids.append(person)
      }
      return ids
    }
    for (index, id) in ids.enumerated() {
      if index < 4 { people[roles[index].0] = id } else { second = id }
    }
    try await setBrakes(
      BrakesRow(approvalAbove: limit, includesServers: includesServers, undoSeconds: seconds))
  }

  /// Sets the brakes as they are, whoever may.
  func setBrakes(_ brakes: BrakesRow) async throws {
    let (id, key) = (app.id, app.key)
    let row = try await base.store.change { transaction throws(StorageError) in
      _ = try transaction.apps.setBrakes(app: id, brakes)
      return try transaction.apps.find(key: key)
    }
    if let row { router.apps.learn([row]) }
  }

  // MARK: Sending

  static let everybody = #"{"platform":"all","audience":"all","message":{"msg_content":"x"}}"#

  static func push(_ text: String = everybody) throws -> ScheduledPush {
    try ScheduledPush(stored: Array(text.utf8), rules: PushRules())
  }

  func entry(_ action: String, by person: PersonID) -> AuditRow {
    AuditRow(
      at: base.clock.now(), account: app.account, app: app.id, person: person, who: "somebody",
      action: action, target: "", address: "")
  }

  /// Sends a push by hand; returns its name.
  @discardableResult
  func send(
    cid: String = "\(SystemRandom.next())", by person: PersonID? = nil, devices count: Int = 3,
    _ push: String = everybody
  ) async throws -> String {
    let (author, uuid) = (person ?? sender, "uuid-\(SystemRandom.next())")
    let sent = SentPush(
      push: try Self.push(push), cid: cid, name: "n", author: author, devices: count)
    let audit = entry("", by: author)
    let result = await awaitCallback { done in
      router.approvals.hold(
        sent, named: uuid, in: app,
        noting: { action in
          var entry = audit
          entry.action = action
          return entry
        }, reply: { done($0) })
    }
    guard case .waits(let schedule) = try result.get() else { return "sent" }
    return schedule.id
  }

  /// Schedules a push in some seconds; returns its name.
  func plan(
    in seconds: Int64, days: Int64? = nil, devices count: Int = 3, _ push: String = everybody
  ) async throws -> String {
    let now = base.clock.now()
    let zone = router.zone
    var trigger = ScheduleTrigger.single(zone.local(now.adding(seconds: seconds)))
    if let days {
      let first = zone.local(now.adding(seconds: seconds))
      trigger = .periodical(
        SchedulePeriod(
          start: zone.local(now), end: zone.local(now.adding(seconds: seconds + days * 86_400)),
          secondOfDay: Int(first.count % 86_400), days: .day, frequency: 1))
    }
    let uuid = "uuid-\(SystemRandom.next())"
    let request = ScheduleRequest(cid: nil, name: "n", trigger: trigger, push: try Self.push(push))
    let audit = entry("", by: sender)
    let author = Schedules.Author(sender, devices: count) { action in
      var entry = audit
      (entry.action, entry.target) = (action, uuid)
      return entry
    }
    return try await awaitCallback { done in
      router.schedules.create(request, named: uuid, in: app, by: author) { done($0) }
    }.get().id
  }

  // MARK: Deciding

  func approve(
    _ id: String, by person: PersonID, seen mark: String? = nil
  ) async throws -> ApprovalFailure? {
    let seen = if let mark { mark } else { try await self.mark(id) }
    let audit = entry("push.approve", by: person)
    let result = await awaitCallback { done in
      router.approvals.approve(id, seen: seen, by: person, in: app, noting: audit) { done($0) }
    }
    if case .failure(let failure) = result { return failure }
    return nil
  }

  /// The mark of what the page of a push shows.
  func mark(_ id: String) async throws -> String {
    let found = await awaitCallback { done in router.approvals.find(id, in: app) { done($0) } }
    return try found.get().mark
  }

  func stop(_ id: String, by person: PersonID) async -> ApprovalFailure? {
    let audit = entry("", by: person)
    let result = await awaitCallback { done in
      router.approvals.stop(
        id, by: person, in: app,
        noting: { action in
          var entry = audit
          entry.action = action
          return entry
        }, reply: { done($0) })
    }
    if case .failure(let failure) = result { return failure }
    return nil
  }

  // MARK: Time

  /// Fires what is due and ends what has waited for too long, as once a second.
  @discardableResult
  func tick() async throws -> [FiringEnd] {
    await awaitCallback { done in router.approvals.expire { done(()) } }
    var ends: [FiringEnd] = []
    for due in try await ScheduleTests.due(in: base) {
      let request = Result { () throws(APIError) in try due.schedule.request(by: PushRules()) }
      ends.append(await awaitCallback { done in router.acceptance.fire(due, request) { done($0) } })
    }
    return ends
  }

  // MARK: Looking

  func row(_ id: String) async throws -> Schedule? {
    let app = app.id
    return try await base.store.look { transaction throws(StorageError) in
      try transaction.schedules.any(app: app, uuid: id)
    }.flatMap { Schedule($0) }
  }

  func state(_ id: String) async throws -> ScheduleApproval.State? { try await row(id)?.approval.state }

  /// How many pushes wait for each device.
  var deliveries: [Int] { devices.map { base.pending($0).count } }

  /// The actions of the account's audit log, the oldest first.
  func actions() async throws -> [String] {
    let account = app.account
    return try await base.store.look { transaction throws(StorageError) in
      try transaction.audit.entries(.account(account), before: nil, limit: 100).map { $0.entry.action }
        .reversed()
    }
  }
}
