import BorealisBase
import Model
import Storage
import Testing

@testable import Channels

/// Which tokens that a service refuses are given up: never because of what outsiders report, and never
/// because of a wrong credential.
@Suite struct TokenGuardTests {
  private static let slot = TokenSlot(ChannelID(rawValue: 77), kind: 1)

  private func token(_ number: UInt32, at second: Int64 = 1) -> AnsweredToken {
    let at = Timestamp(milliseconds: second * 1000)
    return AnsweredToken(
      RegistrationNumber(number), PushToken(Self.slot, .only, Array("\(number)".utf8)), sentAt: at,
      reportedBy: at)
  }

  /// A guard of a credential whose service has taken some tokens, from 0 on.
  private func makeGuard(_ working: UInt32, former row: TokenProofRow? = nil, _ credential: String = "a")
    -> TokenGuard
  {
    var guardian = TokenGuard()
    guardian.load(row, for: .only, of: credential)
    for number in 0..<working { guardian.works(token(number)) }
    return guardian
  }

  private func refuse(
    _ guardian: inout TokenGuard, _ numbers: Range<UInt32>, at second: Int64 = 2,
    _ evidence: TokenGuard.Evidence = .token
  ) -> [TokenGuard.Verdict] {
    numbers.map { guardian.refuses(token($0, at: second), evidence) }
  }

  @Test func `Tokens that never worked are given up beside those that do`() {
    var guardian = makeGuard(50)
    #expect(refuse(&guardian, 1000..<1005).allSatisfy { $0 == .retire })
    #expect(guardian.doubt == nil)
  }

  /// After a start, with what was stored: 12 devices with invented tokens, and 600 beside 5 good ones.
  @Test(arguments: [12, 600] as [UInt32]) func `Invented tokens after a start cost nobody but themselves`(
    count: UInt32
  ) throws {
    var guardian = makeGuard(0, former: makeGuard(5).proof)
    let first = refuse(&guardian, 1000..<1000 + count)
    #expect(first.allSatisfy { $0 == .kept }, "none has worked since the start")
    for number in 0..<5 as Range<UInt32> { guardian.works(token(number, at: 3)) }
    #expect(guardian.isProven && guardian.doubt == nil)
    let second = refuse(&guardian, 1000..<1000 + count, at: 4)
    #expect(second.allSatisfy { $0 == .retire })
  }

  /// The service's side is another: not one known token is lost, and of the others a few at most.
  @Test func `If no token works any more those that did are kept`() {
    var guardian = makeGuard(20)
    #expect(refuse(&guardian, 0..<20).allSatisfy { $0 == .kept })
    #expect(refuse(&guardian, 1000..<1500).allSatisfy { $0 == .kept })
    #expect(guardian.doubt == 520)
    var large = makeGuard(5000)
    for second in 2..<5 as Range<Int64> {
      let verdicts = refuse(&large, 0..<5000, at: second)
      #expect(verdicts.count { $0 == .retire } <= (second == 2 ? TokenGuard.mostInARow : 0))
    }
  }

  @Test func `A token that worked is given up when it is refused again after another has worked`() {
    var guardian = makeGuard(2)
    #expect(refuse(&guardian, 0..<1) == [.kept])
    #expect(refuse(&guardian, 0..<1, at: 3) == [.kept])
    guardian.works(token(1, at: 3))
    #expect(refuse(&guardian, 0..<1, at: 4) == [.retire])
    // One that works again in between is not.
    #expect(refuse(&guardian, 1..<2) == [.kept])
    guardian.works(token(1, at: 4))
    guardian.works(token(5, at: 4))
    #expect(refuse(&guardian, 1..<2, at: 5) == [.kept])
  }

  @Test func `A request that was sent before says nothing against a refusal`() {
    var guardian = makeGuard(2)
    #expect(refuse(&guardian, 0..<1) == [.kept])
    guardian.works(token(0, at: 1))
    #expect(refuse(&guardian, 0..<1, at: 3) == [.kept])
    guardian.works(token(1, at: 3))
    // Nor does a refusal that is as old as the first.
    #expect(refuse(&guardian, 0..<1) == [.kept])
    #expect(refuse(&guardian, 0..<1, at: 4) == [.retire])
  }

