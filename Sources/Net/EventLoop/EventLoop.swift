import BorealisBase
import CLinux
import Glibc

/// Names a connection to the kernel and back: which driver owns it, its slot there, and the slot's
/// generation, so that a report about a closed connection never reaches the one that took its slot.
package struct ConnectionToken: Hashable, Sendable {
  /// Index of the driver within its loop.
  package let driver: UInt8
  /// How often the slot was used before; only the low 24 bits count.
  package let generation: UInt32
  /// The driver's own index.
  package let slot: UInt32

  /// Puts a token together.
  package init(driver: UInt8, generation: UInt32, slot: UInt32) {
    self.driver = driver
    self.generation = generation & 0xff_ffff
    self.slot = slot
  }

  init(packed: UInt64) {
    self.init(
      driver: UInt8(packed >> 56), generation: UInt32(truncatingIfNeeded: packed >> 32),
      slot: UInt32(truncatingIfNeeded: packed))
  }

  var packed: UInt64 { UInt64(driver) << 56 | UInt64(generation) << 32 | UInt64(slot) }
}

/// Events that the kernel reports for a socket, or that a driver subscribes to (epoll's bits).
package struct Readiness: OptionSet, Sendable {
  /// The bits.
  package let rawValue: UInt32

  /// Wraps the bits.
  package init(rawValue: UInt32) { self.rawValue = rawValue }

  /// Bytes or the peer's end can be read.
  package static let readable = Readiness(rawValue: UInt32(CL_IN))
  /// There is room to write.
  package static let writable = Readiness(rawValue: UInt32(CL_OUT))
  /// The socket failed or both directions are closed; always reported.
  package static let broken = Readiness(rawValue: UInt32(CL_ERR | CL_HUP))
}

/// Owns the connections of one kind on one loop. All calls come from the loop's thread.
package protocol LoopDriver: AnyObject {
  /// A connection's socket is ready. The driver compares the generation before it touches the slot.
  func ready(_ token: ConnectionToken, _ readiness: Readiness)
  /// Another thread posted mail to this loop; it may be for this driver.
  func drainMail()
  /// About once a second.
  func tick()
  /// The process was stopped, or the machine suspended, for more than three seconds: called before anything
  /// else of the turn.
  func stoodStill()
  /// The end of each turn: what was queued for sockets leaves now. Returns true to get another turn at once.
  func endTurn() -> Bool
}

extension LoopDriver {
  /// Nothing of it depends on that.
  package func stoodStill() {}
}

