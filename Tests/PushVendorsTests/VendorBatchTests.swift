import PushBase
import PushDomain
import PushTesting
import Testing

@testable import PushVendors

/// Requests that bring a push to several devices.
@Suite struct VendorBatchTests {
  @Test func `A request has as many tokens as the vendor takes`() async throws {
    let scene = try await VendorScene(mostTokens: 2) { _ in .status(200) }
    defer { scene.end() }
    for token in ["a", "b", "c", "d", "e"] { try await scene.device(token) }
    _ = try await scene.push()
    #expect(try await scene.requests(3).count == 3)
    #expect(scene.moments.tokens.sorted() == ["a b", "c d", "e"])
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
}
