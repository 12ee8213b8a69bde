import BorealisBase
import Core
import Model
import PushTesting
import Storage
import Synchronization
import Testing

@testable import Channels

/// What one device can do to the others with a token that its service refuses, and what it cannot.
@Suite struct VendorTokenTests {
  /// Lets time go by until a condition holds.
  private func wait(_ scene: VendorScene, until condition: () -> Bool) async throws {
    for _ in 0..<2000 where !condition() {
      scene.pass(seconds: 1)
      try await Task.sleep(for: .milliseconds(10))
    }
    #expect(condition())
  }

  private func reached(_ scene: VendorScene) -> Set<String> {
    Set(
      scene.moments.tokens.filter { !$0.contains("y") }.flatMap { $0.split(separator: " ").map(String.init) })
  }

  @Test func `A token of another project has the others of its request sent without it`() async throws {
    let scene = try await VendorScene(mostTokens: 1000) { _ in .status(ScriptedVendor.foreign) }
    defer { scene.end() }
    let names = ["a", "b", "c", "y", "d", "e", "f", "g"]
    for token in names { try await scene.device(token) }
    _ = try await scene.push()
    try await wait(scene) { reached(scene).count == 7 && scene.moments.tokens.contains("y") }
    #expect(scene.problem == nil)
    #expect(scene.moments.tokens.first == names.joined(separator: " "))
    #expect(scene.moments.count(to: "a") <= 1, "who has it does not get it again")
    // It is given up, since the others work.
    for _ in 0..<200 where scene.moments.tokens.last != "a b c d e f g" {
      let count = scene.moments.list.count
      _ = try await scene.push()
      _ = try await scene.requests(count + 1)
      scene.pass(seconds: 1)
    }
    #expect(scene.moments.tokens.last == "a b c d e f g")
  }

  /// Lets time go by until a push has ended for all of its devices.
  private func pushAndWait(_ scene: VendorScene) async throws {
    _ = try await scene.push()
    for _ in 0..<2000 {
      if try await scene.openPushes() == 0 { return }
      scene.pass(seconds: 1)
      try await Task.sleep(for: .milliseconds(10))
    }
    Issue.record("the push does not end")
  }

  /// A first credential is wrong, or outsiders have reported all of the tokens: nobody can tell.
  @Test(arguments: [1, 1000]) func `If no token works none is lost and the sending goes on`(
    mostTokens: Int
  ) async throws {
    let scene = try await VendorScene(mostTokens: mostTokens) { _ in .status(ScriptedVendor.foreign) }
    defer { scene.end() }
    for number in 0..<30 { try await scene.device("y\(number)") }
    try await pushAndWait(scene)
    #expect(scene.problem == nil)
    #expect(try await scene.tokens() == 30)
    #expect(scene.channel.alerts(of: scene.app).first?.phrase.english.contains("not verified") == true)
    // One that is the app's own.
    try await scene.device("a")
    try await pushAndWait(scene)
    #expect(scene.moments.count(to: "a") >= 1)
    try await pushAndWait(scene)
    #expect(try await scene.tokens() < 31, "now it is known whose the others are not")
  }

