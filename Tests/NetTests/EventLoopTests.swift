import BorealisNet
import CLinux
import Glibc
import PushTesting
import Synchronization
import Testing

/// Sends back what it reads, the smallest driver that uses everything a loop offers.
private final class EchoDriver: LoopDriver {
  private struct Connection {
    var descriptor: Int32 = -1
    var queue = OutboundQueue()
  }

  private let loop: EventLoop
  private var index: UInt8 = 0
  private var slab = Slab(blank: Connection())
  private var dirty: [UInt32] = []
  private var buffer = [UInt8](repeating: 0, count: 1024)
  private var scratch: [UInt8] = []
  private let mailbox: Mailbox<String>
  private let seen: @Sendable (String) -> Void

  init(_ loop: EventLoop, _ mailbox: Mailbox<String>, seen: @escaping @Sendable (String) -> Void) {
    self.loop = loop
    self.mailbox = mailbox
    self.seen = seen
    index = loop.add(self)
  }

  func accept(_ descriptor: Int32) {
    let (slot, generation) = slab.insert(Connection(descriptor: descriptor))
    _ = loop.watch(descriptor, ConnectionToken(driver: index, generation: generation, slot: slot), .readable)
  }

  func ready(_ token: ConnectionToken, _ readiness: Readiness) {
    guard slab.isCurrent(token.slot, token.generation) else { return }
    let descriptor = slab[token.slot].descriptor
    guard let count = try? Socket.read(descriptor, into: &buffer), count > 0 else {
      loop.close(descriptor)
      slab.remove(token.slot)
      return
    }
    slab[token.slot].queue.append(SharedFrame(Array(buffer[..<count])))
    dirty.append(token.slot)
  }

  func drainMail() { for message in mailbox.drain() { seen(message) } }

  func tick() {}

  func endTurn() -> Bool {
    for slot in dirty where slab[slot].descriptor >= 0 {
      let descriptor = slab[slot].descriptor
      _ = slab[slot].queue.flush(scratch: &scratch) { Socket.send(descriptor, $0, from: $1) }
    }
    dirty.removeAll()
    return false
  }
}

@Suite struct EventLoopTests {
  /// Several connections to one loop each get their own bytes back, mail arrives in order, and stop ends the
  /// thread.
  @Test func echoesAndTakesMail() async throws {
    let listener = try SystemError.check(cl_listen("127.0.0.1", 0, 16, 1), "listen")
    let port = try SystemError.check(cl_local_port(listener), "getsockname")
    let handle = try LoopHandle(index: 0)
    let mailbox = Mailbox<String>(of: handle)
    let (mail, mailIn) = AsyncStream<String>.makeStream()
    try handle.start(
      { loop throws(SystemError) in
        let driver = EchoDriver(loop, mailbox) { mailIn.yield($0) }
        try loop.listen(listener) { driver.accept($0) }
      }, failed: { _ in mailIn.finish() })
    for number in 0..<5 { mailbox.post("\(number)") }
    var got: [String] = []
    for await message in mail.prefix(5) { got.append(message) }
    #expect(got == ["0", "1", "2", "3", "4"])
    let clients = try (0..<20).map { _ in try BlockingClient(port: UInt16(port)) }
    for (number, client) in clients.enumerated() { try client.write("hello \(number)") }
    for (number, client) in clients.enumerated() {
      #expect(try client.read(count: "hello \(number)".utf8.count) == "hello \(number)")
    }
    handle.post { loop in
      loop.stop()
      mailIn.finish()
    }
    for await _ in mail {}
  }

  /// Neither connections nor bytes are seen, while mail is; afterwards all of them are there.
  @Test func `A loop that rests leaves sockets alone`() async throws {
    let listener = try SystemError.check(cl_listen("127.0.0.1", 0, 16, 1), "listen")
    let port = UInt16(try SystemError.check(cl_local_port(listener), "getsockname"))
    let handle = try LoopHandle(index: 0)
    let mailbox = Mailbox<String>(of: handle)
    let (mail, mailIn) = AsyncStream<String>.makeStream()
    try handle.start(
      { loop throws(SystemError) in
        let driver = EchoDriver(loop, mailbox) { mailIn.yield($0) }
        try loop.listen(listener) { descriptor in
          mailIn.yield("connection")
          driver.accept(descriptor)
        }
      }, failed: { _ in mailIn.finish() })
    var seen = mail.makeAsyncIterator()
    let first = try BlockingClient(port: port)
    try first.write("a")
    #expect(try first.read(count: 1) == "a")
    #expect(await seen.next() == "connection")
    for _ in 0..<3 {
      handle.post { loop in
        #expect((try? loop.rest()) != nil && loop.isResting)
        mailIn.yield("rests")
      }
      #expect(await seen.next() == "rests")
      let other = try BlockingClient(port: port)
      try first.write("b")
      try other.write("c")
      for word in ["one", "two"] {
        mailbox.post(word)
        #expect(await seen.next() == word)
      }
      handle.post { $0.wakeUp(unreadSince: $0.sinceBoot) }
      #expect(try first.read(count: 1) == "b" && other.read(count: 1) == "c")
      #expect(await seen.next() == "connection")
    }
    handle.post { $0.holdListeners(true) }
    let late = try BlockingClient(port: port)
    try late.write("d")
    try first.write("e")
    #expect(try first.read(count: 1) == "e")
    mailbox.post("held")
    #expect(await seen.next() == "held")
    handle.post { $0.holdListeners(false) }
    #expect(try late.read(count: 1) == "d")
    handle.post { loop in
      loop.stop()
      mailIn.finish()
    }
  }

