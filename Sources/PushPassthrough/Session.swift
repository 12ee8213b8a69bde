import PushBase
import PushNet
import PushWire

/// One device connection, flat, in a slab: what was said on it, and what connects that to its socket and to its app.
struct Session {
  /// What the loop has noted about it.
  struct Marks: OptionSet {
    let rawValue: UInt8

    /// Counted by the guard as a connection without a login.
    static let unauthenticated = Marks(rawValue: 1)
    /// In the list of sessions to flush at the end of the turn.
    static let dirty = Marks(rawValue: 2)
    /// An entry in the wheel of unfinished frames is its.
    static let frameWatched = Marks(rawValue: 4)
    /// In the list of sessions whose window is full.
    static let crowded = Marks(rawValue: 8)
    /// In the list of sessions that may have missed pushes.
    static let lagging = Marks(rawValue: 16)
  }

  // In an order that leaves no gaps: there may be a million.
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
