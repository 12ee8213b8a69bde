import PushBase
import PushDomain
import PushNet

/// What devices that do not read, or do not finish what they send, cost in memory: bounded for all together, and who holds
/// most pays first.
extension DeviceConnections {
  /// Records the queue of a session after something was sent to it, or could not be.
  func noteQueued(_ slot: UInt32) {
    let cost = slab[slot].connection.queue.cost
    guard cost > 0 || slab[slot].marks.contains(.queued) else { return }
    if cost > 0 { slab[slot].marks.insert(.queued) } else { slab[slot].marks.remove(.queued) }
    queued.note(slot, cost: cost, since: queued.since(slot) ?? second)
  }

  /// Closes those who hold most until an eighth is free, if queues hold too much. Their pushes are stored: whoever reads gets them
  /// with the next login. Only between walks over sessions.
  func boundQueues() {
    guard queued.cost > limits.queuedBytesInAll else { return }
    for slot in queued.holders(at: second, holder) {
      guard queued.cost > limits.queuedBytesInAll / 8 * 7 else { return }
      metrics.slowDevices.add()
      close(slot, .tooSlow)
    }
  }

  /// The same for incomplete frames.
  func boundUnfinished() {
    guard unfinished.cost > limits.unfinishedBytes else { return }
    for slot in unfinished.holders(at: second, holder) {
      guard unfinished.cost > limits.unfinishedBytes / 8 * 7 else { return }
      metrics.protocolErrors.add()
      close(slot, .tooSlow)
    }
  }

  private func holder(_ slot: UInt32) -> HeldMemory.Holder {
    HeldMemory.Holder(network: slab[slot].network, app: slab[slot].app)
  }
}
