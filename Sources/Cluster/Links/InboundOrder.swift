import BorealisBase

/// Puts the frames of one peer back into their order, as a state machine without input or output: repeats are
/// dropped, and a frame that does not come in time is told as a gap. Whoever hears of a gap repairs it by
/// comparing; nothing is sent twice for it here.
struct InboundOrder {
  /// What comes out, in order.
  enum Output: Equatable {
    /// The next frame.
    case frame([UInt8])
    /// These sequence numbers are given up. One of them that still comes is dropped like a repeat.
    case gap(ClosedRange<UInt64>)
  }

  /// What became of a frame.
  enum Verdict: Equatable {
    case taken
    case repeated
    /// No peer can be so far ahead.
    case tooFarAhead
  }

  private struct Held {
    let sequence: UInt64
    let bytes: [UInt8]
    let arrival: UInt64
  }

  /// The number of the next frame.
  private(set) var next: UInt64 = 1
  /// Frames that wait for one before them, by number.
  private var held: [Held] = []
  /// Bytes of them.
  private(set) var heldBytes = 0
  /// The peer says that it has sent this one, and when it first did.
  private var tail: (sequence: UInt64, heard: UInt64)?
  /// The peer's numbers contradict what has come out up to `mark`: since when, how often, and the newest of
  /// them.
  private var doubt: (since: UInt64, mark: UInt64, count: Int, newest: UInt64)?

  /// Frames that wait.
  var heldCount: Int { held.count }
  /// All frames up to this one have come out or are given up.
  var passed: UInt64 { next - 1 }

  /// When the frames before a waiting one are given up; nil if nothing waits.
  var deadline: UInt64? {
    let waiting = [held.first?.arrival, tail?.heard].compactMap { $0 }.min()
    return waiting.map { $0 + ClusterLimits.reorderDelay }
  }

  /// Records a frame with a number from 1.
  mutating func add(_ sequence: UInt64, _ bytes: [UInt8], now: UInt64, _ output: inout [Output]) -> Verdict {
    guard sequence >= next else { return .repeated }
    guard sequence - next <= 2 * UInt64(ClusterLimits.maxUnappliedFrames) else { return .tooFarAhead }
    if sequence == next {
      output.append(.frame(bytes))
      next += 1
    } else {
      let place = held.lastIndex { $0.sequence <= sequence }
      if let place, held[place].sequence == sequence { return .repeated }
      held.insert(
        Held(sequence: sequence, bytes: bytes, arrival: now), at: place.map { $0 + 1 } ?? 0)
      heldBytes += bytes.count
    }
    release(&output)
    while heldBytes > ClusterLimits.maxReorderBytes || held.count > ClusterLimits.maxReorderFrames {
      giveUpBeforeFirst(&output)
    }
    return .taken
  }

  /// The peer says that it has sent all frames up to one. False if that cannot be.
  ///
  /// A frame with a number that the peer never gave would end the order for good: all that really comes is a
  /// repeat from there on. So if what the peer says fits nothing for as long as no message is late, it is the
  /// peer that is believed, and the order begins anew.
  mutating func note(sent sequence: UInt64, now: UInt64, _ output: inout [Output]) -> Bool {
    let isTooFar = sequence >= next && sequence - next > 2 * UInt64(ClusterLimits.maxUnappliedFrames)
    guard sequence < .max / 2 else { return false }
    // An old position says less than has come out; one that is sent from now on does not.
    if isTooFar || sequence < doubt?.mark ?? passed {
      var known = doubt ?? (now, passed, 0, 0)
      known.count += 1
      known.newest = max(known.newest, sequence)
      doubt = known
      if known.count >= ClusterLimits.resetPositions, now >= known.since + ClusterLimits.resetDelay {
        reset(to: known.newest, &output)
        return true
      }
      return !isTooFar
    }
    doubt = nil
    guard sequence >= next else { return true }
    // The newer tail gets its own time when the older one is settled.
    if tail == nil { tail = (sequence, now) }
    return true
  }

  /// The next frame is the one behind a number; what is held came with numbers beyond belief.
  private mutating func reset(to sequence: UInt64, _ output: inout [Output]) {
    // How many are lost nobody can say.
    output.append(.gap(next...next))
    self = InboundOrder()
    next = sequence + 1
  }

  /// Gives up what is overdue.
  mutating func tick(now: UInt64, _ output: inout [Output]) {
    while let first = held.first, first.arrival + ClusterLimits.reorderDelay <= now {
      giveUpBeforeFirst(&output)
    }
    guard let tail, tail.heard + ClusterLimits.reorderDelay <= now else { return }
    // Frames that are held behind a part of the tail come out on the way.
    while let first = held.first, first.sequence <= tail.sequence { giveUpBeforeFirst(&output) }
    if next <= tail.sequence {
      output.append(.gap(next...tail.sequence))
      next = tail.sequence + 1
    }
    release(&output)
  }

  private mutating func giveUpBeforeFirst(_ output: inout [Output]) {
    guard let first = held.first else { return }
    if first.sequence > next {
      output.append(.gap(next...first.sequence - 1))
      next = first.sequence
    }
    release(&output)
  }

  /// Lets out what waits for nothing any more.
  private mutating func release(_ output: inout [Output]) {
    var count = 0
    while count < held.count, held[count].sequence <= next {
      let frame = held[count]
      count += 1
      heldBytes -= frame.bytes.count
      guard frame.sequence == next else { continue }
      output.append(.frame(frame.bytes))
      next += 1
    }
    held.removeFirst(count)
    if let tail, tail.sequence < next { self.tail = nil }
  }
}
