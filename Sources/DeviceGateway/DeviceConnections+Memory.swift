import BorealisBase
import BorealisNet
import Model

/// What devices that do not read, or do not finish what they send, cost in memory: bounded for all together,
/// and who holds most pays first.
extension DeviceConnections {
  /// Records the queue of a session after something was sent to it, or could not be.
  func noteQueued(_ slot: UInt32) {
    let cost = slab[slot].connection.queue.cost
    guard cost > 0 || slab[slot].marks.contains(.queued) else { return }
    if cost > 0 { slab[slot].marks.insert(.queued) } else { slab[slot].marks.remove(.queued) }
    queued.note(slot, cost: cost, since: queued.since(slot) ?? second)
  }

  /// Closes those who hold most until an eighth is free, if queues hold too much. Their pushes are stored:
  /// whoever reads gets them with the next login. Only between walks over sessions.
  func boundQueues() { bound(\.queued, to: limits.queuedBytesInAll, metrics.slowDevices) }

  /// The same for incomplete frames.
  func boundUnfinished() { bound(\.unfinished, to: limits.unfinishedBytes, metrics.protocolErrors) }

  private func bound(_ held: KeyPath<DeviceConnections, HeldMemory>, to most: Int, _ closed: Counter) {
    guard self[keyPath: held].cost > most else { return }
    let holders = self[keyPath: held].holders(at: second) {
      HeldMemory.Holder(network: slab[$0].network, app: slab[$0].app)
    }
    for slot in holders {
      guard self[keyPath: held].cost > most / 8 * 7 else { return }
      closed.add()
      close(slot, .tooSlow)
    }
  }
}
