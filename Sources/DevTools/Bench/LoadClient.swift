import BorealisNet
import CLinux

/// Holds many connections on one thread with epoll and lets drivers speak their protocols on them.
///
/// It does as little as it can for each message, since in every measurement here it shares the processor with
/// the server: one wait for up to 512 sockets, one read for each ready socket, no copy unless a message came
/// in pieces.
final class LoadClient {
  private struct Line {
    var connection = Connection()
    var generation: UInt32 = 0
    var driver = 0
    var member = 0
    var tls: TLSClient?
    /// Bytes that came and were not used up yet.
    var unread: [UInt8] = []
  }

  private let epoll: Int32
  private var readBuffer = [UInt8](repeating: 0, count: 64 * 1024)
  private var scratch: [UInt8] = []
  private var events = [cl_event](repeating: cl_event(), count: 512)
  private var lines: [Line] = []
  private var freeSlots: [Int] = []
  private var drivers: [any LoadDriver] = []

  init() throws(BenchError) {
    epoll = try BenchError.check(cl_epoll_create(), "epoll_create1")
  }

  deinit {
    for index in lines.indices { lines[index].connection.cut() }
    _ = cl_close(epoll)
  }

  /// How many connections are open.
  var openCount: Int { lines.count - freeSlots.count }

  /// Opens a connection; the driver is called immediately, or after the handshake with TLS.
  @discardableResult
  func connect(
    to endpoint: Endpoint, driver: any LoadDriver, member: Int, tls: TLSClient? = nil,
    from source: UInt32? = nil
  ) throws(BenchError) -> Link {
    let descriptor = try endpoint.connect(from: source)
    let slot = freeSlots.popLast() ?? lines.count
    if slot == lines.count { lines.append(Line()) }
    lines[slot].connection = Connection(connecting: descriptor)
    lines[slot].driver = index(of: driver)
    lines[slot].member = member
    lines[slot].tls = tls
    try tls?.secure(&lines[slot].connection, member: member)
    try BenchError.check(
      cl_epoll_add(epoll, descriptor, Readiness.readable.rawValue, token(slot)), "epoll_ctl")
    let link = link(slot)
    proceed(link)
    return link
  }

  /// Sends what the socket takes and keeps the rest until it takes more.
  func send(_ link: Link, _ bytes: [UInt8]) {
    guard isCurrent(link) else { return }
    // A broken connection shows at the next read.
    _ = lines[link.slot].connection.send(SharedFrame(bytes))
    settle(link.slot)
  }

  /// Closes a connection; with a reset, so that no port stays in use for a minute.
  func close(_ link: Link) {
    guard isCurrent(link) else { return }
    release(link.slot)
  }

  /// Closes all connections of a driver.
  func closeAll(of driver: any LoadDriver) {
    let number = index(of: driver)
    for slot in lines.indices where lines[slot].connection.stage != .closed && lines[slot].driver == number {
      close(link(slot))
    }
  }

  /// Waits for sockets until the deadline at the latest and lets the drivers handle those that are ready.
  func poll(until deadline: UInt64) {
    let now = cl_monotonic_ns()
    var wake = deadline
    for driver in drivers {
      if let due = driver.turn(now, self) { wake = min(wake, due) }
    }
    let wait = wake > now ? Int64((wake - now + 999) / 1000) : 0
    let count = Int(cl_epoll_wait(epoll, &events, 512, wait))
    for index in 0..<max(0, count) { dispatch(events[index]) }
  }

  /// Polls until a condition holds. It may be of another thread, which wakes nobody here.
  func poll(_ what: String, seconds: Double, until condition: () -> Bool) throws(BenchError) {
    let deadline = cl_monotonic_ns() + UInt64(seconds * 1e9)
    while !condition() {
      let now = cl_monotonic_ns()
      guard now < deadline else { throw .timedOut(what) }
      poll(until: min(deadline, now + 1_000_000))
    }
  }

  /// Polls for a while.
  func rest(seconds: Double) {
    let deadline = cl_monotonic_ns() + UInt64(seconds * 1e9)
    while cl_monotonic_ns() < deadline { poll(until: deadline) }
  }

  private func index(of driver: any LoadDriver) -> Int {
    if let found = drivers.firstIndex(where: { $0 === driver }) { return found }
    drivers.append(driver)
    return drivers.count - 1
  }

  private func isCurrent(_ link: Link) -> Bool { lines[link.slot].generation == link.generation }

  private func dispatch(_ event: cl_event) {
    let slot = Int(event.token & 0xffff_ffff)
    guard lines[slot].generation == UInt32(truncatingIfNeeded: event.token >> 32),
      lines[slot].connection.stage != .closed
    else { return }
    let link = link(slot)
    let readiness = Readiness(rawValue: event.events)
    guard lines[slot].connection.stage == .open else { return proceed(link) }
    if lines[slot].connection.canSend(readiness) {
      _ = lines[slot].connection.flush(scratch: &scratch)
      settle(slot)
    }
    if lines[slot].connection.canRead(readiness) { read(link) }
  }

  /// Continues an opening connection; bytes that arrive with the end of a handshake are read immediately.
  private func proceed(_ link: Link) {
    switch lines[link.slot].connection.proceed() {
    case .inProgress: settle(link.slot)
    case .open:
      settle(link.slot)
      lines[link.slot].tls?.opened(lines[link.slot].connection)
      drivers[lines[link.slot].driver].opened(link, self)
      if isCurrent(link), lines[link.slot].tls != nil { read(link) }
    case .unreachable, .failed: drop(link)
    }
  }

  private func read(_ link: Link) {
    repeat {
      switch lines[link.slot].connection.read(into: &readBuffer) {
      case .bytes(let count): deliver(link, count)
      case .nothing: return settle(link.slot)
      case .ended, .failed: return drop(link)
      }
    } while isCurrent(link) && lines[link.slot].connection.hasUnread
  }

  private func deliver(_ link: Link, _ count: Int) {
    let driver = drivers[lines[link.slot].driver]
    // Taken out for the call, so that the driver may use the whole client; nothing is copied.
    var bytes: [UInt8] = []
    swap(&bytes, &readBuffer)
    defer { swap(&bytes, &readBuffer) }
    if lines[link.slot].unread.isEmpty {
      let used = driver.received(link, bytes.span.extracting(0..<count), self)
      guard used < count, isCurrent(link) else { return }
      lines[link.slot].unread = Array(bytes[used..<count])
    } else {
      var unread: [UInt8] = []
      swap(&unread, &lines[link.slot].unread)
      unread += bytes[..<count]
      let used = driver.received(link, unread.span, self)
      guard isCurrent(link) else { return }
      unread.removeFirst(used)
      lines[link.slot].unread = unread
    }
  }

  private func settle(_ slot: Int) {
    guard let wanted = lines[slot].connection.updateInterest() else { return }
    _ = cl_epoll_modify(epoll, lines[slot].connection.descriptor, wanted.rawValue, token(slot))
  }

  private func link(_ slot: Int) -> Link {
    Link(slot: slot, generation: lines[slot].generation, member: lines[slot].member)
  }

  private func token(_ slot: Int) -> UInt64 { UInt64(lines[slot].generation) << 32 | UInt64(slot) }

  private func drop(_ link: Link) {
    let driver = drivers[lines[link.slot].driver]
    release(link.slot)
    driver.closed(link, self)
  }

  private func release(_ slot: Int) {
    lines[slot].tls?.closed(lines[slot].connection, member: lines[slot].member)
    lines[slot].connection.reset()
    lines[slot] = Line(generation: lines[slot].generation &+ 1)
    freeSlots.append(slot)
  }
}
