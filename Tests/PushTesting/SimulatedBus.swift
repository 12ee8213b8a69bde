import Cluster
import Synchronization

/// A bus between nodes of one process that loses, repeats, delays and reorders frames as a seed says. Its
/// time is what the test says it is: nanoseconds that only go forward. Everything in it is bounded.
package final class SimulatedNetwork: Sendable {
  /// What happens to frames.
  package struct Faults: Sendable {
    /// Of a thousand frames, how many are lost.
    package var lost = 0
    /// Of a thousand frames, how many come twice.
    package var repeated = 0
    /// Of a thousand frames, how many are delayed by more than the others, and thus come after later ones.
    package var delayed = 0
    /// The longest such delay in nanoseconds.
    package var longestDelay: UInt64 = 5_000_000_000

    /// None.
    package init() {}
  }

  private struct Flight: Sendable {
    let arrival: UInt64
    let order: UInt64
    let frame: [UInt8]
    let from: Incarnation
    let to: Incarnation
  }

  private struct Route: Hashable, Sendable {
    let from: Incarnation
    let to: Incarnation
  }

  private struct State {
    var random: SeededRandom
    var now: UInt64 = 0
    var faults = Faults()
    /// A heap: the next arrival first.
    var flights: [Flight] = []
    var bytes = 0
    var order: UInt64 = 0
    var cuts: Set<Route> = []
    /// Of the nodes that are connected. Their buses hold the network.
    var inboxes: [Incarnation: BusMailbox] = [:]
    var dropped: UInt64 = 0
  }

  /// Nanoseconds that every frame takes, at least and at most.
  private static let latency: ClosedRange<UInt64> = 100_000...1_000_000

  private let mostBytes: Int
  private let state: Mutex<State>

  /// A network without faults. Frames that would make more than so many bytes be under way are lost.
  package init(seed: UInt64, mostBytes: Int = 64 << 20) {
    self.mostBytes = mostBytes
    state = Mutex(State(random: SeededRandom(seed: seed)))
  }

  /// Connects a node.
  package func bus(of incarnation: Incarnation, wake: @escaping @Sendable () -> Void = {}) -> SimulatedBus {
    let bus = SimulatedBus(self, incarnation, wake: wake)
    state.withLock { $0.inboxes[incarnation] = bus.inbox }
    bus.inbox.add(.connected)
    return bus
  }

  /// Sets what happens to frames that are published from now on.
  package func setFaults(_ faults: Faults) { state.withLock { $0.faults = faults } }

  /// Frames from one node to another are lost from now on, also those under way.
  package func cut(from: Incarnation, to: Incarnation) {
    state.withLock { _ = $0.cuts.insert(Route(from: from, to: to)) }
  }

  /// All nodes reach each other again.
  package func heal() { state.withLock { $0.cuts = [] } }

  /// Bytes under way.
  package var bytes: Int { state.withLock { $0.bytes } }

  /// When the next frame arrives; nil if none is under way.
  package var nextArrival: UInt64? { state.withLock { $0.flights.first?.arrival } }

  /// Lets time go by until a moment: hands over what has arrived by then.
  package func advance(to now: UInt64) {
    let due = state.withLock { state -> [(BusMailbox, [UInt8])] in
      state.now = max(state.now, now)
      var due: [(BusMailbox, [UInt8])] = []
      while let first = state.flights.first, first.arrival <= state.now {
        Self.removeFirst(&state.flights)
        state.bytes -= first.frame.count
        if state.cuts.contains(Route(from: first.from, to: first.to)) { continue }
        if let inbox = state.inboxes[first.to] { due.append((inbox, first.frame)) }
      }
      return due
    }
    for (inbox, frame) in due { inbox.add(frame) }
  }

  fileprivate func disconnect(_ incarnation: Incarnation) {
    state.withLock { $0.inboxes[incarnation] = nil }
  }

  fileprivate func publish(_ frame: [UInt8], from: Incarnation, to target: BusTarget) {
    state.withLock { state in
      let receivers: [Incarnation] =
        switch target {
        case .node(let one): [one]
        case .all: state.inboxes.keys.filter { $0 != from }.sorted()
        }
      for to in receivers {
        let copies = Self.hits(state.faults.repeated, &state.random) ? 2 : 1
        for _ in 0..<copies where !Self.hits(state.faults.lost, &state.random) {
          var arrival = state.now + UInt64.random(in: Self.latency, using: &state.random)
          if Self.hits(state.faults.delayed, &state.random) {
            arrival += UInt64.random(in: 0...state.faults.longestDelay, using: &state.random)
          }
          guard state.bytes + frame.count <= mostBytes, !state.cuts.contains(Route(from: from, to: to)) else {
            state.dropped += 1
            continue
          }
          state.order += 1
          state.bytes += frame.count
          let flight = Flight(arrival: arrival, order: state.order, frame: frame, from: from, to: to)
          Self.insert(flight, into: &state.flights)
        }
      }
    }
  }

  private static func hits(_ share: Int, _ random: inout SeededRandom) -> Bool {
    share > 0 && Int.random(in: 0..<1000, using: &random) < share
  }

  // MARK: The heap

  private static func isBefore(_ left: Flight, _ right: Flight) -> Bool {
    (left.arrival, left.order) < (right.arrival, right.order)
  }

  private static func insert(_ flight: Flight, into heap: inout [Flight]) {
    heap.append(flight)
    var place = heap.count - 1
    while place > 0, isBefore(heap[place], heap[(place - 1) / 2]) {
      heap.swapAt(place, (place - 1) / 2)
      place = (place - 1) / 2
    }
  }

  private static func removeFirst(_ heap: inout [Flight]) {
    heap.swapAt(0, heap.count - 1)
    heap.removeLast()
    var place = 0
    while true {
      let children = [2 * place + 1, 2 * place + 2].filter { $0 < heap.count }
      guard let least = children.min(by: { isBefore(heap[$0], heap[$1]) }), isBefore(heap[least], heap[place])
      else { return }
      heap.swapAt(place, least)
      place = least
    }
  }
}

/// One node's connection to a `SimulatedNetwork`.
package final class SimulatedBus: Bus {
  fileprivate let inbox: BusMailbox
  private let network: SimulatedNetwork
  private let incarnation: Incarnation
  private let published = Mutex<(published: UInt64, refused: UInt64, isClosed: Bool)>((0, 0, false))

  fileprivate init(
    _ network: SimulatedNetwork, _ incarnation: Incarnation, wake: @escaping @Sendable () -> Void
  ) {
    self.network = network
    self.incarnation = incarnation
    inbox = BusMailbox(wake: wake)
  }

  /// Hands a frame to the network.
  @discardableResult
  package func publish(_ frame: [UInt8], to target: BusTarget) -> Bool {
    let isOpen = published.withLock { published in
      let isOpen = !published.isClosed && frame.count <= ClusterLimits.maxFrame
      if isOpen { published.published += 1 } else { published.refused += 1 }
      return isOpen
    }
    if isOpen { network.publish(frame, from: incarnation, to: target) }
    return isOpen
  }

  /// The frames and events that have come.
  package func drain() -> (frames: [[UInt8]], events: [BusEvent]) { inbox.drain() }

  /// What it has met.
  package var counts: BusCounts {
    var counts = BusCounts()
    published.withLock { (counts.published, counts.refused) = ($0.published, $0.refused) }
    (counts.received, counts.dropped) = inbox.counts
    return counts
  }

  /// Leaves the network.
  package func close() {
    published.withLock { $0.isClosed = true }
    network.disconnect(incarnation)
    inbox.close()
  }
}
