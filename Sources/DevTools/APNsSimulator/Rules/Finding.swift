/// What is not refused and still is a fault of the sender: counted, and named in the log.
enum Finding: String, CaseIterable, Sendable {
  /// Newer systems want `apns-push-type` on every push.
  case missingPushType = "no apns-push-type"
  case unknownAPNSHeader = "unknown apns- header"
  /// A background push needs `content-available` 1 and shows nothing.
  case backgroundContent = "content of a background push"
  /// An alert push shows, badges or sounds something.
  case alertContent = "content of an alert push"
  /// A Live Activity needs `timestamp`, `event` and, but for the end, `content-state`.
  case liveActivityContent = "content of a Live Activity push"
  /// `content-available` and `mutable-content` are the number 1.
  case flagIsNoNumber = "flag is not the number 1"
  /// A token is pushed to again after a 410.
  case pushAfterGone = "push to a token after 410"
  /// Two provider tokens of one key were made less than 20 minutes apart.
  case providerTokenSpacing = "provider tokens less than 20 minutes apart"
  /// A stream was opened above a limit that the client has acknowledged.
  case streamAboveLimit = "stream above the acknowledged limit"
  /// A stream was opened by a client that had been sent a GOAWAY before.
  case streamAfterGoAway = "stream after GOAWAY"
}
