import BorealisBase
import BorealisNet

/// The connections of one server: where each one is, which of them make room for others, and which are
/// overdue next.
struct HTTPConnectionTable {
  /// Connections in the order in which they entered the list.
  private struct IdleList {
    static let none = UInt32.max

    var first = IdleList.none
    var last = IdleList.none
  }

  /// The wheel is precise only within this many seconds.
  private static var farthest: UInt32 { 500 }

  /// The connections by slot. Accessed directly, since an accessor would copy a connection at every use.
  var slab = Slab(blank: HTTPConnection())
  private var wheel: DeadlineWheel
  private var spareWork: HTTPWorkPool
  private var unauthenticated = IdleList()
  private var authenticated = IdleList()

  /// Makes a table for a loop whose clock is at this second.
  init(second: UInt32, limits: HTTPLimits) {
    wheel = DeadlineWheel(second: second)
    spareWork = HTTPWorkPool(limits: limits)
  }

  /// How many connections are open.
  var count: Int { slab.count }

  /// One more than the largest slot ever taken.
  var capacity: Int { slab.capacity }

  /// Whether a slot still holds the connection that it held when the generation was read.
  func isCurrent(_ slot: UInt32, _ generation: UInt32) -> Bool { slab.isCurrent(slot, generation) }

  /// Adds a connection and returns its slot.
  mutating func insert(_ connection: HTTPConnection) -> UInt32 {
    let (slot, generation) = slab.insert(connection)
    slab[slot].generation = generation
    return slot
  }

  /// Removes a connection.
  mutating func remove(_ slot: UInt32) {
    leaveList(slot)
    slab.remove(slot)
  }

  /// The work of a connection that is not idle, made if there is none.
  mutating func work(_ slot: UInt32) -> HTTPWork {
    if let work = slab[slot].work { return work }
    let work = spareWork.obtain()
    slab[slot].work = work
    return work
  }

  /// Removes a connection's work once it is idle.
  mutating func dropWork(_ slot: UInt32) {
    guard let work = slab[slot].work else { return }
    slab[slot].work = nil
    slab[slot].connection.releaseMemory()
    spareWork.keep(work)
  }

  // MARK: Making room

  /// The connection of this network, of any if nil, that has been in a list longest.
  func longestIdle(_ list: HTTPConnection.Idleness, from network: PeerNetwork?) -> UInt32? {
    var slot = self[list].first
    while slot != IdleList.none {
      if network == nil || slab[slot].network == network { return slot }
      slot = slab[slot].next
    }
    return nil
  }

  /// Puts a connection into the list where it belongs now, as the latest. One that stays in its list keeps
  /// its place: a byte now and then does not move it back.
  mutating func updateList(of slot: UInt32) {
    let wanted = slab[slot].idlenessNow
    guard wanted != slab[slot].idleness else { return }
    leaveList(slot)
    slab[slot].idleness = wanted
    guard wanted != .inUse else { return }
    let last = self[wanted].last
    slab[slot].previous = last
    slab[slot].next = IdleList.none
    if last == IdleList.none { self[wanted].first = slot } else { slab[last].next = slot }
    self[wanted].last = slot
  }

  /// Removes a connection from its list.
  mutating func leaveList(_ slot: UInt32) {
    let list = slab[slot].idleness
    guard list != .inUse else { return }
    let (previous, next) = (slab[slot].previous, slab[slot].next)
    if previous == IdleList.none { self[list].first = next } else { slab[previous].next = next }
    if next == IdleList.none { self[list].last = previous } else { slab[next].previous = previous }
    slab[slot].idleness = .inUse
  }

  private subscript(list: HTTPConnection.Idleness) -> IdleList {
    get { list == .authenticated ? authenticated : unauthenticated }
    set { if list == .authenticated { authenticated = newValue } else { unauthenticated = newValue } }
  }

  // MARK: Deadlines

  /// Adds an entry to the wheel that is early enough for a connection. Later deadlines cost nothing: the
  /// entry finds them when it is due.
  mutating func schedule(_ slot: UInt32, now: UInt32) {
    guard let deadline = slab[slot].nextDeadline else { return }
    let scheduled = slab[slot].scheduled
    guard scheduled == 0 || deadline < scheduled else { return }
    let place = min(deadline, now &+ Self.farthest)
    slab[slot].scheduled = place
    wheel.add(.init(slot: slot, generation: slab[slot].generation), at: place)
  }

  /// The connections whose deadlines have passed.
  mutating func overdue(at second: UInt32) -> [DeadlineWheel.Entry] {
    var overdue: [DeadlineWheel.Entry] = []
    wheel.advance(to: second) { entry, now in
      guard slab.isCurrent(entry.slot, entry.generation) else { return nil }
      // An earlier entry has replaced this one.
      let scheduled = slab[entry.slot].scheduled
      guard scheduled != 0, scheduled <= now else { return nil }
      slab[entry.slot].scheduled = 0
      guard let deadline = slab[entry.slot].nextDeadline else { return nil }
      guard deadline > now else {
        overdue.append(entry)
        return nil
      }
      let place = min(deadline, now &+ Self.farthest)
      slab[entry.slot].scheduled = place
      return place
    }
    return overdue
  }
}
