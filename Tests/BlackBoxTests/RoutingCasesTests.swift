import PushBase
import PushJSON
import Testing

/// Which way a push takes to an iPhone, by what its app does meanwhile: with a real server, real devices and a
/// simulator in Apple's place.
@Suite struct RoutingCasesTests {
  // MARK: Getui's numbered cases

  enum App: CaseIterable {
    case foreground, background, notRunning
  }

  enum Task {
    case running, stopped
  }

  /// How the user comes to the app after the push was sent.
  enum Opening {
    /// It is open.
    case none
    case icon
    /// By tapping the notification.
    case banner
  }

  struct Case: Sendable {
    let name: String
    let app: App
    let task: Task
    let opening: Opening
    /// Whether the app gets the message over its own connection.
    let p: Bool
    /// Whether the app gets the notification that Apple has brought.
    let a: Bool

    init(_ name: String, _ app: App, _ task: Task, _ opening: Opening, _ p: Bool, _ a: Bool) {
      (self.name, self.app, self.task, self.opening, self.p, self.a) = (name, app, task, opening, p, a)
    }
  }

  /// Getui's table for iOS, strategy 1, a push with a notification for Apple and a message for the app. Series C was
  /// sent from its console, series S by its API. A notification is tapped as it comes (`C3`) or later in the list of
  /// notifications (`C4`), which is the same to the app and the server.
  static let cases: [Case] = [
    //   name   app at sending  the task is  opened by   P      A
    Case("C1", .foreground, .running, .none, true, false),
    Case("C2", .background, .running, .icon, true, false),
    Case("C3", .background, .running, .banner, true, true),
    Case("C4", .background, .running, .banner, true, true),
    Case("C5", .background, .stopped, .icon, false, false),
    Case("C6", .background, .stopped, .banner, false, true),
    Case("C7", .background, .stopped, .banner, false, true),
    Case("C8", .notRunning, .running, .icon, true, false),
    Case("C9", .notRunning, .running, .banner, true, true),
    Case("C10", .notRunning, .running, .banner, true, true),
    Case("C11", .notRunning, .stopped, .icon, false, false),
    Case("C12", .notRunning, .stopped, .banner, false, true),
    Case("C13", .notRunning, .stopped, .banner, false, true),
    Case("S1", .foreground, .running, .none, true, false),
    Case("S2", .background, .running, .icon, true, false),
    Case("S3", .background, .running, .banner, true, true),
    Case("S4", .background, .running, .banner, true, true),
    Case("S5", .notRunning, .running, .icon, true, false),
    Case("S6", .notRunning, .running, .banner, true, true),
    Case("S7", .notRunning, .running, .banner, true, true),
  ]

  /// The two rules that the table follows from.
  @Test(arguments: cases) func `The table follows from two rules`(row: Case) {
    #expect(row.p == (row.app == .foreground || row.task == .running))
    #expect(row.a == (row.app != .foreground && row.opening == .banner))
  }

  @Test func `Getui's twenty cases`() throws {
    let world = try AppleWorld()
    for row in Self.cases {
      do {
        try play(row, in: world)
      } catch {
        Issue.record("\(row.name): \(error)")
      }
    }
  }

