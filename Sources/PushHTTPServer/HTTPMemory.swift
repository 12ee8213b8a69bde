import PushNet
import Synchronization

/// Bounds the memory that HTTP connections hold, all of them together: what has come of requests, requests whose answers are
/// being made, and answers that are not sent yet. Each network has a share; unauthenticated clients have half of the whole and of each share,
/// so that they cannot take what those need who have shown who they are. Shared by all loops.
public final class HTTPMemory: Sendable {
  /// What one connection, or one request, holds of it. It is given back when nobody has this any more.
  final class Share: Sendable {
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

    /// Makes the share as large as is needed for so many bytes, by one thread at a time; false, and nothing changes, if there is no
    /// room.
    func hold(_ wanted: Int) -> Bool {
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
    /// The most that was held since somebody asked.
    var peak = 0
  }

  /// Bytes in all.
  public let bytes: Int
  private let bytesOfEach: Int
  private let step: Int
  private let state = Mutex(State())

  /// Allows so many bytes at a time, and a quarter of them to each network. They are handed out in steps of so many.
  public init(bytes: Int = 128 << 20, step: Int = 16 << 10) {
    self.bytes = bytes
    self.step = step
    bytesOfEach = bytes / 4
  }

  /// A share for a network, without room yet; for nil, only the whole is bounded.
  func share(for network: PeerNetwork?, isKnown: Bool) -> Share { Share(self, network, isKnown: isKnown) }

  /// Bytes that are held.
  public var held: Int { state.withLock { $0.held } }

  /// How far what is held has fallen since it was most; from now on it is compared with what is held now.
  public func fallen() -> Int {
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
