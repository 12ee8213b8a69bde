import BorealisBase
import Dispatch
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
    await awaitCallback { (end: @escaping @Sendable (()) -> Void) in
      while !work.run(for: 1, { end(()) }) {}
    }
    #expect(done.withLock { $0 } == [1, 2, 3, 1])
  }

  /// Each number is an owner, 0 for none; the first job holds the thread while the others are queued.
  @Test(
    arguments: [
      ([1, 1, 1, 1, 2], [1, 2, 1, 1, 1]), ([1, 1, 1, 2, 2, 3], [1, 2, 3, 1, 2, 1]),
      ([1, 2, 2, 1, 3, 1], [1, 2, 3, 1, 2, 1]), ([0, 0, 1, 0, 1, 2], [0, 1, 2, 0, 1, 0]),
      ([0, 0, 0], [0, 0, 0]),
    ] as [([UInt32], [UInt32])])
  func `Owners take turns, and each one's jobs keep their order`(queued: [UInt32], expected: [UInt32]) async {
    let work = BackgroundWork("test", limit: 8)
    let gate = DispatchSemaphore(value: 0)
    let done = Mutex<[(owner: UInt32, place: Int)]>([])
    await awaitCallback { (end: @escaping @Sendable (()) -> Void) in
      for (place, owner) in queued.enumerated() {
        let job: @Sendable () -> Void = {
          gate.wait()
          let count = done.withLock { done in
            done.append((owner, place))
            return done.count
          }
          if count == queued.count { end(()) }
        }
        #expect(owner == 0 ? work.run(job) : work.run(for: owner, job))
      }
      for _ in queued { gate.signal() }
    }
    let found = done.withLock { $0 }
    #expect(found.map(\.owner) == expected)
    for owner in Set(queued) {
      let places = found.filter { $0.owner == owner }.map(\.place)
      #expect(places == places.sorted())
    }
  }
}