  private func play(_ row: Case, in world: AppleWorld) throws {
    let phone = try world.phone(row.name)
    try leave(phone, row.app, in: world)
    let id = try world.push(to: phone, strategy: 1)

    if row.app == .foreground {
      try phone.wait { $0["msg_id"]?.string == id }
    } else {
      let request = try world.request(for: id)
      #expect(request["token"]?.string == phone.token, "\(row.name)")
      #expect(request["accepted"] == true, "\(row.name)")
    }
    if row.task == .stopped { try world.stop(id) }
    try open(phone, row, tapping: world.requests(for: id).first)

    try settle(phone, in: world)
    let pushes = phone.pushes(id)
    #expect(pushes.count == (row.p ? 1 : 0), "\(row.name): P")
    for push in pushes {
      #expect(push["content"] == ["message": ["msg_content": "data"]], "\(row.name)")
      #expect(push["offline"] == .bool(row.app != .foreground), "\(row.name)")
      #expect(push["notification_shown"]?.bool == (row.a ? true : nil), "\(row.name)")
    }
    let tapped = phone.events.filter { $0["event"] == "apns" }
    #expect(tapped.map { $0["msg_id"]?.string } == (row.a ? [id] : []), "\(row.name): A")
    #expect(tapped.allSatisfy { $0["tapped"] == true && $0["present"] == false }, "\(row.name)")
    // Whatever the user does, and whether the task is stopped or not.
    #expect(world.requests(for: id).count == (row.app == .foreground ? 0 : 1), "\(row.name): asked Apple")
    try phone.quit()
  }

  /// The user turns to something else.
  private func leave(_ phone: TestPhone, _ app: App, in world: AppleWorld) throws {
    switch app {
    case .foreground: break
    case .background: try phone.ask("background")
    case .notRunning:
      try phone.quit()
      try world.waitUntilAway()
    }
  }

  /// The user opens the app. The system hands a tapped notification over before the app is in the foreground.
  private func open(_ phone: TestPhone, _ row: Case, tapping banner: JSONValue?) throws {
    let isTapped = row.opening == .banner
    if row.app == .notRunning { try phone.launch(isTapped ? ["--background"] : []) }
    if isTapped {
      let payload = try #require(banner?["payload"], "\(row.name): there is nothing to tap")
      let text = String(decoding: JSONWriter.serialize(payload), as: UTF8.self)
      try phone.tell("apns \(text) tapped") { $0["event"] == "apns" }
    }
    if row.app == .background || isTapped { try phone.ask("foreground") }
  }

  /// Waits until a phone in the foreground, and Apple, have got all that was sent before.
  private func settle(_ phone: TestPhone, in world: AppleWorld, as app: TestServer.App? = nil) throws {
    let last = try world.push(to: phone, strategy: 3, as: app)
    try phone.wait { $0["msg_id"]?.string == last }
    try world.settle()
  }

  // MARK: All strategies

  /// What comes over the phone's own connection once its app is open.
  enum Own {
    case nothing, message, both
  }

  struct Way: Sendable {
    let name: String
    /// Nil for JPush's rules.
    let strategy: Int64?
    let app: App
    /// Whether Apple is asked.
    let apple: Bool
    let own: Own
    var timeToLive: Int64 = 3600
    /// Whether Apple refuses the token.
    var isRefused = false
    var hasCredential = true
  }

  static let ways: [Way] = [
    Way(name: "JPush", strategy: nil, app: .foreground, apple: true, own: .message),
    Way(name: "JPush-away", strategy: nil, app: .background, apple: true, own: .message),
    Way(name: "JPush-closed", strategy: nil, app: .notRunning, apple: true, own: .message),
    Way(name: "JPush-now", strategy: nil, app: .foreground, apple: true, own: .message, timeToLive: 0),
    Way(name: "JPush-now-away", strategy: nil, app: .notRunning, apple: true, own: .nothing, timeToLive: 0),
    Way(name: "JPush-refused", strategy: nil, app: .background, apple: true, own: .message, isRefused: true),
    Way(
      name: "no-credential", strategy: nil, app: .foreground, apple: false, own: .both, hasCredential: false),
    Way(
      name: "no-credential-away", strategy: nil, app: .notRunning, apple: false, own: .both,
      hasCredential: false),
    Way(
      name: "1-no-credential", strategy: 1, app: .notRunning, apple: false, own: .message,
      hasCredential: false),
    Way(name: "1-now-away", strategy: 1, app: .background, apple: true, own: .nothing, timeToLive: 0),
    Way(name: "2", strategy: 2, app: .foreground, apple: true, own: .nothing),
    Way(name: "2-away", strategy: 2, app: .background, apple: true, own: .nothing),
    Way(name: "2-refused", strategy: 2, app: .foreground, apple: true, own: .nothing, isRefused: true),
    Way(name: "3", strategy: 3, app: .foreground, apple: false, own: .message),
    Way(name: "3-away", strategy: 3, app: .background, apple: false, own: .message),
    Way(name: "3-closed", strategy: 3, app: .notRunning, apple: false, own: .message),
    Way(name: "4", strategy: 4, app: .foreground, apple: true, own: .nothing),
    Way(name: "4-away", strategy: 4, app: .background, apple: true, own: .message),
    Way(name: "4-refused", strategy: 4, app: .foreground, apple: true, own: .message, isRefused: true),
    Way(name: "4-refused-away", strategy: 4, app: .background, apple: true, own: .message, isRefused: true),
    Way(name: "4-refused-closed", strategy: 4, app: .notRunning, apple: true, own: .message, isRefused: true),
  ]

