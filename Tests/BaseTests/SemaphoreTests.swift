import BorealisBase
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(1))) struct SemaphoreTests {
  @Test func `Each signal lets one thread go on, whichever comes first`() throws {
    let (begun, semaphore, ended) = (Semaphore(), Semaphore(), Semaphore())
    let count = Atomic(0)
    semaphore.signal()
    for index in 0..<3 {
      let body: @Sendable () -> Void = {
        begun.signal()
        semaphore.wait()
        count.add(1, ordering: .relaxed)
        ended.signal()
      }
      try SystemThread.start("test-\(index)", body)
    }
    for _ in 0..<3 { begun.wait() }
    ended.wait()
    // The signal is used up.
    #expect(!ended.wait(until: SystemTime().monotonic() + 20_000_000))
    #expect(count.load(ordering: .relaxed) == 1)
    for _ in 0..<2 { semaphore.signal() }
    for _ in 0..<2 { ended.wait() }
    #expect(count.load(ordering: .relaxed) == 3)
  }

  @Test func `A deadline ends the waiting, and takes a signal that is there`() {
    let semaphore = Semaphore()
    let start = SystemTime().monotonic()
    #expect(!semaphore.wait(until: 0))
    #expect(!semaphore.wait(until: start + 30_000_000))
    #expect(SystemTime().monotonic() >= start + 30_000_000)
    semaphore.signal()
    #expect(semaphore.wait(until: 0))
    #expect(!semaphore.wait(until: 0))
    semaphore.signal()
    #expect(semaphore.wait(until: .max))
  }
}