  /// 12 devices with invented tokens after a start, and 600 beside 5 good ones. Nobody but them is concerned.
  @Test(arguments: [(20, 12), (5, 600)]) func `Invented tokens stop nobody`(
    good: Int, invented: Int
  ) async throws {
    let scene = try await VendorScene { _ in .status(ScriptedVendor.partial) }
    defer { scene.end() }
    for number in 0..<good { try await scene.device("a\(number)") }
    try await pushAndWait(scene)
    try await scene.restart()
    for number in 0..<invented { try await scene.device("x\(number)") }
    for round in 2...4 {
      try await pushAndWait(scene)
      for number in 0..<good { #expect(scene.moments.count(to: "a\(number)") == round) }
      #expect(scene.problem == nil)
    }
    let left = try await scene.tokens()
    #expect(left >= good && left < good + invented)
  }

  /// Each answer is about one token.
  @Test func `What is refused of a push goes to the connection in a few transactions`() async throws {
    let scene = try await VendorScene { _ in .status(ScriptedVendor.partial) }
    defer { scene.end() }
    var devices: [RegistrationID] = []
    for number in 0..<600 { devices.append(try await scene.device("x\(number)")) }
    let store = scene.parts.store
    let before = store.statistics.jobs
    _ = try await scene.push()
    for _ in 0..<2000 where scene.moments.list.count < 600 { try await Task.sleep(for: .milliseconds(10)) }
    // What is answered in the same second is stored in the next.
    for _ in 0..<2000 where !devices.allSatisfy({ scene.waiting(for: $0) == 1 }) {
      scene.pass(seconds: 1)
      try await Task.sleep(for: .milliseconds(100))
    }
    #expect(devices.allSatisfy { scene.waiting(for: $0) == 1 })
    #expect(try await scene.tokens() == 600)
    #expect(store.statistics.jobs - before < 50)
  }

  /// It is entered anew with another app's values: the service refuses each token as another app's, or as one
  /// that it does not know.
  @Test(arguments: [
    ("y", ScriptedVendor.foreign, 1), ("y", ScriptedVendor.foreign, 1000), ("x", 207, 1), ("x", 207, 1000),
  ])
  func `A wrong credential takes no token away`(
    name: String, status: Int, mostTokens: Int
  ) async throws {
    let answers = Mutex(200)
    let scene = try await VendorScene(mostTokens: mostTokens) { _ in .status(answers.withLock { $0 }) }
    defer { scene.end() }
    for number in 0..<40 { try await scene.device("\(name)\(number)") }
    try await pushAndWait(scene)
    answers.withLock { $0 = status }
    try await scene.setCredential()
    for _ in 0..<3 { try await pushAndWait(scene) }
    #expect(try await scene.tokens() == 40)
    #expect(scene.problem == nil)
    #expect(scene.channel.alerts(of: scene.app).first?.phrase.english.contains("not verified") == true)
    // After another start it is known as well.
    try await scene.restart()
    try await pushAndWait(scene)
    #expect(try await scene.tokens() == 40)
    // The right one again.
    answers.withLock { $0 = 200 }
    try await scene.setCredential()
    try await pushAndWait(scene)
    #expect(scene.channel.alerts(of: scene.app).isEmpty)
  }

  /// A renewed token of access is refused as well: once for all if the vendor has one service, for the token
  /// if it has several.
  @Test(arguments: [true, false]) func `Refused proofs blame the token where services are many`(
    isOne: Bool
  ) async throws {
    let services = isOne ? [ServiceID.only] : [.only, ServiceID(rawValue: 2)]
    // The second is the renewal, if one is asked for.
    let scene = try await VendorScene(services: services) { number in
      .status([1, 3].contains(number) ? 401 : 200)
    }
    defer { scene.end() }
    try await scene.device("a")
    _ = try await scene.push()
    _ = try await scene.requests(2)
    if isOne {
      try await wait(scene) { scene.problem != nil }
      #expect(scene.problem?.hasSuffix("refused") == true && scene.stopped == .all)
    } else {
      let count = scene.moments.list.count
      _ = try await scene.push()
      _ = try await scene.requests(count + 1)
      #expect(scene.problem == nil)
    }
  }

  /// Hours may be between the two.
  @Test func `Refusals with another answer between them renew the token of access twice`() async throws {
    let scene = try await VendorScene { number in
      switch number {
      // 2 and 5 renew the token of access.
      case 1, 4: .status(401)
      case 3: .status(ScriptedVendor.busy, "Retry-After: 2\r\n")
      default: .status(200)
      }
    }
    defer { scene.end() }
    try await scene.device("a")
    _ = try await scene.push()
    try await wait(scene) { scene.moments.list.count >= 4 }
    #expect(scene.problem == nil)
  }

  @Test func `A push whose preparation is forgotten is prepared again`() async throws {
    let scene = try await VendorScene(mostTokens: 2, prepares: true) { number in
      .status(number == 2 ? ScriptedVendor.forgotten : 200)
    }
    defer { scene.end() }
    for token in ["a", "b"] { try await scene.device(token) }
    _ = try await scene.push()
    try await wait(scene) { scene.moments.count(to: "a b") >= 2 }
    #expect(scene.moments.tokens == ["first", "a b", "first", "a b"])
  }

  @Test func `A clock that is set back prolongs no rest and no retry`() async throws {
    let scene = try await VendorScene { number in
      number == 1 ? .status(ScriptedVendor.busy, "Retry-After: 5\r\n") : .status(200)
    }
    defer { scene.end() }
    try await scene.device("a")
    _ = try await scene.push()
    _ = try await scene.requests(1)
    try await scene.untilResting()
    scene.clock.setWall(minutes: -60)
    // Far less than an hour.
    for _ in 0..<100 where scene.moments.list.count < 2 {
      scene.pass(seconds: 1)
      try await Task.sleep(for: .milliseconds(10))
    }
    #expect(scene.moments.list.count == 2)
  }
}
