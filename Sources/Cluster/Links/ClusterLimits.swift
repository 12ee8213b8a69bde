/// Every limit of what nodes tell each other over the bus.
package enum ClusterLimits {
  /// The versions that this program speaks: its own and, once there are two, the one before.
  package static let versions: ClosedRange<UInt8> = 1...2
  /// The first version whose gateways ask with a number, right behind a list of sessions, what these lack.
  package static let asksBehindSessions: UInt8 = 2
  /// Most bytes of a frame. NATS allows 1 MB; large messages hold up small ones on the connection between two
  /// of its servers.
  package static let maxFrame = 256 << 10
  /// The same of a sealed one.
  package static let maxSealedFrame = maxFrame + FrameSeal.overhead
  /// Most entries in a frame.
  package static let maxEntries = 4096
  /// Most bytes of a cluster's name.
  package static let maxName = 32
  /// Bytes of the ID of a database.
  package static let maxDatabase = 24
  /// Most bytes of a set of registration numbers in one message; a larger one is divided.
  package static let maxSet = 192 << 10
  /// Most bytes of what the devices get of a push, of a request of a device, or of its result.
  package static let maxContent = 128 << 10
  /// Most sessions that a push to few names.
  package static let maxHandles = 64
  /// Most logins in a frame.
  package static let maxLogins = 256
  /// Registration numbers in one bucket of a digest.
  package static let bucketNumbers: UInt32 = 4096

  /// Nanoseconds from one frame to a peer to the next, unless that is full.
  package static let flushDelay: UInt64 = 2_000_000
  /// The same for acknowledgements.
  package static let acknowledgementDelay: UInt64 = 100_000_000
  /// Nanoseconds for which frames wait for one before them.
  package static let reorderDelay: UInt64 = 250_000_000
  /// Most bytes that wait for a frame before them.
  package static let maxReorderBytes = 2 << 20
  /// Most frames that wait for a frame before them.
  package static let maxReorderFrames = 4096
  /// Most bytes sent to a peer that it has not said to have applied; with more it is behind and gets no
  /// pushes.
  package static let maxUnapplied = 8 << 20
  /// The bytes at which a peer is no longer behind.
  package static let resumeUnapplied = maxUnapplied / 2
  /// The most with everything that is not a push.
  package static let maxUnappliedOfAll = 9 << 20
  /// Most frames sent to a peer that it has not said to have applied.
  package static let maxUnappliedFrames = 65_536
  /// Bytes received from a peer after which it is told without waiting for the second to end.
  package static let appliedAfter = 1 << 20
  /// Nanoseconds between two POSITION and APPLIED.
  package static let positionInterval: UInt64 = 1_000_000_000
  /// Nanoseconds for which a peer's numbers contradict what came from it before they are believed: longer
  /// than any message is late.
  package static let resetDelay: UInt64 = 10_000_000_000
  /// POSITION in a row that have to say so.
  package static let resetPositions = 5
  /// Most nodes that one knows of. With more, those go first that say nothing.
  package static let maxLinks = 1024
  /// Nanoseconds between two HELLO to all.
  package static let helloInterval: UInt64 = 2_000_000_000
  /// Nanoseconds between two DIGEST of an app.
  package static let digestInterval: UInt64 = 3_000_000_000
  /// Nanoseconds after which a node that says nothing counts as silent.
  package static let silence: UInt64 = 6_000_000_000
  /// Nanoseconds between two REPLAY of an app.
  package static let replayInterval: UInt64 = 1_000_000_000
  /// Positions of apps in one POSITION or APPLIED.
  package static let positionsPerMessage = 4096
}
