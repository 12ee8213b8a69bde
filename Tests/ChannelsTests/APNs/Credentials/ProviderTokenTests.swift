import BorealisBase
import BorealisCrypto
import Channels
import PushTesting
import Testing

@Suite struct ProviderTokenTests {
  let clock = ManualClock()
  let mint: ProviderTokenMint

  init() throws {
    mint = ProviderTokenMint(
      key: try ES256Key.generate(), keyID: "K7Q2M9X4TB", teamID: "T5Z8W1R6PD", time: clock)
  }

  /// The parts of a token: header, claims, and the signature's bytes.
  private func parts(_ token: ProviderToken) throws -> (header: String, claims: String, signature: [UInt8]) {
    let text = String(decoding: token.authorization, as: UTF8.self)
    #expect(text.hasPrefix("bearer "))
    let parts = text.dropFirst("bearer ".count).split(separator: ".").map { part in
      let standard = part.map { $0 == "-" ? "+" : $0 == "_" ? "/" : String($0) }.joined()
      return Base64.decode(Array(standard.utf8) + [UInt8](repeating: 61, count: (4 - standard.count % 4) % 4))
    }
    try #require(parts.count == 3)
    return (
      String(decoding: try #require(parts[0]), as: UTF8.self),
      String(decoding: try #require(parts[1]), as: UTF8.self),
      try #require(parts[2])
    )
  }

  @Test func looksAsAppleWants() throws {
    let token = try mint.current()
    let parts = try parts(token)
    #expect(parts.header == #"{"alg":"ES256","kid":"K7Q2M9X4TB"}"#)
    #expect(parts.claims == #"{"iss":"T5Z8W1R6PD","iat":1790000000}"#)
    #expect(parts.signature.count == 64)
    #expect(token.authorization.count == "bearer ".utf8.count + 184)
    #expect(token.issuedAt.seconds == 1_790_000_000)
  }

  /// Over a day: never younger than 45 minutes when replaced, never used beyond 51, never the old one again.
  @Test func livesForThreeQuartersOfAnHour() throws {
    var seen = [try mint.current()]
    var born = 0
    for minute in 1...1440 {
      clock.advance(minutes: 1)
      let token = try mint.current()
      if token == seen[seen.count - 1] {
        #expect(minute - born <= 51)
        continue
      }
      #expect((45...51).contains(minute - born), "after \(minute - born) minutes")
      #expect(!seen.contains(token))
      #expect(token.issuedAt == clock.now())
      seen.append(token)
      born = minute
    }
    #expect((28...32).contains(seen.count))
  }

  /// A clock that was set makes the token's time wrong: a new one, but not before the 20 minutes are over.
  @Test(arguments: [120, -120, 7, -7])
  func clockIsSet(minutes: Int) throws {
    let first = try mint.current()
    clock.advance(minutes: 2)
    clock.setWall(minutes: minutes)
    for _ in 0..<17 {
      #expect(try mint.current() == first)
      clock.advance(minutes: 1)
    }
    clock.advance(minutes: 1)
    let second = try mint.current()
    #expect(second != first)
    #expect(second.issuedAt == clock.now())
    clock.advance(minutes: 44)
    #expect(try mint.current() == second)
  }

  @Test func smallDriftsAreNormal() throws {
    let first = try mint.current()
    clock.setWall(minutes: 4)
    clock.advance(minutes: 30)
    #expect(try mint.current() == first)
  }

  /// However many connections complain about one token, it is renewed once; and once more only 20 minutes
  /// later.
  @Test func expiredTokensAreRenewedOnce() throws {
    let first = try mint.current()
    clock.advance(minutes: 1)
    guard case .token(let second) = try mint.renewal(of: first) else {
      Issue.record("the first complaint must renew")
      return
    }
    #expect(second != first)
    #expect(try mint.current() == second)
    for _ in 0..<10 { #expect(try mint.renewal(of: first) == .token(second)) }
    #expect(try mint.renewal(of: second) == .tooSoon)
    clock.advance(minutes: 19)
    #expect(try mint.renewal(of: second) == .tooSoon)
    #expect(try mint.current() == second)
    clock.advance(minutes: 1)
    guard case .token(let third) = try mint.renewal(of: second) else {
      Issue.record("20 minutes later another is allowed")
      return
    }
    #expect(third != second)
  }

  /// Threads that ask at the same moment get one and the same token.
  @Test func threadsShareOneToken() async throws {
    let mint = mint
    let tokens = try await withThrowingTaskGroup(of: ProviderToken.self) { group in
      for _ in 0..<64 { group.addTask { try mint.current() } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(tokens.allSatisfy { $0 == tokens[0] })
    clock.advance(minutes: 50)
    let renewals = try await withThrowingTaskGroup(of: ProviderTokenMint.Renewal.self) { group in
      for _ in 0..<64 { group.addTask { try mint.renewal(of: tokens[0]) } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(renewals.allSatisfy { $0 == renewals[0] })
    #expect(renewals[0] == .token(try mint.current()))
  }
}
