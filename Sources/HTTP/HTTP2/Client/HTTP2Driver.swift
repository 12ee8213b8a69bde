import BorealisBase
import BorealisNet

/// Runs any number of pools on one event loop. Made on the loop's thread, lives as long as the loop, and
/// never leaves it; other threads hold its address.
package final class HTTP2Driver: LoopDriver {
  enum Mail: Sendable {
    case add(HTTP2Pool, HTTP2PoolConfiguration, @Sendable () -> any HTTP2PoolSource)
    case wake(HTTP2Pool)
    case resolved(connection: UInt64, addresses: [String], rotation: Int)
  }

  /// The address of this loop's pools. May be used from any thread.
  package struct Address: Sendable {
    let mailbox: Mailbox<Mail>

    func post(_ mail: Mail) { mailbox.post(mail) }
  }

  /// The parameter of `HTTP2Pool`.
  package let address: Address
  let time: any TimeSource
  /// The read buffer of all connections.
  var buffer = [UInt8](repeating: 0, count: 8 << 10)
  /// The event list of all connections.
  var events: [HTTP2Event] = []

  private unowned let loop: EventLoop
  private let resolver: NameResolver
  private var index: UInt8 = 0
  private var runners: [ObjectIdentifier: HTTP2PoolRunner] = [:]
  /// Those of pools that other threads hold.
  private var pools: [ObjectIdentifier: HTTP2PoolRunner] = [:]
  /// Connections whose host is being looked up: their pools are there.
  private var resolving: [UInt64: HTTP2ClientConnection] = [:]
  private var sockets = Slab<HTTP2ClientConnection?>(blank: nil)
  private var dirty: [HTTP2PoolRunner] = []
  private var waiting: [(time: UInt64, runner: HTTP2PoolRunner)] = []
  private var nextNumber: UInt64 = 0

  /// Adds a driver to a loop. Drivers of several loops may share a resolver.
  package init(loop: EventLoop, resolver: NameResolver = .init(), time: any TimeSource = SystemTime()) {
    self.loop = loop
    self.resolver = resolver
    self.time = time
    address = Address(mailbox: Mailbox(of: loop.handle))
    index = loop.add(self)
  }

  // MARK: The loop's calls

  /// A socket is ready.
  package func ready(_ token: ConnectionToken, _ readiness: Readiness) {
    guard sockets.isCurrent(token.slot, token.generation), let connection = sockets[token.slot] else {
      return
    }
    connection.proceed()
    connection.pool.markDirty(connection)
  }

  /// There are messages of other threads.
  package func drainMail() {
    for mail in address.mailbox.drain() {
      switch mail {
      case .add(let pool, let configuration, let makeSource):
        pools[ObjectIdentifier(pool)] = add(configuration, makeSource(), for: pool)
      case .wake(let pool): if let runner = pools[ObjectIdentifier(pool)] { markDirty(runner) }
      case .resolved(let number, let addresses, let rotation):
        guard let connection = resolving.removeValue(forKey: number) else { continue }
        connection.start(addresses: addresses, rotation: rotation)
        markDirty(connection.pool)
      }
    }
  }

  /// Starts a pool that no other thread holds.
  package func add(_ configuration: HTTP2PoolConfiguration, _ source: any HTTP2PoolSource) -> HTTP2PoolRunner
  {
    add(configuration, source, for: nil)
  }

  private func add(
    _ configuration: HTTP2PoolConfiguration, _ source: any HTTP2PoolSource, for pool: HTTP2Pool?
  ) -> HTTP2PoolRunner {
    let runner = HTTP2PoolRunner(configuration, source, for: pool, driver: self)
    runners[ObjectIdentifier(runner)] = runner
    markDirty(runner)
    return runner
  }

  /// Checks deadlines.
  package func tick() { for runner in runners.values { runner.tick() } }

  /// Sends what was queued and delivers results.
  package func endTurn() -> Bool {
    wakeWaiting()
    var list: [HTTP2PoolRunner] = []
    swap(&list, &dirty)
    for runner in list {
      runner.isDirty = false
      if runner.turn() { markDirty(runner) }
      if runner.isOver {
        runners[ObjectIdentifier(runner)] = nil
        if let pool = runner.pool { pools[ObjectIdentifier(pool)] = nil }
      }
    }
    for entry in waiting { loop.wake(by: entry.time) }
    return !dirty.isEmpty
  }

  private func wakeWaiting() {
    guard !waiting.isEmpty else { return }
    let now = loop.now
    for entry in waiting where entry.time <= now { markDirty(entry.runner) }
    waiting.removeAll { $0.time <= now }
  }

  // MARK: For pools and connections

  /// The loop's time in nanoseconds.
  var now: UInt64 { loop.now }

  func markDirty(_ runner: HTTP2PoolRunner) {
    guard !runner.isDirty else { return }
    runner.isDirty = true
    dirty.append(runner)
  }

  /// Gives a pool a turn at a time.
  func wake(_ runner: HTTP2PoolRunner, by time: UInt64) {
    if let known = waiting.firstIndex(where: { $0.runner === runner }) {
      waiting[known].time = min(waiting[known].time, time)
    } else {
      waiting.append((time, runner))
    }
  }

  func makeConnection(for runner: HTTP2PoolRunner) -> HTTP2ClientConnection {
    nextNumber &+= 1
    return HTTP2ClientConnection(pool: runner, driver: self, number: nextNumber)
  }

  /// Looks up the host of a connection; the addresses come by mail.
  func resolve(_ connection: HTTP2ClientConnection, rotation: Int) {
    let host = connection.unresolved
    guard !NameResolver.isNumeric(host) else {
      connection.start(addresses: [host], rotation: 0)
      return
    }
    resolving[connection.number] = connection
    resolver.resolve(host) { [address, number = connection.number] addresses in
      address.post(.resolved(connection: number, addresses: addresses, rotation: rotation))
    }
  }

  /// A connection ends whose host is being looked up.
  func forget(_ connection: HTTP2ClientConnection) { resolving[connection.number] = nil }

  /// Watches a connection; nil if the kernel refuses.
  func watch(_ connection: HTTP2ClientConnection, _ transport: HTTP2Transport) -> ConnectionToken? {
    let (slot, generation) = sockets.insert(connection)
    let token = ConnectionToken(driver: index, generation: generation, slot: slot)
    guard transport.connection.watch(token, on: loop) else {
      sockets.remove(slot)
      return nil
    }
    return token
  }

  func settle(_ transport: HTTP2Transport, _ token: ConnectionToken) {
    transport.connection.settle(token, on: loop)
  }

  /// Closes a connection; without a token it was not watched.
  func close(_ transport: HTTP2Transport, _ token: ConnectionToken?, isOrderly: Bool) {
    if let token { sockets.remove(token.slot) }
    if isOrderly { transport.connection.close(on: loop) } else { transport.connection.cut(on: loop) }
  }
}
