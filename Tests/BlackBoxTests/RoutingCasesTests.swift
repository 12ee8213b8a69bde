import BorealisBase
import PushTesting
import Testing

/// Which way a push takes to an iPhone, by what its app does meanwhile: with a real server, real devices and
/// a simulator in Apple's place.
@Suite struct RoutingCasesTests {
  // MARK: Getui's numbered cases

  typealias App = NumberedCase.App

  /// The two rules that the table follows from, which are strategy 1.
  @Test(arguments: NumberedCase.all) func `The table follows from two rules`(row: NumberedCase) {
    #expect(row.getsMessage == (row.app == .foreground || !row.isStopped))
    #expect(row.getsNotification == (row.app != .foreground && row.opening == .banner))
    for strategy in [1, 6] {
      let outcome = row.outcome(strategy: strategy)
      #expect(outcome.getsMessage == row.getsMessage && outcome.getsNotification == row.getsNotification)
    }
  }

  @Test func `Getui's twenty cases by JPush's API`() throws {
    let world = try AppleWorld()
    try play(NumberedCase.all, strategy: 1, in: world, by: JPushSender(world))
  }

  @Test(arguments: NumberedCase.strategies) func `Getui's twenty cases by its own API`(strategy: Int) throws {
    let world = try AppleWorld()
    try play(NumberedCase.all, strategy: strategy, in: world, by: try GetuiSender(world))
  }

  private func play(
    _ rows: [NumberedCase], strategy: Int, in world: AppleWorld, by sender: any CaseSender
  ) throws {
    for row in rows {
      do {
        try play(row, strategy, in: world, by: sender)
      } catch {
        Issue.record("\(row), strategy \(strategy): \(error)")
      }
    }
  }

  private func play(
    _ row: NumberedCase, _ strategy: Int, in world: AppleWorld, by sender: any CaseSender
  ) throws {
    let expected = row.outcome(strategy: strategy)
    let phone = try world.phone(row.name)
    try leave(phone, row.app, in: world)
    let id = try sender.push(to: phone, as: row, strategy: strategy)

    if expected.asksApple {
      let request = try world.request(for: id)
      #expect(request["token"]?.string == phone.token, "\(row)")
      #expect(request["accepted"] == true, "\(row)")
    }
    if row.app == .foreground, expected.getsMessage { try phone.wait { $0["msg_id"]?.string == id } }
    if row.isStopped { try sender.stop(id) }
    // What Apple does not bring cannot be tapped: the user takes the icon.
    let isTapped = row.opening == .banner && expected.asksApple
    try open(phone, row.app, tapping: isTapped ? world.requests(for: id).first : nil)

    try settle(phone, in: world)
    let pushes = phone.pushes(id)
    #expect(pushes.count == (expected.getsMessage ? 1 : 0), "\(row), strategy \(strategy): P")
    for push in pushes {
      #expect(push["content"] == ["message": ["msg_content": "data"]], "\(row)")
      #expect(push["offline"] == .bool(row.app != .foreground), "\(row)")
      #expect(push["notification_shown"]?.bool == (expected.getsNotification ? true : nil), "\(row)")
    }
    let tapped = phone.events.filter { $0["event"] == "apns" }
    #expect(
      tapped.map { $0["msg_id"]?.string } == (expected.getsNotification ? [id] : []),
      "\(row), strategy \(strategy): A")
    #expect(tapped.allSatisfy { $0["tapped"] == true && $0["present"] == false }, "\(row)")
    // Whatever the user does, and whether the task is stopped or not.
    #expect(world.requests(for: id).count == (expected.asksApple ? 1 : 0), "\(row): asked Apple")
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
  private func open(_ phone: TestPhone, _ app: App, tapping banner: JSONValue?) throws {
    if app == .notRunning { try phone.launch(banner == nil ? [] : ["--background"]) }
    if let banner {
      let payload = try #require(banner["payload"], "there is nothing to tap")
      let text = String(decoding: JSONWriter.serialize(payload), as: UTF8.self)
      try phone.send("apns \(text) tapped") { $0["event"] == "apns" }
    }
    if app == .background || banner != nil { try phone.ask("foreground") }
  }

  /// Waits until a phone in the foreground, and Apple, have got all that was sent before.
  private func settle(_ phone: TestPhone, in world: AppleWorld, as app: TestServer.App? = nil) throws {
    let last = try world.push(to: phone, strategy: 3, as: app)
    try phone.wait { $0["msg_id"]?.string == last }
    try world.settle()
  }

  /// Apple's banner and the message carry one `msg_id`: the app alerts its user once, whatever comes again.
  @Test func `A banner and the message behind it are one to the app`() throws {
    let world = try AppleWorld()
    let sender = try GetuiSender(world)
    let phone = try world.phone("once")
    try phone.ask("background")
    let id = try sender.push(to: phone, as: try #require(NumberedCase.all.last), strategy: 1)
    let payload = try #require(try world.request(for: id)["payload"])
    let text = String(decoding: JSONWriter.serialize(payload), as: UTF8.self)
    for isFirst in [true, false] {
      let banner = try phone.send("apns \(text)") { $0["event"] == "apns" }
      #expect(banner["msg_id"]?.string == id && banner["present"] == .bool(isFirst))
    }
    try phone.ask("foreground")
    try settle(phone, in: world)
    #expect(phone.pushes(id).map { $0["notification_shown"] } == [true])
    #expect(phone.pushes(id).first?["content"] == ["message": ["msg_content": "data"]])
    let late = try phone.send("apns \(text) tapped") { $0["event"] == "apns" }
    #expect(late["tapped"] == true && late["present"] == false)
    #expect(world.requests(for: id).count == 1)
    try phone.quit()
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
