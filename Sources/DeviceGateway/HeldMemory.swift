import BorealisNet

/// What sessions of a loop hold in memory of one kind: incomplete frames, or frames that wait to be sent.
/// Sessions that hold nothing, nearly all at any time, have no entry.
struct HeldMemory {
  /// Whose a session is.
  struct Holder {
    let network: PeerNetwork
    let app: Int32
  }

  private struct Entry {
    var cost: Int
    /// The second since which it holds something.
    var since: UInt32
  }

  /// Seconds above which all are equally old, some 18 hours: a queue that is never empty may be older than a
  /// product of it can be.
  private static let longestAge = 1 << 16

  private var entries: [UInt32: Entry] = [:]
  /// Bytes of all of them.
  private(set) var cost = 0

  /// The second since which a session holds something, nil if it holds nothing.
  func since(_ slot: UInt32) -> UInt32? { entries[slot]?.since }

  /// Records what a session holds and since which second; 0 bytes if it holds nothing any more.
  mutating func note(_ slot: UInt32, cost new: Int, since: UInt32 = 0) {
    guard new > 0 || !entries.isEmpty else { return }
    cost += new - (entries[slot]?.cost ?? 0)
    entries[slot] = new > 0 ? Entry(cost: new, since: since) : nil
  }

  /// The sessions to close, in order, when all together hold too much. Sessions whose network and app hold
  /// most of the memory come first; among equals, up to a factor of two, those that hold more for longer, so
  /// that a new device with half a frame is safe. Sorts all of them, so the caller frees enough that this is
  /// rare.
  func holders(at second: UInt32, _ holder: (UInt32) -> Holder) -> [UInt32] {
    var networks: [PeerNetwork: Int] = [:]
    var apps: [Int32: Int] = [:]
    let all = entries.map { (slot: $0.key, entry: $0.value, holder: holder($0.key)) }
    for one in all {
      networks[one.holder.network, default: 0] += one.entry.cost
      apps[one.holder.app, default: 0] += one.entry.cost
    }
    return all.map { slot, entry, holder in
      let shared = (networks[holder.network] ?? 0) + (apps[holder.app] ?? 0)
      let age = min(Int(second &- min(entry.since, second)) + 1, Self.longestAge)
      return (crowd: shared.bitWidth - shared.leadingZeroBitCount, held: entry.cost * age * age, slot: slot)
    }
    .sorted { ($1.crowd, $1.held, $0.slot) < ($0.crowd, $0.held, $1.slot) }
    .map(\.slot)
  }
}
