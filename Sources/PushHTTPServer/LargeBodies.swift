import PushNet
import Synchronization

/// Bounds the memory for requests with large bodies, which anybody may begin to send: in all, and for each network that they
/// come from. Shared by all loops.
public final class LargeBodies: Sendable {
  /// A body's share of the memory. It goes with the request, and is given back when nobody holds this any more.
  final class Place: Sendable {
    private let bodies: LargeBodies
    private let network: PeerNetwork
    private let bytes = Atomic<Int>(0)

    fileprivate init(_ bodies: LargeBodies, _ network: PeerNetwork) {
      self.bodies = bodies
      self.network = network
    }

    deinit { bodies.giveBack(bytes.load(ordering: .relaxed), network) }

    /// Makes the share large enough for so many bytes, by one thread at a time; false if there is no room.
    func hold(_ wanted: Int) -> Bool {
      let held = bytes.load(ordering: .relaxed)
      guard wanted > held else { return true }
      // Bodies of unknown length grow in steps.
      let (steps, rest) = (wanted - held).quotientAndRemainder(dividingBy: bodies.step)
      let more = (rest == 0 ? steps : steps + 1) * bodies.step
      guard bodies.take(more, network) else { return false }
      bytes.store(held + more, ordering: .relaxed)
      return true
    }
  }

  private struct State: Sendable {
    var held = 0
    var heldBy: [PeerNetwork: Int] = [:]
  }

  private let bytes: Int
  private let bytesOfEach: Int
  private let step: Int
  private let state = Mutex(State())

  /// Allows so many bytes at a time, and a quarter of them to each network. They are handed out in steps of so many.
  public init(bytes: Int = 128 << 20, step: Int = 256 << 10) {
    self.bytes = bytes
    self.step = step
    bytesOfEach = bytes / 4
  }

  /// A place for the body of a request from a network, without room yet.
  func place(for network: PeerNetwork) -> Place { Place(self, network) }

  private func take(_ wanted: Int, _ network: PeerNetwork) -> Bool {
    state.withLock { state in
      let own = state.heldBy[network, default: 0]
      guard wanted <= bytes - state.held, wanted <= bytesOfEach - own else { return false }
      state.held += wanted
      state.heldBy[network] = own + wanted
      return true
    }
  }

  private func giveBack(_ bytes: Int, _ network: PeerNetwork) {
    guard bytes > 0 else { return }
    state.withLock { state in
      state.held -= bytes
      let own = state.heldBy[network, default: 0] - bytes
      state.heldBy[network] = own > 0 ? own : nil
    }
  }
}
