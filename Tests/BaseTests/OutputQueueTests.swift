import BorealisBase
import PushTesting
import Testing

@Suite struct OutputQueueTests {
  private static func deadline(_ seconds: UInt64) -> UInt64 {
    SystemTime().monotonic() &+ seconds * 1_000_000_000
  }

  @Test(arguments: [false, true])
  func `Nobody waits for a reader that stands still, and what was dropped is told`(isNonblocking: Bool) throws
  {
    let pipe = TestPipe(isFull: true)
    pipe.isWaiting = !isNonblocking
    let queue = OutputQueue(pipe.writer, capacity: 25)
    try queue.start("output") { Array("\($0) dropped\n".utf8) }
    for number in 0..<10 { queue.write(Array("line \(number)...\n".utf8)) }
    #expect(queue.droppedLines == 8)
    #expect(!queue.flush(until: Self.deadline(0)))
    #expect(pipe.read(until: "line 1...\n").drop { $0 == "." } == "line 0...\n8 dropped\nline 1...\n")
    queue.write(Array("last\n".utf8))
    #expect(queue.flush(until: Self.deadline(60)))
    #expect(pipe.read(until: "last\n").hasSuffix("last\n"))
    #expect(queue.droppedLines == 8)
  }

  @Test func `Without a thread each line is written at once`() {
    let pipe = TestPipe()
    let queue = OutputQueue(pipe.writer)
    queue.write(Array("a\n".utf8))
    queue.write(Array("b\n".utf8))
    #expect(queue.flush(until: 0))
    #expect(pipe.read(until: "b\n") == "a\nb\n")
  }

  @Test func `Lines that cannot be written count as dropped`() {
    let queue = OutputQueue(-1)
    queue.write([10])
    #expect(queue.droppedLines == 1)
  }

  @Test func `What blocks traps where nothing may`() async {
    BlockingCall.assertAllowed()
    await #expect(processExitsWith: .failure) {
      BlockingCall.forbid()
      _ = Semaphore().wait(until: 0)
    }
    await #expect(processExitsWith: .success) {
      BlockingCall.forbid()
      BlockingCall.forbid(false)
      _ = Semaphore().wait(until: 0)
    }
  }
}
