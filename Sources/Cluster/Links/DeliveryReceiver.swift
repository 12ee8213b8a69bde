import BorealisBase

/// The pushes of one app at a gateway: in order and each once. At a gap it holds the stream and asks for a
/// replay from the newest push that it has applied. IDs grow over all homes of an app, so that the position
/// outlives an epoch. A state machine without input or output.
struct DeliveryReceiver {
  /// What is to be done with a message.
  enum Verdict: Equatable {
    /// It is the next one.
    case apply
    /// It was applied before, comes from an earlier home, or waits for a replay.
    case drop
    /// Something before it is missing: ask the home for a replay.
    case ask
  }

  /// The home that it hears.
  private(set) var home: Incarnation
  /// The epoch of that home.
  private(set) var epoch: Epoch
  /// The newest push applied.
  private(set) var applied = MessageID(0)
  /// A push of which not all parts have come, and the next of them.
  private var partial: (id: MessageID, part: UInt32)?
  /// When the home is asked for a replay again; nil if nothing is missing.
  private(set) var nextRequest: UInt64?

  init(home: Incarnation, epoch: Epoch) {
    self.home = home
    self.epoch = epoch
  }

  /// Another node has become the home, or says so. False if that is an old story.
  mutating func adopt(_ home: Incarnation, _ epoch: Epoch) -> Bool {
    guard epoch >= self.epoch else { return false }
    if epoch > self.epoch {
      (self.home, self.epoch) = (home, epoch)
      partial = nil
      nextRequest = nil
    }
    return home == self.home
  }

  /// What was heard of a later epoch than this one was not true: its home is believed again.
  mutating func fallBack(to epoch: Epoch) {
    guard epoch < self.epoch else { return }
    // A home names itself with its next message.
    self.epoch = Epoch(epoch.rawValue - min(1, epoch.rawValue))
    partial = nil
    nextRequest = nil
  }

  /// Receives a message of the current home.
  mutating func receive(_ message: ClusterMessage, now: UInt64) -> Verdict {
    guard let place = message.streamPlace else { return .apply }
    guard place.previous <= applied else { return miss(now: now) }
    if case .replayed = message {
      applied = max(applied, place.id)
      partial = nil
      nextRequest = nil
      return .apply
    }
    guard place.id > applied || place.id == place.previous else { return .drop }
    if place.part > 0 {
      guard let known = partial, known == (place.id, place.part) else { return miss(now: now) }
    }
    partial = place.isLast ? nil : (place.id, place.part + 1)
    if place.isLast { applied = max(applied, place.id) }
    nextRequest = nil
    return .apply
  }

  /// The home says that it has sent pushes up to one: asks if they are not here.
  mutating func note(sent id: MessageID, now: UInt64) -> Verdict { id > applied ? miss(now: now) : .drop }

  private mutating func miss(now: UInt64) -> Verdict {
    if let nextRequest, nextRequest > now { return .drop }
    nextRequest = now + ClusterLimits.replayInterval
    return .ask
  }
}
