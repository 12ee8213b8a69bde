import BorealisNet
import Synchronization

/// Bounds the memory that all HTTP connections hold together: incomplete requests, requests in progress, and
/// unsent answers. Each network has a share; unauthenticated clients have half of the whole and of each
/// share, so that they cannot take what authenticated clients need. Shared by all loops.
package final class HTTPMemory: Sendable {
  /// The memory that one connection, or one request, holds. It is released with this object.
  package final class Share: Sendable {
    private let memory: HTTPMemory
    private let network: PeerNetwork?
    private let isKnown: Bool
    private let bytes = Atomic<Int>(0)

    fileprivate init(_ memory: HTTPMemory, _ network: PeerNetwork?, isKnown: Bool) {
      self.memory = memory
      self.network = network
      self.isKnown = isKnown
    }

    deinit { memory.change(by: -bytes.load(ordering: .relaxed), network, isKnown: isKnown) }

    /// Grows the share to hold this many bytes, by one thread at a time; false, without a change, if there is
    /// no room.
    package func hold(_ wanted: Int) -> Bool {
      let held = bytes.load(ordering: .relaxed)
      let rounded = (wanted + memory.step - 1) / memory.step * memory.step
      guard rounded != held else { return true }
      guard memory.change(by: rounded - held, network, isKnown: isKnown) else { return false }
      bytes.store(rounded, ordering: .relaxed)
      return true
    }
  }

  private struct State: Sendable {
    var held = 0
    var heldByUnauthenticated = 0
    var heldBy: [PeerNetwork: Int] = [:]
    /// The most that was held since the last call of `fallen`.
    var peak = 0
  }

  /// Bytes in all.
  package let bytes: Int
  private let bytesOfEach: Int
  private let step: Int
  private let state = Mutex(State())

  /// Allows this many bytes at a time, and a quarter of them to each network, in steps of `step`.
  package init(bytes: Int = 128 << 20, step: Int = 16 << 10) {
    self.bytes = bytes
    self.step = step
    bytesOfEach = bytes / 4
  }

  /// A share for a network, without room yet; for nil, only the whole is bounded.
  package func share(for network: PeerNetwork?, isKnown: Bool) -> Share {
    Share(self, network, isKnown: isKnown)
  }

  /// Bytes that are held.
  package var held: Int { state.withLock { $0.held } }

  /// How far the held memory has fallen from its maximum since the last call.
  package func fallen() -> Int {
    state.withLock { state in
      defer { state.peak = state.held }
      return state.peak - state.held
    }
  }

  @discardableResult
  private func change(by count: Int, _ network: PeerNetwork?, isKnown: Bool) -> Bool {
    guard count != 0 else { return true }
    return state.withLock { state in
      let own = network.map { state.heldBy[$0, default: 0] } ?? 0
      if count > 0 {
        guard count <= bytes - state.held else { return false }
        guard isKnown || count <= bytes / 2 - state.heldByUnauthenticated else { return false }
        guard network == nil || count <= (isKnown ? bytesOfEach : bytesOfEach / 2) - own else { return false }
      }
      state.held += count
      state.peak = max(state.peak, state.held)
      if !isKnown { state.heldByUnauthenticated += count }
      if let network { state.heldBy[network] = own + count > 0 ? own + count : nil }
      return true
    }
  }
}
