import Testing

@testable import BorealisNet

@Suite struct LoopPausesTests {
  private static let second: UInt64 = 1_000_000_000

  @Test func `Waiting for a second, or working for a while, is no pause`() {
    var pauses = LoopPauses(100 * Self.second)
    for second in [101, 102, 105] as [UInt64] {
      let isOver = pauses.begin(at: second * Self.second, found: 0)
      #expect(!isOver && !pauses.isCatchingUp && pauses.unreadSince == second * Self.second)
    }
  }

  @Test func `What is read after a pause may be as old as the pause, until nothing is left of it`() {
    var pauses = LoopPauses(100 * Self.second)
    #expect(pauses.isPaused(at: 120 * Self.second))
    // The signal that ends a stop; then two looks with something to read, and one without.
    for (count, isOver) in [(-4, true), (256, false), (3, false)] {
      let ends = pauses.begin(at: 120 * Self.second, found: count)
      #expect(ends == isOver && pauses.isCatchingUp && pauses.unreadSince == 100 * Self.second)
    }
    _ = pauses.begin(at: 120 * Self.second, found: 0)
    #expect(!pauses.isCatchingUp && pauses.unreadSince == 120 * Self.second)
  }

  @Test func `What nobody has read is as old as that, though the thread was at work`() {
    var pauses = LoopPauses(100 * Self.second)
    pauses.rest(until: 120 * Self.second)
    #expect(!pauses.isPaused(at: 121 * Self.second) && !pauses.isCatchingUp)
    pauses.goOn(at: 122 * Self.second, unreadSince: 90 * Self.second)
    for count in [256, 3] {
      let ends = pauses.begin(at: 122 * Self.second, found: count)
      #expect(!ends && pauses.isCatchingUp && pauses.unreadSince == 90 * Self.second)
    }
    _ = pauses.begin(at: 122 * Self.second, found: 0)
    #expect(!pauses.isCatchingUp && pauses.unreadSince == 122 * Self.second)
  }

  @Test(arguments: [1_000_000, 50_000_000] as [UInt64])
  func `A crowd that never ends is caught up with after a second`(turn: UInt64) {
    var pauses = LoopPauses(100 * Self.second)
    _ = pauses.begin(at: 110 * Self.second, found: 9)
    for count in 1...Self.second / turn {
      _ = pauses.begin(at: 110 * Self.second + count * turn, found: 9)
      #expect(pauses.unreadSince == 100 * Self.second)
    }
    _ = pauses.begin(at: 111 * Self.second + 1, found: 9)
    #expect(!pauses.isCatchingUp)
  }

  @Test func `A turn that takes long does not mean that everything is read`() {
    var pauses = LoopPauses(100 * Self.second)
    _ = pauses.begin(at: 110 * Self.second, found: 9)
    _ = pauses.begin(at: 112 * Self.second, found: 9)
    #expect(pauses.unreadSince == 100 * Self.second)
  }

  @Test func `A pause right after another one makes what is unread older`() {
    var pauses = LoopPauses(100 * Self.second)
    _ = pauses.begin(at: 110 * Self.second, found: 9)
    let isOver = pauses.begin(at: 120 * Self.second, found: 9)
    #expect(isOver && pauses.unreadSince == 100 * Self.second)
  }
}
