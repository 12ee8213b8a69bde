import BorealisBase
import Testing

/// The discipline of locks: each test provokes what debug builds stop at.
@Suite(.timeLimit(.minutes(1))) struct LockRankTests {
  @Test func `A lock inside one of its own rank stops the process`() async {
    let end = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let one = OrderedMutex(1)
      let two = OrderedMutex(2)
      one.withLock { _ in two.withLock { _ in } }
    }
    #expect(end?.says("a lock of rank 2 is needed inside one of rank 2") == true)
  }

  @Test func `An outer lock inside a leaf stops the process`() async {
    let end = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let leaf = OrderedMutex(1)
      let outer = OrderedMutex(2, .outer)
      leaf.withLock { _ in outer.withLock { _ in } }
    }
    #expect(end?.says("a lock of rank 1 is needed inside one of rank 2") == true)
  }

  @Test func `In their order, and one after the other, locks are taken`() async {
    await #expect(processExitsWith: .success) {
      let leaf = OrderedMutex(1)
      let outer = OrderedMutex(2, .outer)
      outer.withLock { _ in
        for _ in 0..<2 { leaf.withLock { _ in } }
      }
      leaf.withLock { _ in }
      LockRank.outer.assertFree()
    }
  }

  @Test func `A second call of a callback stops the process`() async {
    let end = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let _: Int = await awaitCallback { done in
        done(1)
        done(2)
      }
    }
    #expect(end?.says("called back twice") == true)
  }
}

extension ExitTest.Result {
  fileprivate func says(_ message: String) -> Bool {
    String(decoding: standardErrorContent, as: UTF8.self).contains(message)
  }
}
