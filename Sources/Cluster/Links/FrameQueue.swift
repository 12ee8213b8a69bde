import BorealisBase

/// What one node has for another, in the order in which it was added, as a state machine without input or
/// output. Messages of one type that follow each other share a frame. Moments are nanoseconds of the
/// monotonic clock.
struct FrameQueue {
  /// Entries of one type, encoded.
  private struct Pending: Sendable {
    let type: MessageType
    var count: Int
    var bytes: [UInt8]
    /// When the first of them was added.
    let since: UInt64
    /// What the peer has to read of it before the sender counts it as applied.
    var cost: Int { bytes.count + FrameHead.maxBytes }
  }

  /// Why a message was not added.
  enum Refusal: Error {
    /// The peer has too much that it has not applied.
    case behind
    /// The message does not fit a frame.
    case tooLarge
  }

  private var pending = FIFO<Pending>()
  private var open: Pending?
  private var queuedBytes = 0
  /// Frames sent that the peer has not said to have applied, oldest first.
  private var unapplied = FIFO<(sequence: UInt64, bytes: Int)>()
  private var unappliedBytes = 0
  /// When the queue is to be sent; nil if it is empty.
  private(set) var deadline: UInt64?
  private var lastFlush: UInt64?
  /// The sequence number of the newest frame.
  private(set) var sequence: UInt64 = 0
  /// Frames up to this one are applied.
  private(set) var applied: UInt64 = 0
  /// The peer gets no pushes until it has applied enough.
  private(set) var isBehind = false

  /// Bytes that the peer has not applied, sent or not.
  var cost: Int { queuedBytes + unappliedBytes }
  /// Whether frames were sent that the peer has not applied.
  var isUnapplied: Bool { applied < sequence }
  /// Frames that the peer has not applied.
  var unappliedFrames: Int { unapplied.count }

  /// Adds a message behind all others.
  mutating func add(_ entry: ClusterEntry, now: UInt64) throws(Refusal) {
    guard !(isBehind && entry.message.isDelivery), cost < ClusterLimits.maxUnappliedOfAll,
      unapplied.count + pending.count < ClusterLimits.maxUnappliedFrames
    else {
      isBehind = true
      throw .behind
    }
    var bytes: [UInt8] = []
    entry.write(into: &bytes)
    guard FrameHead.maxBytes + bytes.count <= ClusterLimits.maxFrame else { throw .tooLarge }
    append(bytes, entry.message.type, now: now)
    if cost >= ClusterLimits.maxUnapplied { isBehind = true }
    // At once if nothing was sent lately.
    let soon =
      entry.message.isAcknowledgement
      ? now + ClusterLimits.acknowledgementDelay
      : max(now, (lastFlush ?? 0) + ClusterLimits.flushDelay)
    deadline = min(deadline ?? .max, queuedBytes >= ClusterLimits.maxFrame ? now : soon)
  }

  private mutating func append(_ bytes: [UInt8], _ type: MessageType, now: UInt64) {
    let most = type == .login ? ClusterLimits.maxLogins : ClusterLimits.maxEntries
    if var last = open, last.type == type, last.count < most,
      last.cost + bytes.count <= ClusterLimits.maxFrame
    {
      open = nil
      last.count += 1
      last.bytes += bytes
      queuedBytes += bytes.count
      open = last
      return
    }
    close()
    let new = Pending(type: type, count: 1, bytes: bytes, since: now)
    queuedBytes += new.cost
    open = new
  }

  private mutating func close() {
    guard let last = open else { return }
    pending.append(last)
    open = nil
  }

  /// Removes and returns the frames that are due, in order.
  mutating func popDue(
    now: UInt64, _ cluster: ClusterName, version: UInt8, from: Incarnation, to: Incarnation
  ) -> [[UInt8]] {
    guard let deadline, deadline <= now else { return [] }
    close()
    var frames: [[UInt8]] = []
    while let next = pending.popFirst() {
      sequence += 1
      let head = FrameHead(version: version, type: next.type, from: from, to: to, sequence: sequence)
      unapplied.append((sequence, next.cost))
      unappliedBytes += next.cost
      queuedBytes -= next.cost
      let frame = ClusterFrame.encode(
        head, count: next.count, entries: next.bytes, saidAt: next.since / 1_000_000, cluster: cluster)
      if let frame {
        frames.append(frame)
      } else {
        assertionFailure("what was added fits a frame")
      }
    }
    self.deadline = nil
    lastFlush = now
    return frames
  }

  /// The peer has applied all frames up to one. True if it was behind and no longer is.
  mutating func apply(through sequence: UInt64) -> Bool {
    guard sequence > applied, sequence <= self.sequence else { return false }
    applied = sequence
    while let first = unapplied.first, first.sequence <= sequence {
      _ = unapplied.popFirst()
      unappliedBytes -= first.bytes
    }
    guard isBehind, cost <= ClusterLimits.resumeUnapplied,
      unapplied.count <= ClusterLimits.maxUnappliedFrames / 2
    else { return false }
    isBehind = false
    return true
  }
}
