/// The wording that the project avoids, each with what to write instead.
enum Wording {
  /// A name or a phrase to avoid.
  struct Rule: Sendable {
    let term: String
    let instead: String

    init(_ term: String, _ instead: String) {
      self.term = term
      self.instead = instead
    }
  }

  /// Parts of identifiers and file names, in camel case: `DeviceDoor` also bans `DeviceDoors` but not
  /// `Device`.
  static let names = [
    Rule("BulkTeller", "BulkNotifier"),
    Rule("CallbackLane", "CallbackDestination"),
    Rule("DeviceDoor", "DeviceUpgradeHandler"),
    Rule("DoorPages", "LoginPages"),
    Rule("DoorRefusals", "HandshakeRejections"),
    Rule("KeyTelling", "KeyReporting"),
    Rule("LaneBoard", "DestinationLimiter"),
    Rule("OnceForms", "FormNonces"),
    Rule("PlannedPages", "SchedulePages"),
    Rule("SpeedPools", "PushRateLimiter"),
    Rule("SteadyPush", "PacedPush"),
    Rule("SteadyRelease", "PacingWindow"),
    Rule("Stranger", "unauthenticated connection; in tests outsider"),
    Rule("Strangers", "unauthenticated connections; in tests outsiders"),
    Rule("ToldToken", "ReportedToken"),
    Rule("canWait", "lowPriority"),
    Rule("frontSet", "foregroundSet"),
    Rule("inReach", "reachable"),
    Rule("isPatient", "lowPriority"),
  ]

  /// Words and phrases in prose, lower case; a hyphen or the end of a line counts as a space.
  static let phrases = [
    Rule("in earnest", "in production"),
    Rule("says and hears", "protocol log"),
    Rule("so to speak", "leave it out"),
    Rule("where each target stands", "targets by state"),
    Rule("whom mail is from", "sender address"),
  ]

  /// Published names that contain such a word.
  static let published = ["borealis_pushes_spreading", "network-strangers", "steady_push"]
}
