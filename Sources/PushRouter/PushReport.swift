import PushBase
import PushDomain
import PushStorage

/// The delivery status of a push.
public struct PushReport: Sendable {
  /// Its ID.
  public let id: MessageID
  /// When it was accepted, and when it ends.
  public let createdAt, expiresAt: Timestamp
  /// Whose rules chose the channels.
  public let strategy: Strategy
  /// Members of its audience, as they were counted when it was accepted.
  public let audience: Int
  /// The push in a word.
  public let status: PushStatus
  /// When it ended so; nil as long as it is open, or if that is not known.
  public let endedAt: Timestamp?
  /// Whether and when it was recalled or overridden, also if it had arrived everywhere; nil if not, or too late.
  public let withdrawal: OutcomeRow.Withdrawal?
  /// When its only target showed it, and when the user tapped it; nil until then, and of a push to several.
  public let shownAt, tappedAt: Timestamp?
  /// What has become of it for each target.
  public let targets: PushTargets
  /// What vendors' channels take over, or have, of what devices do not acknowledge in time; empty unless the sender asked for that.
  public let fallbacks: [ReportedFallback]
  /// What it has for iOS, and for the other platforms.
  public let iosParts, otherParts: PushParts
  /// Who is connected now.
  let online: NumberSet

  init?(_ rows: TargetRows, at now: Timestamp, online: NumberSet) {
    self.online = online
    guard let targets = PushTargets(rows, at: now) else { return nil }
    let push = rows.push
    id = push.id
    (createdAt, expiresAt) = (push.createdAt, push.expiresAt)
    strategy = Strategy(number: push.strategy) ?? .jpush
    audience = Int(push.targetCount)
    withdrawal = rows.withdrawal
    let stored = rows.outcome.flatMap { $0.status == .open ? nil : $0 }
    status = PushStatus(targets, withdrawal, stored?.status, isAlive: now < expiresAt)
    endedAt =
      status == stored.map({ PushStatus($0.status) })
      ? stored?.endedAt : status.isWithdrawn ? withdrawal?.at ?? stored?.endedAt : nil
    (shownAt, tappedAt) = (rows.outcome?.shownAt, rows.outcome?.tappedAt)
    self.targets = targets
    fallbacks = rows.fallbacks.map { ReportedFallback($0, targets) }
    let content = PushContent(decoding: push.content)
    iosParts = content?.parts(for: .ios) ?? []
    otherParts = content.map { $0.parts(for: .android).union($0.parts(for: .hmos)) } ?? []
  }
}

/// What a vendor's channel takes over, or has, of what devices do not acknowledge in time.
public struct ReportedFallback: Sendable {
  /// The channel.
  public let channel: ChannelID
  /// The seconds that the sender gave devices.
  public let seconds: Int64
  /// When it takes over, or did.
  public let at: Timestamp
  /// For how many it has taken over.
  public let handedOver: Int
  /// For how many it will if they do not acknowledge the push before.
  public let waiting: Int

  init(_ row: FallbackRow, _ targets: PushTargets) {
    (channel, seconds, at) = (row.channel, row.seconds, row.dueAt)
    let numbers = NumberSet(serialized: row.targets) ?? NumberSet()
    handedOver = row.isDone ? numbers.count : 0
    waiting = row.isDone ? 0 : numbers.intersectionCount(targets.waiting)
  }
}
