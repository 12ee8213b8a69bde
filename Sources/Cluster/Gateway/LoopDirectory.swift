import BorealisBase
import Core
import Synchronization

/// Numbers for the loops of other nodes: a router names a connection by a loop of its own process, so that
/// each loop of another node gets a number above those.
final class LoopDirectory: HomeRules {
  /// A loop of a node.
  struct Place: Hashable, Sendable {
    let incarnation: Incarnation
    let loop: UInt16
  }

  private struct State {
    var numbers: [Place: UInt16] = [:]
    var places: [UInt16: Place] = [:]
    var next: UInt16
    /// Numbers of nodes that are gone, the oldest first.
    var free = FIFO<UInt16>()
  }

  /// Stands for the acknowledgements of a node: its connections are named there.
  static let acknowledgements = UInt16.max

  private let local: UInt16
  private let state: Mutex<State>
  private let decides: @Sendable () -> Bool

  /// Numbers from `local` on, the number of loops in this process.
  init(local: UInt16, mayDecide: @escaping @Sendable () -> Bool) {
    self.local = local
    decides = mayDecide
    state = Mutex(State(next: local))
  }

  var mayDecide: Bool { decides() }

  func shareGateway(_ one: UInt16, _ other: UInt16) -> Bool {
    if one < local || other < local { return one < local && other < local }
    return state.withLock { state in
      guard let one = state.places[one], let other = state.places[other] else { return false }
      return one.incarnation == other.incarnation
    }
  }

  /// The number of a loop of another node; nil if there are no more.
  func number(of loop: UInt16, at incarnation: Incarnation) -> UInt16? {
    let place = Place(incarnation: incarnation, loop: loop)
    return state.withLock { state in
      if let known = state.numbers[place] { return known }
      let number: UInt16
      if state.next < .max {
        number = state.next
        state.next += 1
      } else if let free = state.free.popFirst() {
        number = free
      } else {
        return nil
      }
      state.numbers[place] = number
      state.places[number] = place
      return number
    }
  }

  /// The loop of another node that has a number.
  func place(of number: UInt16) -> Place? { state.withLock { $0.places[number] } }

  /// A node is gone.
  func forget(_ incarnation: Incarnation) {
    state.withLock { state in
      for (place, number) in state.numbers where place.incarnation == incarnation {
        state.numbers[place] = nil
        state.places[number] = nil
        state.free.append(number)
      }
    }
  }

  /// The router's name of a session of another node; nil if there is no number for its loop.
  func location(of handle: Handle) -> Location? {
    number(of: handle.loop, at: handle.incarnation).map {
      Location(loop: $0, slot: handle.slot, generation: handle.generation)
    }
  }

  /// The router's name of a session of a gateway that speaks; nil for one of another.
  func location(of handle: Handle, from peer: Incarnation) -> Location? {
    handle.incarnation == peer ? location(of: handle) : nil
  }

  /// A session's gateway, and its name there; nil if it is of this process.
  func handle(of location: Location) -> Handle? {
    place(of: location.loop).map {
      Handle(
        incarnation: $0.incarnation, loop: $0.loop, slot: location.slot,
        generation: location.generation)
    }
  }
}
