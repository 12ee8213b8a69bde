import CLinux
import Glibc

/// Holds many connections on one thread with epoll and lets drivers speak their protocols on them.
///
/// It does as little as it can for each message, since in every measurement here it shares the processor with
/// the server: one wait for up to 512 sockets, one read for each ready socket, no copy unless a message came
/// in pieces.
final class LoadClient {
  private struct Connection {
    var descriptor: Int32 = -1
    var generation: UInt32 = 0
    var driver = 0
    var member = 0
    var tls: TLSLink?
    /// Bytes that came and were not used up yet.
    var unread: [UInt8] = []
    /// Bytes that the socket had no room for.
    var unsent: [UInt8] = []
  }

  private let epoll: Int32
  private let readBuffer: UnsafeMutableBufferPointer<UInt8>
  private var events = [cl_event](repeating: cl_event(), count: 512)
  private var connections: [Connection] = []
  private var freeSlots: [Int] = []
  private var drivers: [any LoadDriver] = []

  init() throws(BenchError) {
    epoll = try BenchError.check(cl_epoll_create(), "epoll_create1")
    readBuffer = .allocate(capacity: 64 * 1024)
  }

  deinit {
    for connection in connections where connection.descriptor >= 0 { _ = cl_close(connection.descriptor) }
    _ = cl_close(epoll)
    readBuffer.deallocate()
  }

  /// How many connections are open.
  var openCount: Int { connections.count - freeSlots.count }

  /// Opens a connection; the driver hears at once, or after the handshake when TLS is asked for.
  @discardableResult
  func connect(
    to endpoint: Endpoint, driver: any LoadDriver, member: Int, tls: TLSClient? = nil
  ) throws(BenchError) -> Link {
    let descriptor = try endpoint.connect()
    let slot = freeSlots.popLast() ?? connections.count
    if slot == connections.count { connections.append(Connection()) }
    connections[slot].descriptor = descriptor
    connections[slot].driver = index(of: driver)
    connections[slot].member = member
    let link = link(slot)
    try BenchError.check(cl_epoll_add(epoll, descriptor, UInt32(CL_IN), token(slot)), "epoll_ctl")
    if let tls {
      connections[slot].tls = try tls.open(descriptor, member: member)
      handshake(link)
    } else {
      driver.opened(link, self)
    }
    return link
  }

  /// Sends what the socket takes and keeps the rest until it takes more.
  func send(_ link: Link, _ bytes: [UInt8]) {
    guard connections[link.slot].generation == link.generation else { return }
    guard connections[link.slot].unsent.isEmpty else {
      connections[link.slot].unsent += bytes
      return
    }
    let sent = write(link.slot, bytes)
    if sent < bytes.count {
      connections[link.slot].unsent = Array(bytes[sent...])
      watch(link.slot, UInt32(CL_IN | CL_OUT))
    }
  }

  /// Closes a connection; with a reset, so that no port stays in use for a minute.
  func close(_ link: Link) {
    guard connections[link.slot].generation == link.generation else { return }
    var reset = linger(l_onoff: 1, l_linger: 0)
    setsockopt(
      connections[link.slot].descriptor, SOL_SOCKET, SO_LINGER, &reset, socklen_t(MemoryLayout<linger>.size))
    release(link.slot)
  }

  /// Closes all connections of a driver.
  func closeAll(of driver: any LoadDriver) {
    let number = index(of: driver)
    for slot in connections.indices
    where connections[slot].descriptor >= 0 && connections[slot].driver == number {
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

  /// Polls until a condition holds.
  func poll(_ what: String, seconds: Double, until condition: () -> Bool) throws(BenchError) {
    let deadline = cl_monotonic_ns() + UInt64(seconds * 1e9)
    while !condition() {
      guard cl_monotonic_ns() < deadline else { throw .timedOut(what) }
      poll(until: deadline)
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

  private func dispatch(_ event: cl_event) {
    let slot = Int(event.token & 0xffff_ffff)
    let generation = UInt32(truncatingIfNeeded: event.token >> 32)
    guard connections[slot].generation == generation, connections[slot].descriptor >= 0 else { return }
    let link = link(slot)
    if event.events & UInt32(CL_OUT) != 0 { flush(slot) }
    guard event.events & ~UInt32(CL_OUT) != 0 else { return }
    if connections[slot].tls == nil {
      read(link)
    } else if connections[slot].tls?.isOpen == true {
      readTLS(link)
    } else {
      handshake(link)
    }
  }

  private func read(_ link: Link) {
    let count = cl_read(connections[link.slot].descriptor, readBuffer.baseAddress, readBuffer.count)
    if count == -Int(EAGAIN) { return }
    guard count > 0 else { return drop(link) }
    deliver(link, count)
  }

  private func readTLS(_ link: Link) {
    while let tls = connections[link.slot].tls {
      switch tls.read(into: readBuffer) {
      case .bytes(let count): deliver(link, count)
      case .needMore: return
      case .closed: return drop(link)
      }
    }
  }

  private func handshake(_ link: Link) {
    guard let tls = connections[link.slot].tls else { return }
    switch tls.handshake() {
    case .bytes:
      drivers[connections[link.slot].driver].opened(link, self)
      readTLS(link)
    case .needMore: return
    case .closed: drop(link)
    }
  }

  private func deliver(_ link: Link, _ count: Int) {
    let driver = drivers[connections[link.slot].driver]
    if connections[link.slot].unread.isEmpty {
      let bytes = UnsafeBufferPointer(rebasing: readBuffer[..<count])
      let used = driver.received(link, bytes.span, self)
      guard used < count, connections[link.slot].generation == link.generation else { return }
      connections[link.slot].unread = Array(bytes[used...])
    } else {
      var bytes: [UInt8] = []
      swap(&bytes, &connections[link.slot].unread)
      bytes += readBuffer[..<count]
      let used = driver.received(link, bytes.span, self)
      guard connections[link.slot].generation == link.generation else { return }
      bytes.removeFirst(used)
      connections[link.slot].unread = bytes
    }
  }

  private func write(_ slot: Int, _ bytes: [UInt8]) -> Int {
    if let tls = connections[slot].tls { return tls.write(bytes) }
    let sent = bytes.withUnsafeBytes { cl_send(connections[slot].descriptor, $0.baseAddress, $0.count) }
    // A broken connection shows at the next read.
    return sent == -Int(EAGAIN) ? 0 : sent < 0 ? bytes.count : sent
  }

  private func flush(_ slot: Int) {
    let sent = write(slot, connections[slot].unsent)
    connections[slot].unsent.removeFirst(sent)
    if connections[slot].unsent.isEmpty { watch(slot, UInt32(CL_IN)) }
  }

  private func watch(_ slot: Int, _ interest: UInt32) {
    _ = cl_epoll_modify(epoll, connections[slot].descriptor, interest, token(slot))
  }

  private func link(_ slot: Int) -> Link {
    Link(slot: slot, generation: connections[slot].generation, member: connections[slot].member)
  }

  private func token(_ slot: Int) -> UInt64 { UInt64(connections[slot].generation) << 32 | UInt64(slot) }

  private func drop(_ link: Link) {
    let driver = drivers[connections[link.slot].driver]
    release(link.slot)
    driver.closed(link, self)
  }

  private func release(_ slot: Int) {
    _ = cl_close(connections[slot].descriptor)
    connections[slot] = Connection(generation: connections[slot].generation &+ 1)
    freeSlots.append(slot)
  }
}
