import PushBase
import PushDomain
import PushTesting
import Testing

@testable import PushVendors

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
    // After a minute the token is given up.
    for _ in 0..<70 { scene.pass(seconds: 1) }
    for _ in 0..<200 where scene.moments.tokens.last != "a b c d e f g" {
      let count = scene.moments.list.count
      _ = try await scene.push()
      _ = try await scene.requests(count + 1)
      scene.pass(seconds: 1)
    }
    #expect(scene.moments.tokens.last == "a b c d e f g")
  }

  /// The wrong credential: no token works.
  @Test(arguments: [1, 1000]) func `If no token works the credential is paused`(mostTokens: Int) async throws
  {
    let scene = try await VendorScene(mostTokens: mostTokens) { _ in .status(ScriptedVendor.foreign) }
    defer { scene.end() }
    for number in 0..<30 { try await scene.device("y\(number)") }
    _ = try await scene.push()
    try await wait(scene) { scene.problem != nil }
    #expect(scene.problem?.contains("is it the right credential?") == true)
  }

  /// A renewed token of access is refused as well: once for all if the vendor has one service, for the token if it has several.
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
      #expect(scene.problem?.hasSuffix("refused") == true)
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
