import Dispatch
import PushBase
import PushTesting
import Synchronization
import Testing

@Suite struct BackgroundWorkTests {
  @Test func `Each owner may have a few jobs in the line, and all together not more than it holds`() async {
    let work = BackgroundWork("test", limit: 4, limitOfEach: 2)
    let gate = DispatchSemaphore(value: 0)
    let done = Mutex<[UInt32]>([])
    let taken = [UInt32(1), 1, 1, 2, 3, 4].map { owner in
      work.run(for: owner) {
        gate.wait()
        done.withLock { $0.append(owner) }
      }
    }
    #expect(taken == [true, true, false, true, true, false])
    for _ in 0..<4 { gate.signal() }
    // Behind the others, as soon as there is room.
    await awaitCallback { (end: @escaping @Sendable (()) -> Void) in
      while !work.run(for: 9, { end(()) }) {}
    }
    #expect(done.withLock { $0 } == [1, 1, 2, 3])
    await awaitCallback { (end: @escaping @Sendable (()) -> Void) in
      while !work.run(for: 1, { end(()) }) {}
    }
  }
}
