import BorealisBase
import Core
import Model
import PushTesting
import Synchronization
import Testing

@testable import Channels

/// Requests that bring a push to several devices.
@Suite struct VendorBatchTests {
  /// The number of the latest request.
  private final class LastNumber: Sendable { let number = Mutex(0) }

  @Test func `A request has as many tokens as the vendor takes`() async throws {
    let scene = try await VendorScene(mostTokens: 2) { _ in .status(200) }
    defer { scene.end() }
    for token in ["a", "b", "c", "d", "e"] { try await scene.device(token) }
    _ = try await scene.push()
    #expect(try await scene.requests(3).count == 3)
    #expect(scene.moments.tokens.sorted() == ["a b", "c d", "e"])
  }

  /// Devices in one request get the same text; the limit of contents under way counts languages.
  @Test func `A request brings one language`() async throws {
    let scene = try await VendorScene(mostTokens: 1000) { _ in .status(200) }
    defer { scene.end() }
    let (router, app) = (scene.router, scene.app)
    let wanted = DeviceFactSet(.language)
    try await awaitCallback { router.apps.setFacts(wanted, of: app, noting: .test, done: $0) }.get()
    for (token, language) in [("a", "de"), ("b", "fr"), ("c", "de-AT"), ("d", ""), ("e", "fr-CA"), ("f", "")]
    {
      let id = try await scene.device(token)
      let number = try #require(app.directory.find(id))
      try await awaitCallback { router.facts.set([.language: language], of: number, in: app, reply: $0) }
        .get()
    }
    _ = try await scene.push(
      to: #""all""#,
      #""notification":{"android":{"alert":"x"}},"languages":{"de":{"alert":"y"},"fr":{"alert":"z"}}"#)
    #expect(try await scene.requests(3).count == 3)
    #expect(scene.moments.tokens.sorted() == ["a c", "b e", "d f"])
    for _ in 0..<200 {
      if try await scene.openPushes() == 0 { break }
      scene.pass(seconds: 1)
    }
    #expect(try await scene.openPushes() == 0)
  }

  /// The good tokens of the request are not sent again, and the bad one is taken away.
  @Test func `A request that failed in part concerns the tokens that the service names`() async throws {
    let scene = try await VendorScene(mostTokens: 1000) { number in
      .status(number == 1 ? ScriptedVendor.partial : 200)
    }
    defer { scene.end() }
    for token in ["a", "x", "b"] { try await scene.device(token) }
    _ = try await scene.push()
    _ = try await scene.requests(1)
    #expect(scene.moments.tokens == ["a x b"])
    // The token is taken away in the background.
    for count in 2...100 where scene.moments.tokens.last != "a b" {
      _ = try await scene.push()
      _ = try await scene.requests(count)
    }
    #expect(scene.moments.tokens.last == "a b")
    #expect(scene.moments.tokens.allSatisfy { ["a x b", "a b"].contains($0) })
  }

  /// One renewal and one rest for a request, however many tokens it has; all of them come again.
  @Test func `A request that has to wait is sent again as a whole`() async throws {
    let scene = try await VendorScene(mostTokens: 1000) { number in
      number == 1 ? .status(ScriptedVendor.busy, "Retry-After: 2\r\n") : .status(200)
    }
    defer { scene.end() }
    for token in ["a", "b", "c"] { try await scene.device(token) }
    _ = try await scene.push()
    _ = try await scene.requests(1)
    try await scene.untilResting()
    // What probes the service then is one device.
    scene.pass(seconds: 3)
    _ = try await scene.requests(2)
    for _ in 0..<2000 where Set(scene.moments.tokens.dropFirst().joined(separator: " ")).count < 4 {
      scene.pass(seconds: 1)
      try await Task.sleep(for: .milliseconds(10))
    }
    let again = scene.moments.tokens.dropFirst().joined(separator: " ").split(separator: " ").sorted()
    #expect(again == ["a", "b", "c"])
  }

  @Test func `Few devices have a request each, many share one`() async throws {
    let scene = try await VendorScene(mostTokens: 1000, fewestTokens: 3) { _ in .status(200) }
    defer { scene.end() }
    for token in ["a", "b"] { try await scene.device(token) }
    _ = try await scene.push()
    #expect(try await scene.requests(2).count == 2)
    #expect(scene.moments.tokens.sorted() == ["a", "b"])
    try await scene.device("c")
    _ = try await scene.push()
    #expect(try await scene.requests(3).count == 3)
    #expect(scene.moments.tokens.last == "a b c")
  }

  /// Used-up lists do not keep single devices waiting; the next day has lists again.
  @Test(arguments: [false, true])
  func `Without lists each device has a request until midnight in China`(prepares: Bool) async throws {
    let scene = try await VendorScene(mostTokens: 2, prepares: prepares) { number in
      .status(number == 1 ? ScriptedVendor.listQuota : 200)
    }
    defer { scene.end() }
    for token in ["a", "b"] { try await scene.device(token) }
    func sent() -> [String] { scene.moments.tokens.filter { $0 != "first" } }
    func wait(until condition: () -> Bool) async throws {
      for _ in 0..<2000 where !condition() {
        scene.pass(seconds: 1)
        try await Task.sleep(for: .milliseconds(10))
      }
    }
    _ = try await scene.push()
    try await wait { Set(sent()).isSuperset(of: ["a", "b"]) }
    #expect(sent().sorted() == (prepares ? ["a", "b"] : ["a", "a b", "b"]))
    #expect(scene.problem == nil)
    scene.jump(seconds: 86_400)
    _ = try await scene.push()
    try await wait { sent().last == "a b" }
    #expect(sent().last == "a b")
  }

  @Test func `A push that has to be prepared is prepared once`() async throws {
    let last = LastNumber()
    let scene = try await VendorScene(mostTokens: 2, prepares: true) { number in
      last.number.withLock { $0 = number }
      return .status(200)
    }
    defer { scene.end() }
    for token in ["a", "b", "c", "d"] { try await scene.device(token) }
    _ = try await scene.push()
    // Each batch asks what to do before and after.
    #expect(try await scene.requests(4).count == 4)
    #expect(scene.moments.tokens.sorted() == ["a b", "c d", "first", "first"])
    for _ in 0..<2000 where last.number.withLock({ $0 }) < 3 { try await Task.sleep(for: .milliseconds(10)) }
    #expect(last.number.withLock { $0 } == 3)
  }

  /// What the answer to the preparation says is said of all devices.
  @Test func `A push that is not prepared waits as a whole`() async throws {
    let scene = try await VendorScene(mostTokens: 2, prepares: true) { number in
      number == 1 ? .status(ScriptedVendor.busy, "Retry-After: 2\r\n") : .status(200)
    }
    defer { scene.end() }
    for token in ["a", "b", "c", "d"] { try await scene.device(token) }
    _ = try await scene.push()
    try await scene.untilResting()
    #expect(scene.moments.tokens.allSatisfy { $0 == "first" })
    func sent() -> [Character] {
      Array(scene.moments.tokens.filter { $0 != "first" }.joined().filter { $0 != " " })
    }
    for _ in 0..<2000 where sent().count < 4 {
      scene.pass(seconds: 1)
      try await Task.sleep(for: .milliseconds(10))
    }
    #expect(sent().sorted() == ["a", "b", "c", "d"])
  }
}
