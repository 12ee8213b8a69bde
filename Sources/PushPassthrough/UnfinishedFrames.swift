import PushNet

/// The incomplete frames of all sessions of a loop, and their memory. Sessions without one, nearly all at any time, have
/// no entry.
struct UnfinishedFrames {
  /// The entry of a session with an incomplete frame.
  struct Holder {
    let network: PeerNetwork
    let app: Int32
    /// The second at which its frame is overdue.
    let deadline: UInt32
  }

  private var costs: [UInt32: Int] = [:]
  /// The memory of all of them.
  private(set) var cost = 0

  /// Records the memory of a session's incomplete frame, 0 if it has none.
  mutating func note(_ slot: UInt32, cost new: Int) {
    guard new > 0 || !costs.isEmpty else { return }
    cost += new - (costs[slot] ?? 0)
    costs[slot] = new > 0 ? new : nil
  }

  /// The sessions to close, in order, when all together hold too much. Sessions whose network and app hold most of the
  /// memory come first; among equals, up to a factor of two, those that hold more for longer, so that a new device with
  /// half a frame is safe. Sorts all of them, so the caller frees enough that this is rare.
  func holders(at second: UInt32, lifetime: UInt32, _ holder: (UInt32) -> Holder) -> [UInt32] {
    var networks: [PeerNetwork: Int] = [:]
    var apps: [Int32: Int] = [:]
    let frames = costs.map { (slot: $0.key, cost: $0.value, holder: holder($0.key)) }
    for frame in frames {
      networks[frame.holder.network, default: 0] += frame.cost
      apps[frame.holder.app, default: 0] += frame.cost
    }
    return frames.map { slot, cost, holder in
      let shared = (networks[holder.network] ?? 0) + (apps[holder.app] ?? 0)
      let age = Int(second &+ lifetime &- min(holder.deadline, second &+ lifetime)) + 1
      return (crowd: shared.bitWidth - shared.leadingZeroBitCount, held: cost * age * age, slot: slot)
    }
    .sorted { ($1.crowd, $1.held, $0.slot) < ($0.crowd, $0.held, $1.slot) }
    .map(\.slot)
  }
}
