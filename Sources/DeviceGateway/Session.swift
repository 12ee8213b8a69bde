import BorealisBase
import BorealisNet
import BorealisProtocol

/// One device connection, flat, in a slab: the state of its protocol session, its socket and its app.
struct Session {
  /// Flags of the loop.
  struct Marks: OptionSet {
    let rawValue: UInt8

    /// Counted by the guard as a connection without a login.
    static let unauthenticated = Marks(rawValue: 1)
    /// In the list of sessions to flush at the end of the turn.
    static let dirty = Marks(rawValue: 2)
    /// It has an entry in the wheel of incomplete frames.
    static let frameWatched = Marks(rawValue: 4)
    /// In the list of sessions whose window is full.
    static let crowded = Marks(rawValue: 8)
    /// In the list of sessions that may have missed pushes.
    static let lagging = Marks(rawValue: 16)
    /// Its queue is counted.
    static let queued = Marks(rawValue: 32)
  }

  // Ordered without padding: there may be a million.
  var core = DeviceSession()
  var marks: Marks = []
  /// Index into the loop's apps.
  var app: Int32 = -1
  var connection = Connection()
  var network = PeerNetwork(rawValue: 0)
  /// Position in that app's list of sessions.
  var position: UInt32 = 0
  var number: UInt32 = 0
}