  /// What the kernel has reported before the loop learns that it accepts nothing more stays in the kernel.
  @Test func `A listener that is held in a turn accepts nothing in it`() async throws {
    let listener = try SystemError.check(cl_listen("127.0.0.1", 0, 16, 1), "listen")
    let port = UInt16(try SystemError.check(cl_local_port(listener), "getsockname"))
    let early = try BlockingClient(port: port)
    let handle = try LoopHandle(index: 0)
    let mailbox = Mailbox<String>(of: handle)
    let (mail, mailIn) = AsyncStream<String>.makeStream()
    // Known before the loop looks for the first time, at both.
    handle.post { $0.holdListeners(true) }
    try handle.start(
      { loop throws(SystemError) in
        let driver = EchoDriver(loop, mailbox) { mailIn.yield($0) }
        try loop.listen(listener) { descriptor in
          mailIn.yield("connection")
          driver.accept(descriptor)
        }
      }, failed: { _ in mailIn.finish() })
    var seen = mail.makeAsyncIterator()
    for word in ["one", "two"] {
      mailbox.post(word)
      #expect(await seen.next() == word)
    }
    handle.post { $0.holdListeners(false) }
    #expect(await seen.next() == "connection")
    try early.write("a")
    #expect(try early.read(count: 1) == "a")
    handle.post { loop in
      loop.stop()
      mailIn.finish()
    }
  }

  /// While a loop rests, and while it is set up, its thread may do something else for long.
  @Test func `A loop that rests does not stand still, and what it reads afterwards is old`() async throws {
    final class Witness: LoopDriver {
      let mailbox: Mailbox<String>
      let seen: @Sendable (String) -> Void
      init(_ mailbox: Mailbox<String>, seen: @escaping @Sendable (String) -> Void) {
        (self.mailbox, self.seen) = (mailbox, seen)
      }
      func ready(_ token: ConnectionToken, _ readiness: Readiness) {}
      func drainMail() { for message in mailbox.drain() { seen(message) } }
      func tick() {}
      func endTurn() -> Bool { false }
      func stoodStill() { seen("stood still") }
    }
    let clock = ManualClock()
    let handle = try LoopHandle(index: 0, clock: { clock.monotonic() })
    let mailbox = Mailbox<String>(of: handle)
    let (mail, mailIn) = AsyncStream<String>.makeStream()
    try handle.start(
      { loop throws(SystemError) in
        _ = loop.add(Witness(mailbox) { mailIn.yield($0) })
        clock.advance(seconds: 10)
        try loop.rest()
      }, failed: { _ in mailIn.finish() })
    var seen = mail.makeAsyncIterator()
    for word in ["one", "two"] {
      clock.advance(seconds: 10)
      mailbox.post(word)
      #expect(await seen.next() == word)
    }
    handle.post { loop in
      clock.advance(seconds: 10)
      #expect(!loop.hasStoodStill)
      loop.wakeUp(unreadSince: loop.sinceBoot - 20_000_000_000)
      #expect(!loop.hasStoodStill && loop.unreadFor == 20_000_000_000 && loop.isCatchingUp)
      mailIn.yield("awake")
    }
    mailbox.post("three")
    #expect(await seen.next() == "awake")
    #expect(await seen.next() == "three")
    handle.post { _ in
      clock.advance(seconds: 10)
      mailIn.yield("stopped")
    }
    #expect(await seen.next() == "stopped")
    #expect(await seen.next() == "stood still")
    handle.post { loop in
      loop.stop()
      mailIn.finish()
    }
  }

