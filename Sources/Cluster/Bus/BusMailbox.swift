import BorealisBase
import Synchronization

/// What has come from a bus and waits for its reader: any thread adds, one takes. Bounded; when it is full,
/// the newest is dropped and counted, since the sequence numbers of frames tell the reader what is missing.
package final class BusMailbox: Sendable {
  private struct State {
    var frames: [[UInt8]] = []
    var bytes = 0
    var events: [BusEvent] = []
    var overflow: UInt64 = 0
    var received: UInt64 = 0
    var dropped: UInt64 = 0
    var isClosed = false
    var isEmpty: Bool { frames.isEmpty && events.isEmpty && overflow == 0 }
  }

  /// Most events that wait; older ones go.
  static let mostEvents = 256

  private let mostBytes: Int
  private let mostFrames: Int
  private let wake: @Sendable () -> Void
  private let state = Mutex(State())

  /// Empty. `wake` is called on the thread that adds to an empty mailbox; it must not block.
  package init(mostBytes: Int = 32 << 20, mostFrames: Int = 65_536, wake: @escaping @Sendable () -> Void) {
    self.mostBytes = mostBytes
    self.mostFrames = mostFrames
    self.wake = wake
  }

  /// Adds a frame, or drops it.
  package func add(_ frame: [UInt8]) {
    change { state in
      state.received += 1
      guard state.frames.count < mostFrames, state.bytes + frame.count <= mostBytes else {
        state.dropped += 1
        state.overflow += 1
        return
      }
      state.frames.append(frame)
      state.bytes += frame.count
    }
  }

  /// Adds an event.
  package func add(_ event: BusEvent) {
    change { state in
      if state.events.count == Self.mostEvents { state.events.removeFirst() }
      state.events.append(event)
    }
  }

  private func change(_ body: (inout State) -> Void) {
    let isFirst = state.withLock { state in
      guard !state.isClosed else { return false }
      let wasEmpty = state.isEmpty
      body(&state)
      return wasEmpty
    }
    if isFirst { wake() }
  }

  /// Removes and returns everything.
  package func drain() -> (frames: [[UInt8]], events: [BusEvent]) {
    state.withLock { state in
      defer {
        state.frames = []
        state.bytes = 0
        state.events = []
        state.overflow = 0
      }
      let more: [BusEvent] = state.overflow > 0 ? [.overflowed(state.overflow)] : []
      return (state.frames, state.events + more)
    }
  }

  /// Frames that came, and those of them that were dropped.
  package var counts: (received: UInt64, dropped: UInt64) {
    state.withLock { ($0.received, $0.dropped) }
  }

  /// Accepts nothing any more.
  package func close() {
    state.withLock { $0 = State(received: $0.received, dropped: $0.dropped, isClosed: true) }
  }
}