/// One thread's event loop: epoll, the drivers it serves, and the work other threads post to it.
///
/// Not `Sendable` on purpose: it is made on its own thread and never leaves it. Others hold its `LoopHandle`.
package final class EventLoop {
  /// What other threads use to reach this loop.
  package let handle: LoopHandle
  /// Nanoseconds, read once a turn. Time in which the process was stopped or suspended does not count
  /// (`LoopClock`).
  package var now: UInt64 { clock.now }
  /// Nanoseconds on the system's clock, read now: unlike `now` it counts time in which the process was
  /// stopped or suspended.
  package var sinceBoot: UInt64 { handle.readClock() }
  /// How often the process was stopped or suspended for longer than a turn may take.
  package var pauses: Int { clock.pauses }

  /// For how many nanoseconds what is read in this turn may have waited at most: more than a moment if the
  /// process was stopped.
  package var unreadFor: UInt64 {
    let (reading, since) = (handle.readClock(), standstills.unreadSince)
    return reading > since ? reading - since : 0
  }
  /// Whether the process has been stopped since this turn began.
  package var hasStoodStill: Bool { !isResting && standstills.isPaused(at: handle.readClock()) }
  /// Whether what the process had before it was stopped may still be on its way to this loop.
  package var isCatchingUp: Bool { standstills.isCatchingUp }

  private static let eventCapacity = 256
  private static let listenerDriver: UInt8 = 255
  private static let wakeDriver: UInt8 = 254
  private static let tickInterval: UInt64 = 1_000_000_000

  private let epoll: Int32
  /// Watches nothing but the wake-up of other threads; only while the loop rests.
  private var bed: Int32 = -1
  private var clock: LoopClock
  private var standstills: LoopPauses
  /// Sockets that are watched, to bound how long a crowd of readable ones keeps the tick waiting.
  private(set) var watched = 0
  /// Looks in a row, since the tick is due, that found as many ready sockets as one look can report.
  private var fullLooks = 0
  private var drivers: [any LoopDriver] = []
  private var listeners: [Listener] = []
  private var nextTick: UInt64
  private var nextTurn = UInt64.max
  private var isStopped = false
  /// No listener accepts.
  private var holdsListeners = false
  /// The thread that serves, while it does.
  private var owner: pthread_t?

  private struct Listener {
    let descriptor: Int32
    let accept: (Int32) -> Void
    var isPaused = false
    var isOpen = true
  }

  init(handle: LoopHandle) throws(SystemError) {
    self.handle = handle
    epoll = try SystemError.check(cl_epoll_create(), "epoll_create1")
    clock = LoopClock(handle.readClock())
    standstills = LoopPauses(handle.readClock())
    nextTick = clock.now + Self.tickInterval
    try watchWakeUp(by: epoll)
  }

  deinit {
    _ = cl_close(epoll)
    if bed >= 0 { _ = cl_close(bed) }
  }

  private func watchWakeUp(by epoll: Int32) throws(SystemError) {
    let token = ConnectionToken(driver: Self.wakeDriver, generation: 0, slot: 0)
    try SystemError.check(
      cl_epoll_add_eventfd(epoll, handle.wakeDescriptor, token.packed), "epoll_ctl")
  }

  /// Adds a driver for the loop's whole life and returns its index for tokens. At most 200.
  package func add(_ driver: any LoopDriver) -> UInt8 {
    precondition(drivers.count < 200, "too many drivers on one loop")
    drivers.append(driver)
    return UInt8(drivers.count - 1)
  }

  /// Accepts connections from a listening socket, which the loop owns from now on. At most 64 a turn, so that
  /// a flood of connects leaves time for the connections that exist.
  package func listen(_ descriptor: Int32, accept: @escaping (Int32) -> Void) throws(SystemError) {
    let token = ConnectionToken(driver: Self.listenerDriver, generation: 0, slot: UInt32(listeners.count))
    try SystemError.check(
      cl_epoll_add(epoll, descriptor, Readiness.readable.rawValue, token.packed), "epoll_ctl")
    listeners.append(Listener(descriptor: descriptor, accept: accept))
  }

  /// Stops accepting on all listeners and closes them; connections live on.
  package func closeListeners() {
    for index in listeners.indices where listeners[index].isOpen {
      listeners[index].isOpen = false
      _ = cl_epoll_delete(epoll, listeners[index].descriptor)
      _ = cl_close(listeners[index].descriptor)
    }
  }

  /// Stops accepting on all listeners, or accepts again: until then connections wait in the kernel.
  package func holdListeners(_ holds: Bool) {
    assertIsOurs()
    holdsListeners = holds
    for index in listeners.indices where listeners[index].isOpen { pause(index, holds) }
  }

  /// Whether sockets are left alone.
  package var isResting: Bool { bed >= 0 }

  /// Looks at no socket from now on, and has no ticks: what comes waits in the kernel. Mail is read and turns
  /// end as before, and however long one takes, drivers are not told that the process stood still.
  package func rest() throws(SystemError) {
    guard !isResting else { return }
    let bed = try SystemError.check(cl_epoll_create(), "epoll_create1")
    do throws(SystemError) { try watchWakeUp(by: bed) } catch {
      _ = cl_close(bed)
      throw error
    }
    self.bed = bed
  }

  /// Looks at sockets again. What is read first may have come at any time since `moment`, on the clock of
  /// `sinceBoot`: since the loop, or another process in its place, looked at them.
  package func wakeUp(unreadSince moment: UInt64) {
    guard isResting else { return }
    _ = cl_close(bed)
    bed = -1
    let reading = handle.readClock()
    clock.advance(to: reading)
    standstills.goOn(at: reading, unreadSince: moment)
    // What has come meanwhile is read before a deadline is held against anybody.
    nextTick = now + Self.tickInterval
  }

  /// Whether this thread may touch the loop and what belongs to it.
  private var isOurs: Bool { owner.map { pthread_equal($0, pthread_self()) != 0 } ?? true }

  /// Asserts that this thread may touch the loop and what belongs to it.
  package func assertIsOurs() { assert(isOurs, "a loop is touched by its own thread alone") }

  /// Starts to watch a socket (level-triggered). False if the kernel refuses.
  package func watch(_ descriptor: Int32, _ token: ConnectionToken, _ interest: Readiness) -> Bool {
    assertIsOurs()
    guard cl_epoll_add(epoll, descriptor, interest.rawValue, token.packed) >= 0 else { return false }
    watched += 1
    return true
  }

  /// Changes what is wanted of a watched socket.
  package func change(_ descriptor: Int32, _ token: ConnectionToken, _ interest: Readiness) {
    assertIsOurs()
    _ = cl_epoll_modify(epoll, descriptor, interest.rawValue, token.packed)
  }

  /// Ends the watch of a socket that goes to another owner.
  package func unwatch(_ descriptor: Int32) {
    assertIsOurs()
    watched -= 1
    _ = cl_epoll_delete(epoll, descriptor)
  }

  /// Closes a watched socket, which also ends the kernel's watch.
  package func close(_ descriptor: Int32) {
    assertIsOurs()
    watched -= 1
    assert(watched >= 0, "a socket was closed that was not watched")
    _ = cl_close(descriptor)
  }

  /// Closes a socket that was never watched.
  package func discard(_ descriptor: Int32) { _ = cl_close(descriptor) }

  /// Asks in `endTurn` for another turn at a time of the clock of `now`, for deadlines finer than the tick. A
  /// turn that comes earlier for another reason takes its place.
  package func wake(by time: UInt64) { nextTurn = min(nextTurn, time) }

  /// Lets `run` return at the end of the turn.
  package func stop() { isStopped = true }

  /// Serves until `stop` is called.
  package func run() {
    owner = pthread_self()
    BlockingCall.forbid()
    defer {
      owner = nil
      BlockingCall.forbid(false)
    }
    var events = [cl_event](repeating: cl_event(), count: Self.eventCapacity)
    var wantsTurn = false
    // To set the loop up may have taken long.
    clock.advance(to: handle.readClock())
    standstills.rest(until: handle.readClock())
    while !isStopped {
      // Deadlines are checked only after everything that has arrived by now is read, in the poll that begins
      // here.
      let isTickDue = !isResting && now >= nextTick
      let isCatchingUp = standstills.isCatchingUp && !isResting
      let pollsOnly = wantsTurn || isTickDue || handle.hasMail || isCatchingUp
      let due = min(isResting ? now + Self.tickInterval : nextTick, nextTurn)
      let wait = pollsOnly ? 0 : Int64((due > now ? due - now : 0) / 1000 + 1)
      let count = cl_epoll_wait(isResting ? bed : epoll, &events, Int32(Self.eventCapacity), wait)
      // The tick uses the time before the poll: a pause after it must not make a connection late.
      let reading = handle.readClock()
      if !isTickDue { clock.advance(to: reading) }
      noteStandstill(reading, found: Int(count))
      // A signal, or the end of a stop: nothing was looked at.
      guard count != -EINTR else { continue }
      // Mail first: who has sent what is about to be read may have been told of what the mail says.
      drainMail()
      for index in 0..<max(0, Int(count)) { dispatch(events[index]) }
      drainMail()
      if isTickDue, hasSeenAll(Int(count)) { tick() }
      wantsTurn = false
      nextTurn = .max
      for driver in drivers where driver.endTurn() { wantsTurn = true }
    }
    closeListeners()
    // Drivers refer to their loop, and so do the listeners' closures.
    listeners = []
    drivers = []
  }

  /// Tells drivers if the process was stopped since the clock was last read; `count` sockets were found
  /// ready, negative if none was looked at.
  private func noteStandstill(_ reading: UInt64, found count: Int = -1) {
    guard !isResting else { return standstills.rest(until: reading) }
    guard standstills.begin(at: reading, found: count) else { return }
    for driver in drivers { driver.stoodStill() }
  }

  /// Whether every socket that was ready when the tick became due has been reported: the kernel reports them
  /// in turn, so many looks that are full show each of them once.
  private func hasSeenAll(_ count: Int) -> Bool {
    fullLooks = count < Self.eventCapacity ? 0 : fullLooks + 1
    return fullLooks == 0 || fullLooks * Self.eventCapacity > watched + listeners.count + 1
  }

  private func drainMail() {
    guard handle.clearSignal() else { return }
    for work in handle.drainWork() { work(self) }
    noteStandstill(handle.readClock())
    for driver in drivers { driver.drainMail() }
  }

  private func dispatch(_ event: cl_event) {
    let token = ConnectionToken(packed: event.token)
    switch token.driver {
    // Its report has ended the wait, which was its purpose.
    case Self.wakeDriver: break
    case Self.listenerDriver: accept(Int(token.slot))
    default:
      guard Int(token.driver) < drivers.count else { return }
      drivers[Int(token.driver)].ready(token, Readiness(rawValue: event.events))
    }
  }

  private func accept(_ index: Int) {
    for _ in 0..<64 {
      // One that has been paused in this turn may have been reported before.
      guard listeners[index].isOpen, !listeners[index].isPaused else { return }
      let descriptor = cl_accept(listeners[index].descriptor)
      if descriptor >= 0 {
        listeners[index].accept(descriptor)
      } else if descriptor == -EMFILE || descriptor == -ENFILE || descriptor == -ENOMEM
        || descriptor == -ENOBUFS
      {
        // A level-triggered listener would spin while no descriptor is free: rest until the next tick.
        pause(index, true)
        return
      } else if descriptor == -EAGAIN {
        return
      }
    }
  }

  private func pause(_ index: Int, _ isPaused: Bool) {
    listeners[index].isPaused = isPaused
    let token = ConnectionToken(driver: Self.listenerDriver, generation: 0, slot: UInt32(index))
    let interest: Readiness = isPaused ? [] : .readable
    _ = cl_epoll_modify(epoll, listeners[index].descriptor, interest.rawValue, token.packed)
  }

  private func tick() {
    fullLooks = 0
    nextTick = now + Self.tickInterval
    for index in listeners.indices
    where listeners[index].isPaused && listeners[index].isOpen && !holdsListeners {
      pause(index, false)
    }
    for driver in drivers { driver.tick() }
  }
}
