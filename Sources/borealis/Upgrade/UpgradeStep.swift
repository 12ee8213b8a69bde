import Glibc

/// The steps of an upgrade, in the order in which the two processes reach them (Docs/decisions/0116).
enum UpgradeStep: String {
  /// The new process has the offer, and has said that it is prepared.
  case newPrepared = "new-prepared"
  /// The server knows that; nothing has changed for anybody.
  case oldPrepared = "old-prepared"
  /// No request is under way, and connections wait.
  case oldHolds = "old-holds"
  /// Channels and mail have ended.
  case oldQuiet = "old-quiet"
  /// The loops look at no socket.
  case oldRests = "old-rests"
  /// Everything is stored, and the database is closed.
  case oldFinished = "old-finished"
  /// Sessions are on their way.
  case oldPassed = "old-passed"
  /// The new process has all of them.
  case newPassed = "new-passed"
  /// It has read the database.
  case newRead = "new-read"
  /// It has said so.
  case newReady = "new-ready"
  /// The server knows that, and could still go on.
  case oldReady = "old-ready"
  /// It cannot any more.
  case oldGone = "old-gone"
  /// The new process has the place.
  case newGone = "new-gone"
  /// It knows the sessions, and has not looked at a socket.
  case newKnows = "new-knows"

  /// The variable with the path of a file that names the step at which a process stops as by SIGSTOP. Only
  /// in builds for tests.
  static let variable = "UPGRADE_STOP"

  func reach() {
    #if DEBUG
      guard let file = SmallFiles.variable(Self.variable), SmallFiles.read(file) == rawValue else { return }
      // To this thread: one that the whole process gets would let this thread run on for a moment.
      raise(SIGSTOP)
    #endif
  }
}