  /// A credential entered anew with another app's values.
  @Test func `A wrong credential costs no token, however often it is tried`() {
    var guardian = makeGuard(40)
    for credential in ["b", "c"] {
      guardian.use(credential)
      for _ in 0..<3 { #expect(refuse(&guardian, 0..<40).allSatisfy { $0 == .notVerified }) }
      // Some device has a token of that app.
      guardian.works(token(999, at: 3))
      guardian.works(token(998, at: 3))
      #expect(!guardian.isProven)
      #expect(refuse(&guardian, 0..<1) == [.notVerified])
      #expect(guardian.doubt == 1)
    }
    // After a start as well.
    var later = makeGuard(0, former: guardian.proof, "c")
    #expect(refuse(&later, 0..<40).allSatisfy { $0 == .notVerified })
    // The right one again.
    later.use("d")
    for number in 0..<3 as Range<UInt32> { later.works(token(number, at: 5)) }
    #expect(later.isProven)
    #expect(refuse(&later, 1000..<1001) == [.retire])
  }

  @Test func `A first credential that is wrong costs no token`() {
    var guardian = makeGuard(0)
    #expect(refuse(&guardian, 0..<60).allSatisfy { $0 == .notVerified })
    #expect(guardian.doubt == 60)
  }

  /// One of two packages is missing: half of the tokens work.
  @Test func `A credential for a part of the app's tokens is not known to be right`() {
    var guardian = makeGuard(32)
    guardian.use("b")
    #expect(refuse(&guardian, 0..<16).allSatisfy { $0 == .notVerified })
    for number in 16..<32 as Range<UInt32> { guardian.works(token(number, at: 3)) }
    #expect(!guardian.isProven)
  }

  @Test func `Where those that worked before are gone, others prove the next credential`() {
    var guardian = makeGuard(3)
    guardian.use("b")
    for number in 100..<103 as Range<UInt32> { guardian.works(token(number)) }
    #expect(guardian.isProven)
    guardian.use("c")
    #expect(refuse(&guardian, 100..<103).allSatisfy { $0 == .notVerified })
    for number in 200..<220 as Range<UInt32> { guardian.works(token(number, at: 3)) }
    #expect(guardian.isProven)
    #expect(refuse(&guardian, 100..<103, at: 4).allSatisfy { $0 == .retire })
  }

  @Test func `An answer for a whole request costs no token`() {
    var guardian = makeGuard(5)
    #expect(refuse(&guardian, 100..<200, .request).allSatisfy { $0 == .kept })
    guardian.works(token(0, at: 3))
    #expect(refuse(&guardian, 100..<200, at: 4, .request).allSatisfy { $0 == .kept })
    guardian.use("b")
    #expect(refuse(&guardian, 100..<101, .request) == [.notVerified])
  }

  @Test func `An answer that no wrong credential can cause is believed at once`() {
    var guardian = makeGuard(1)
    #expect(refuse(&guardian, 0..<1, .certain) == [.retire])
    guardian.use("b")
    #expect(refuse(&guardian, 7..<8, .certain) == [.retire])
    var unread = TokenGuard()
    #expect(refuse(&unread, 7..<8) == [.kept])
  }

  @Test func `What is kept is bounded`() throws {
    var guardian = makeGuard(100_000)
    for round in 0..<3 as Range<Int64> {
      for number in 200_000..<210_000 as Range<UInt32> {
        _ = guardian.refuses(token(number, at: 2 + round), .token)
      }
    }
    let proof = try #require(guardian.proof)
    #expect(proof.working.count == TokenGuard.mostWorking)
    guardian.use("b")
    #expect(try #require(guardian.proof).former.count == TokenGuard.mostWorking)
    // Nor are more suspects kept.
    var large = makeGuard(1)
    _ = refuse(&large, 1000..<50_000)
    for _ in 0..<2 {
      large.works(token(0, at: 3))
      let retired = refuse(&large, 1000..<50_000, at: 4).count { $0 == .retire }
      #expect(retired >= TokenGuard.mostInARow && retired <= TokenGuard.mostSuspects + TokenGuard.mostInARow)
    }
    // Those of devices that are gone make room.
    large.works(token(0, at: 100_000))
    _ = refuse(&large, 70_000..<70_100, at: 100_000)
    large.works(token(0, at: 100_001))
    #expect(refuse(&large, 70_000..<70_100, at: 100_002).allSatisfy { $0 == .retire })
  }
}
