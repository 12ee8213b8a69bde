import BorealisBase
import Synchronization

/// What a bus is given and takes: sealed frames, so that it need not be trusted. One for a process, for any
/// thread.
///
/// Nodes of the version before neither seal nor open. As long as there is one of them, frames go out plain,
/// and plain ones are taken; those of newer nodes are opened anyway.
package final class FrameSealing: Sendable {
  private struct State: Sendable {
    var seal: FrameSeal
    var seals = false
    var acceptsPlain = true
    /// Since when all nodes open sealed frames; nil if one does not.
    var since: UInt64?
    /// Whether it was ever said which nodes there are.
    var isFollowing = false
    /// When the keys were read last.
    var readAt: UInt64 = 0
  }

  /// Nanoseconds from one reading of the keys to the next, if a frame needs one that is not known.
  private static let readInterval: UInt64 = 1_000_000_000
  /// Nanoseconds after which all nodes know that all nodes open sealed frames.
  private static let agreement: UInt64 = 10_000_000_000

  private let keys: @Sendable () -> FrameKeys?
  private let time: any TimeSource
  private let state: Mutex<State>

  /// `keys` reads the secret keys; it is called again when a frame needs another one, and returns nil if that
  /// fails.
  package init(
    _ first: FrameKeys, time: any TimeSource = SystemTime(), keys: @escaping @Sendable () -> FrameKeys?
  ) {
    (self.keys, self.time) = (keys, time)
    state = Mutex(State(seal: FrameSeal(first), readAt: time.monotonic()))
  }

  /// Whether all nodes that there are open sealed frames. To be said each second: plain ones are taken until
  /// all nodes can have heard that.
  package func follow(allOpen: Bool) {
    let now = time.monotonic()
    state.withLock { state in
      // Who starts finds the others as they have been.
      let start = state.isFollowing ? now : 0
      state.since = allOpen ? state.since ?? start : nil
      state.isFollowing = true
      state.seals = allOpen
      state.acceptsPlain = state.since.map { now < $0 + Self.agreement } ?? true
    }
  }

  /// What is given to the bus for a frame.
  func seal(_ frame: [UInt8]) -> [UInt8] {
    state.withLock { $0.seals ? $0.seal.seal(frame) : frame }
  }

  /// The frame that came from the bus; nil for one that no node of this installation has sealed.
  func open(_ frame: [UInt8]) -> [UInt8]? {
    state.withLock { state in
      do throws(FrameSeal.Refusal) {
        return try state.seal.open(frame)
      } catch {
        switch error {
        case .plain: return state.acceptsPlain ? frame : nil
        case .forged: return nil
        case .unknownKey: break
        }
      }
      let now = time.monotonic()
      guard now >= state.readAt + Self.readInterval else { return nil }
      state.readAt = now
      guard let found = self.keys() else { return nil }
      state.seal = FrameSeal(found)
      return try? state.seal.open(frame)
    }
  }
}

/// A bus whose frames are sealed.
package final class SealedBus: Bus {
  private let inner: any Bus
  private let sealing: FrameSealing
  private let refused = Atomic<UInt64>(0)

  /// Seals what goes to a bus and opens what comes from it.
  package init(_ inner: any Bus, _ sealing: FrameSealing) { (self.inner, self.sealing) = (inner, sealing) }

  /// Seals a frame, and hands it to the bus.
  @discardableResult
  package func publish(_ frame: [UInt8], to target: BusTarget) -> Bool {
    inner.publish(sealing.seal(frame), to: target)
  }

  /// Removes and returns the received frames that were sealed by a node, and the events.
  package func drain() -> (frames: [[UInt8]], events: [BusEvent]) {
    let (frames, events) = inner.drain()
    let opened = frames.compactMap { sealing.open($0) }
    let count = UInt64(frames.count - opened.count)
    guard count > 0 else { return (opened, events) }
    let before = refused.add(count, ordering: .relaxed).oldValue
    return (opened, before == 0 ? events + [.unsealed] : events)
  }

  /// What the bus has met, and how much of it no node had sealed.
  package var counts: BusCounts {
    var counts = inner.counts
    counts.unsealed = refused.load(ordering: .relaxed)
    return counts
  }

  /// Ends the connection.
  package func close() { inner.close() }
}
