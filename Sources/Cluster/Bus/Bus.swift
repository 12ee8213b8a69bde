/// Whom a frame is for.
package enum BusTarget: Hashable, Sendable {
  /// One node.
  case node(Incarnation)
  /// All nodes of the cluster but the sender.
  case all
}

/// What happens to a connection to the bus.
package enum BusEvent: Hashable, Sendable {
  /// The bus can be used, for the first time or again. What was published in between is lost.
  case connected
  /// The bus is away; it is tried again for ever.
  case disconnected
  /// The bus says that something is wrong; a short text without secrets.
  case failed(String)
  /// Frames came faster than they were taken, and so many were dropped since the last event of this kind.
  case overflowed(UInt64)
  /// A frame has come that no node of this installation has sealed, and was dropped. Told once.
  case unsealed
}

/// What a bus has met since it started. None of it is an error by itself: a bus may lose, repeat, delay and
/// mix up anything.
package struct BusCounts: Hashable, Sendable {
  /// Frames handed to the bus.
  package var published: UInt64 = 0
  /// Frames not handed to it, since it is away or does not keep up.
  package var refused: UInt64 = 0
  /// Frames that came.
  package var received: UInt64 = 0
  /// Frames that came and were dropped, since nobody took them in time.
  package var dropped: UInt64 = 0
  /// Frames that came and were dropped, since no node of this installation has sealed them.
  package var unsealed: UInt64 = 0
  /// Times that the connection was lost.
  package var disconnections: UInt64 = 0
  /// Errors told by the bus.
  package var errors: UInt64 = 0

  /// All zero.
  package init() {}
}

/// Carries frames from node to node, without promises: it may lose, repeat, delay and reorder them, and it
/// never blocks who calls it. Everything in it is bounded.
package protocol Bus: AnyObject, Sendable {
  /// Publishes a frame of at most `ClusterLimits.maxSealedFrame` bytes. False if it is refused at once, which
  /// counts as lost. Called from one thread.
  @discardableResult
  func publish(_ frame: [UInt8], to target: BusTarget) -> Bool
  /// Removes and returns the frames and events since the last call, each in order.
  func drain() -> (frames: [[UInt8]], events: [BusEvent])
  /// What it has met.
  var counts: BusCounts { get }
  /// Ends the connection. Nothing comes any more.
  func close()
}