  @Test func `Every strategy`() throws {
    let world = try AppleWorld()
    let other = try world.server.makeApp()
    for way in Self.ways {
      do {
        try play(way, in: world, as: way.hasCredential ? world.app : other)
      } catch {
        Issue.record("\(way.name): \(error)")
      }
    }
  }

  private func play(_ way: Way, in world: AppleWorld, as app: TestServer.App) throws {
    let phone = try world.phone(way.name, of: app)
    if way.isRefused { try world.forget(phone) }
    switch way.app {
    case .foreground: break
    case .background: try phone.ask("background")
    case .notRunning:
      try phone.quit()
      try world.waitUntilAway()
    }
    let id = try world.push(to: phone, strategy: way.strategy, timeToLive: way.timeToLive, as: app)
    if way.apple {
      let request = try world.request(for: id)
      #expect(request["token"]?.string == phone.token, "\(way.name)")
      #expect(request["accepted"] == .bool(!way.isRefused), "\(way.name): \(request)")
      if way.timeToLive == 0 { #expect(request["headers"]?["apns-expiration"] == "0", "\(way.name)") }
    }
    // What Apple has refused comes by itself, later than what is sent now.
    if way.app == .background { try phone.ask("foreground") }
    if way.app == .notRunning { try phone.launch() }
    if way.own != .nothing, phone.pushes(id).isEmpty { try phone.wait { $0["msg_id"]?.string == id } }
    try settle(phone, in: world, as: app)
    let content: JSONValue =
      way.own == .both
      ? ["notification": ["alert": "Hello"], "message": ["msg_content": "data"]]
      : ["message": ["msg_content": "data"]]
    #expect(
      phone.pushes(id).map { $0["content"] } == (way.own == .nothing ? [] : [content]), "\(way.name)")
    #expect(world.requests(for: id).count == (way.apple ? 1 : 0), "\(way.name): asked Apple")
    try phone.quit()
  }

  /// Apple's refusal comes after a newer push has come over the own connection, which goes on.
  @Test func `What Apple refuses late comes out of turn`() throws {
    let world = try AppleWorld()
    let phone = try world.phone("late")
    try world.settle()
    try world.forget(phone)
    try world.order("/connections", ["action": "freeze"])
    let ids = try (0..<2).map { _ in try world.push(to: phone, strategy: 4, message: false) }
    let newer = try world.push(to: phone, strategy: 3)
    try phone.wait { $0["msg_id"]?.string == newer }
    try world.order("/connections", ["action": "thaw"])
    for id in ids where phone.pushes(id).isEmpty { try phone.wait { $0["msg_id"]?.string == id } }
    try settle(phone, in: world)
    for id in ids {
      #expect(phone.pushes(id).map { $0["content"] } == [["notification": ["alert": "Hello"]]])
      #expect(phone.pushes(id).first?["offline"] == false)
    }
    #expect(!phone.events.contains { $0["event"] == "disconnected" })
  }
}
