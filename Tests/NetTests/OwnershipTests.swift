import BorealisBase
import Synchronization
import Testing

@testable import BorealisNet

/// Each test provokes what a precondition or an assertion stops at.
@Suite(.timeLimit(.minutes(1))) struct OwnershipTests {
  @Test func `A slot that is given back twice stops the process`() async {
    let end = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      var slab = Slab(blank: 0)
      let (slot, _) = slab.insert(1)
      for _ in 0..<2 { slab.remove(slot) }
    }
    #expect(end?.says("a slot is given back twice") == true)
  }

  @Test func `A slot that is given out twice stops the process`() async {
    let end = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      var slab = Slab(blank: 0)
      let (slot, _) = slab.insert(1)
      slab.free.append(slot)
      _ = slab.insert(2)
    }
    #expect(end?.says("a slot is given out twice") == true)
  }

  @Test func `A late report about an earlier connection in a slot reaches nobody`() {
    var slab = Slab(blank: 0)
    let (slot, first) = slab.insert(1)
    #expect(slab.isCurrent(slot, first))
    slab.remove(slot)
    #expect(!slab.isCurrent(slot, first))
    let (again, second) = slab.insert(2)
    #expect(again == slot && !slab.isCurrent(slot, first) && slab.isCurrent(slot, second))
  }

  @Test func `Another thread than a loop's that touches the loop stops the process`() async {
    let end = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let handle = try LoopHandle(index: 0)
      let loop = Mutex<LoopBox?>(nil)
      let isThere = Semaphore()
      try handle.start { _ in
      } failed: { _ in
      }
      handle.post { mine in
        let box = LoopBox(value: mine)
        loop.withLock { $0 = box }
        isThere.signal()
      }
      isThere.wait()
      _ = loop.withLock { $0 }?.value.watch(0, ConnectionToken(driver: 0, generation: 0, slot: 0), .readable)
    }
    #expect(end?.says("a loop is touched by its own thread alone") == true)
  }

  @Test func `TLS behind what may have been sent without stops the process`() async {
    let end = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      var connection = Connection()
      try connection.secure(with: try TLSContext.client(verifies: false), peerName: nil)
    }
    #expect(end?.says("bytes may have been sent without TLS") == true)
  }
}

/// Takes a loop where it must not be.
private struct LoopBox: @unchecked Sendable {
  let value: EventLoop
}

extension ExitTest.Result {
  fileprivate func says(_ message: String) -> Bool {
    String(decoding: standardErrorContent, as: UTF8.self).contains(message)
  }
}
