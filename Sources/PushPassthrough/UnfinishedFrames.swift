import PushNet

/// What the beginnings of frames cost whose ends have not arrived, of all sessions of a loop. Sessions without one, nearly all of them
/// at any time, have nothing here.
struct UnfinishedFrames {
  /// What the loop knows of a session that has one.
  struct Holder {
    let network: PeerNetwork
    let app: Int32
    /// The second at which the rest of its frame is overdue.
    let deadline: UInt32
  }

  private var costs: [UInt32: Int] = [:]
  /// The memory that all of them hold.
  private(set) var cost = 0

  /// Notes the memory that a session's frame holds now, 0 if it has none.
  mutating func note(_ slot: UInt32, cost new: Int) {
    guard new > 0 || !costs.isEmpty else { return }
    cost += new - (costs[slot] ?? 0)
    costs[slot] = new > 0 ? new : nil
  }

  /// Who makes room when all together hold too much, in this order. Whoever shares a network and an app with most of the
  /// memory goes before others, so that a crowd pays for itself; among those alike, up to a factor of two, whoever holds
  /// more for longer: never a newcomer, or a device that has sent half a frame. Looks at all of them: the caller asks for
  /// enough room that this is seldom.
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