  /// What another thread did before a peer wrote is known before the peer's bytes are read, however late the
  /// loop comes.
  @Test func mailComesBeforeWhatIsReadAfterIt() async throws {
    final class Recorder: LoopDriver {
      let mailbox: Mailbox<String>
      let seen: @Sendable (String) -> Void
      init(_ mailbox: Mailbox<String>, seen: @escaping @Sendable (String) -> Void) {
        (self.mailbox, self.seen) = (mailbox, seen)
      }
      func ready(_ token: ConnectionToken, _ readiness: Readiness) { seen("bytes") }
      func drainMail() { for message in mailbox.drain() { seen(message) } }
      func tick() {}
      func endTurn() -> Bool { false }
    }
    var pair: [Int32] = [-1, -1]
    try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0)
    let (ours, theirs) = (pair[0], pair[1])
    defer { close(theirs) }
    let handle = try LoopHandle(index: 0)
    let mailbox = Mailbox<String>(of: handle)
    let (order, orderIn) = AsyncStream<String>.makeStream()
    try handle.start(
      { loop throws(SystemError) in
        let index = loop.add(Recorder(mailbox) { orderIn.yield($0) })
        _ = loop.watch(ours, ConnectionToken(driver: index, generation: 0, slot: 0), .readable)
        // The loop comes to neither before both are there.
        mailbox.post("mail")
        _ = write(theirs, "x", 1)
      }, failed: { _ in orderIn.finish() })
    var got: [String] = []
    for await one in order.prefix(2) { got.append(one) }
    #expect(got == ["mail", "bytes"])
    handle.post { loop in
      loop.close(ours)
      loop.stop()
      orderIn.finish()
    }
    for await _ in order {}
  }

  /// Drivers and listeners refer to their loop, which must not keep all of them alive forever.
  @Test(.timeLimit(.minutes(1))) func stoppedLoopLetsGo() async throws {
    final class Witness: Sendable {
      let gone: @Sendable () -> Void
      init(gone: @escaping @Sendable () -> Void) { self.gone = gone }
      deinit { gone() }
    }
    let listener = try SystemError.check(cl_listen("127.0.0.1", 0, 16, 1), "listen")
    let handle = try LoopHandle(index: 0)
    let (events, eventsIn) = AsyncStream<Void>.makeStream()
    try handle.start(
      { loop throws(SystemError) in
        let witness = Witness { eventsIn.finish() }
        let driver = EchoDriver(loop, Mailbox(of: loop.handle)) { _ in withExtendedLifetime(witness) {} }
        try loop.listen(listener) { driver.accept($0) }
        loop.stop()
      }, failed: { _ in })
    for await _ in events {}
  }
}

@Suite struct DeadlineWheelTests {
  /// Entries come up at their second, also far ahead ones and also after a long pause; extended ones later.
  @Test func entriesComeUpInTime() {
    for deadline in [101 as UInt32, 105, 611, 612, 613, 5000] {
      var wheel = DeadlineWheel(second: 100)
      wheel.add(.init(slot: 7, generation: 1), at: deadline)
      var fired: [UInt32] = []
      for second in 101...6000 as ClosedRange<UInt32> {
        wheel.advance(to: second) { entry, now in
          if now < deadline { return deadline }
          fired.append(now)
          #expect(entry.slot == 7)
          return nil
        }
      }
      #expect(fired == [deadline])
    }
    var wheel = DeadlineWheel(second: 0)
    for slot in 0..<2000 as Range<UInt32> { wheel.add(.init(slot: slot, generation: 0), at: slot % 500) }
    var count = 0
    wheel.advance(to: 100_000) { _, _ in
      count += 1
      return nil
    }
    #expect(count == 2000)
  }
}

@Suite struct SlabTests {
  /// A slot that was given back is recognised as another one afterwards.
  @Test func generationsChange() {
    var slab = Slab(blank: 0)
    let places = (1...3000).map { slab.insert($0) }
    #expect(slab.count == 3000)
    #expect(places.allSatisfy { slab.isCurrent($0.slot, $0.generation) })
    slab.remove(places[1234].slot)
    #expect(!slab.isCurrent(places[1234].slot, places[1234].generation))
    let again = slab.insert(-1)
    #expect(again.slot == places[1234].slot && again.generation != places[1234].generation)
    #expect(slab[places[2999].slot] == 3000)
    #expect(!slab.isCurrent(99_999, 0))
  }
}

@Suite struct OutboundQueueTests {
  /// Whatever amounts the socket takes, the bytes arrive whole, in order, and small frames leave together.
  @Test(arguments: [1, 2, 7, 100, 1000, 100_000]) func keepsOrder(taken: Int) {
    var queue = OutboundQueue()
    var expected: [UInt8] = []
    for number in 0..<200 {
      let frame = [UInt8](repeating: UInt8(number), count: 1 + number * 7 % 50)
      expected += frame
      queue.append(SharedFrame(frame))
    }
    #expect(queue.byteCount == expected.count)
    var got: [UInt8] = []
    var scratch: [UInt8] = []
    var calls = 0
    while !queue.isEmpty {
      let outcome = queue.flush(scratch: &scratch) { bytes, offset in
        calls += 1
        if calls.isMultiple(of: 3) { return .wouldBlock }
        let count = min(taken, bytes.count - offset)
        got += bytes[offset..<offset + count]
        return .sent(count)
      }
      #expect(outcome == .wouldBlock || outcome == .sent(0))
    }
    #expect(got == expected)
    if taken == 100_000 { #expect(calls == 1) }
  }
}
