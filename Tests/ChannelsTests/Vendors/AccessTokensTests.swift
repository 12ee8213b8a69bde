import BorealisBase
import PushTesting
import Synchronization
import Testing

@testable import Channels

/// One token of access for a credential.
@Suite struct AccessTokensTests {
  private let start = Timestamp(milliseconds: 1_800_000_000_000)

  private func value(_ step: AccessTokens.Step) -> String {
    switch step {
    case .use(let token): token.value
    case .ask: "ask"
    case .wait: "wait"
    }
  }

  /// Of many who need a token at once, one asks.
  @Test func oneAsks() async {
    let tokens = AccessTokens()
    let steps = await withTaskGroup(of: String.self) { group in
      for _ in 0..<64 { group.addTask { value(tokens.step(at: start)) } }
      return await group.reduce(into: [String]()) { $0.append($1) }
    }
    #expect(steps.filter { $0 == "ask" }.count == 1)
    #expect(steps.filter { $0 == "wait" }.count == 63)
    // It failed: the next one asks again.
    tokens.failed()
    #expect(value(tokens.step(at: start)) == "ask")
    tokens.set("one", seconds: 3600, at: start)
    #expect(value(tokens.step(at: start)) == "one")
  }

  /// Some minutes before its end a token is renewed, and until then used.
  @Test func renewal() {
    let tokens = AccessTokens()
    _ = tokens.step(at: start)
    tokens.set("one", seconds: 3600, at: start)
    let late = start.adding(seconds: 3600 - AccessTokens.margin)
    #expect(value(tokens.step(at: late.adding(seconds: -1))) == "one")
    #expect(value(tokens.step(at: late)) == "ask")
    #expect(value(tokens.step(at: late)) == "one")
    #expect(value(tokens.step(at: start.adding(seconds: 3600))) == "wait")
    tokens.set("two", seconds: 3600, at: late)
    #expect(value(tokens.step(at: late)) == "two")
    // One that lives for a moment is not asked for at each request.
    tokens.set("short", seconds: 1, at: late)
    #expect(value(tokens.step(at: late)) == "short")
  }

  /// A refused token is dropped once; the one that came since stays.
  @Test func refusal() throws {
    let tokens = AccessTokens()
    _ = tokens.step(at: start)
    tokens.set("one", seconds: 3600, at: start)
    guard case .use(let one) = tokens.step(at: start) else {
      Issue.record("there is no token")
      return
    }
    tokens.drop(one)
    #expect(value(tokens.step(at: start)) == "ask")
    tokens.set("two", seconds: 3600, at: start)
    tokens.drop(one)
    #expect(value(tokens.step(at: start)) == "two")
  }
}
