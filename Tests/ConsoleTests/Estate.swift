import API
import BorealisBase
import BorealisCrypto
import Core
import HTTP
import Model
import PushTesting
import Storage
import Testing

@testable import Console

/// An account with one of everything that a page's path can name.
struct Estate {
  let world: ConsoleWorld
  let account: AccountID
  let app: App
  let device: RegistrationID
  let owner: Browser
  let person: PersonID
  let session: Int64
  let push: String
  let group: AppKey
  let credential: CredentialID
  let batch: Int64
  let invitation: Int64
  /// Its API key.
  let key: Int64
  /// A push to its device that goes later.
  let schedule: String
  /// A push of somebody else that waits for approval.
  let held: String
  let segment: Int64
  let template: Int64
  let abTest: Int64
  /// The secret of the invitation's link.
  let token = WebToken.make()

  /// The title of its push.
  static let title = "T&lt;1&gt;"

  init(_ world: ConsoleWorld, account: AccountID, owner: Browser, email: String) async throws {
    (self.world, self.account, self.owner) = (world, account, owner)
    app = try await world.app(of: account)
    device = try await world.device(in: app)
    _ = await owner.open("/console/")
    push = try await ConsoleTests.push(owner, app, to: device)
    group = .random()
    (schedule, held) = (Gateway.uuid(), Gateway.uuid())
    let (group, token, app, row) = (group, token, app, Self.scheduleRow(schedule, in: app, to: device))
    var waiting = Self.scheduleRow(held, in: app, to: device)
    waiting.isEnabled = false
    waiting.approval = ScheduleApproval(author: PersonID(9999), isSend: true, state: .waiting)
    let rest = try await world.store.change { [waiting] transaction throws(StorageError) in
      let now = ManualClock().now()
      let person = try transaction.people.find(email: email)?.id ?? PersonID(0)
      _ = try transaction.appGroups.create(
        key: group, name: "g", secretHash: SHA256.digest([1]), account: account, at: now)
      try transaction.schedules.insert(row)
      try transaction.schedules.insert(waiting)
      _ = try transaction.apps.setAskedBrakes(
        app: app.id,
        AskedBrakesRow(
          approvalAbove: 9, includesServers: false, person: PersonID(9999),
          at: SystemTime().now()))
      let credential = try transaction.credentials.add(
        app: app.id,
        NewCredential(
          channel: .apns, kind: .certificate, service: APNsEnvironment.sandbox.service,
          subject: "com.example", fingerprint: SHA256.digest([2]), sealed: [1]), at: now)
      // Not due yet, so that nothing is sent while a test looks.
      let later = now.adding(seconds: 3600)
      try transaction.callbacks.insertBatch(
        app: app.id, to: nil, events: 1, body: [1], at: later,
        until: later.adding(seconds: CallbackEvent.lifetime))
      try transaction.invitations.add(
        tokenHash: WebToken.hash(token), to: account, as: .viewer, email: "guest@example.com", by: person,
        at: now, expiresAt: now.adding(seconds: 1000))
      let key = NewAPIKey(
        APIKeyGrant(name: "estate key", rights: .all), secretHash: SHA256.digest([3]), secret: "brlk")
      let segment = try transaction.segments.add(
        app: app.id, name: "T<1>", condition: Array(#"{"tag":"a"}"#.utf8), limit: 10, at: now)
      return (
        person, credential,
        try transaction.callbacks.batches(app: app.id, state: .pending, before: .max, limit: 1).first,
        try transaction.invitations.all(to: account, at: now).first,
        try transaction.consoleSessions.all(of: person).first,
        try transaction.apiKeys.add(key, to: app.id, limit: 9, at: now), segment
      )
    }
    (person, credential) = (rest.0, rest.1)
    batch = try #require(rest.2).id
    invitation = try #require(rest.3).id
    session = try #require(rest.4).id
    key = try #require(rest.5)
    guard case .stored(let segment) = rest.6 else { throw StorageError(.other, "no segment") }
    self.segment = segment.id
    let (router, texts) = (world.router, try PushTemplate.parse(JSONObject.said("T<1> {name}")))
    template = try await awaitCallback { router.templates.add("T<1>", texts, to: app, reply: $0) }.get().id
    let design = try ABTestDesign.parse(JSONObject.compared("T<1>"), rules: PushRules())
    abTest = try await awaitCallback { router.abTests.add("T<1>", design, to: app, reply: $0) }.get().id
  }

  private static func scheduleRow(_ uuid: String, in app: App, to device: RegistrationID) -> ScheduleRow {
    let now = ManualClock().now()
    let local = LocalTime(count: now.seconds + 86_400)
    let time = ScheduleRow.Occurrence(local: local, at: now.adding(seconds: 86_400))
    let push =
      #"{"platform":"all","audience":{"registration_id":["\#(device.text)"]},"notification":{"alert":"T<1>"}}"#
    return ScheduleRow(
      app: app.id, uuid: uuid, cid: nil, name: "planned", trigger: ScheduleTrigger.single(local).stored,
      push: Array(push.utf8), createdAt: now, next: time, last: time)
  }

  /// An account of its own with an owner who is no operator.
  static func make(_ world: ConsoleWorld, _ name: String) async throws -> Estate {
    let account = try await world.account(name)
    let owner = try await world.member(.owner, of: account, name: name)
    return try await Estate(world, account: account, owner: owner, email: "\(name)@example.com")
  }

  /// A page's path with what is here in the place of all names, but for the account and the app of `place`.
  func path(of page: Page, in place: Estate? = nil) -> String {
    let place = place ?? self
    let path = page.pattern.split(separator: "/").map { segment in
      switch segment {
      case "{app}": place.app.key.text
      case "{account}": String(place.account.rawValue)
      case "{msg_id}": push
      case "{schedule_id}": schedule
      case "{held_id}": held
      case "{segment_id}": String(self.segment)
      case "{template_id}": String(template)
      case "{abtest_id}": String(abTest)
      case "{rid}": device.text
      case "{person}": String(person.rawValue)
      case "{session}": String(session)
      case "{group}": group.text
      case "{token}": token
      case "{version}": "0"
      case "{name}": "console.css"
      case "{folder}": "operations"
      case "{page}": page.pattern.contains("{folder}") ? "settings" : "protocol"
      case "{operation}": "push"
      case "{channel}": "apns"
      case "{form}": "key"
      case "{id}" where page.pattern.contains("/settings/callbacks/"): String(batch)
      case "{id}" where page.pattern.contains("/settings/keys/"): String(key)
      case "{id}" where page.pattern.contains("/{channel}/"): String(credential.rawValue)
      case "{id}" where page.pattern.contains("/invitations/"): String(invitation)
      case "{id}" where page.pattern.contains("/operator/accounts/"): String(account.rawValue)
      case "{id}" where page.pattern.contains("/operator/people/"): String(person.rawValue)
      default: String(segment)
      }
    }
    for segment in path where segment.hasPrefix("{") {
      Issue.record("nobody knows \(segment) of \(page.pattern)")
    }
    // Without a name the page is empty, and there is no file.
    let isOfPerson = page.pattern.hasSuffix("/persons") || page.pattern.hasSuffix("/persons/data")
    return "/" + path.joined(separator: "/") + (isOfPerson ? "?name=\(device.text)" : "")
  }

  /// Fields with which a form gets past its first checks.
  var fields: [String: String] {
    ["role-\(person.rawValue)": "viewer", "name": "Evil", "right-push": "1", "email": "evil@example.com"]
  }

  /// Everything that others must not change.
  func facts() async throws -> [String] {
    let (app, account, person, push) = (app, account, person, push)
    let (schedule, held) = (schedule, held)
    return try await world.store.look { transaction throws(StorageError) in
      let id = MessageID(decimal: Array(push.utf8)) ?? MessageID(0)
      var batches: [CallbackBatchRow] = []
      for state in CallbackState.allCases {
        batches += try transaction.callbacks.batches(app: app.id, state: state, before: .max, limit: 9)
      }
      let sessions = try transaction.consoleSessions.all(of: person).map { "\($0.id) \($0.address)" }
      return [
        "\(String(describing: try transaction.apps.find(key: app.key)))",
        "\(String(describing: try transaction.pushes.find(id: id)))",
        "\(String(describing: try transaction.schedules.find(app: app.id, uuid: schedule)))",
        "\(String(describing: try transaction.schedules.any(app: app.id, uuid: held)))",
        "\(String(describing: try transaction.apps.askedBrakes(app: app.id)))",
        "\(try transaction.appGroups.all().filter { $0.account == account })",
        "\(try transaction.credentials.all(app: app.id))", "\(batches)",
        "\(try transaction.invitations.all(to: account, at: Timestamp(milliseconds: 0)))",
        "\(try transaction.members.all(of: account))", "\(sessions)",
        "\(try transaction.accounts.all().filter { $0.id == account })",
        "\(try transaction.people.find(person).map { "\($0)" } ?? "")",
        "\(try transaction.apps.all(in: .all).count) \(try transaction.people.all().count)",
        "\(try transaction.audit.entries(.account(account), before: nil, limit: 200).count)",
      ]
    }
  }
}

extension JSONObject {
  /// A template that says a text.
  fileprivate static func said(_ text: String) -> JSONObject {
    var object = JSONObject()
    object.set("alert", .string(text))
    return object
  }

  /// An A/B test of two texts.
  fileprivate static func compared(_ text: String) -> JSONObject {
    var object = JSONObject()
    object.set("contents", [["alert": .string(text)], ["title": .string(text), "alert": "b"]])
    object.set("share", 20)
    object.set("after", 3600)
    object.set("audience", "all")
    return object
  }
}
