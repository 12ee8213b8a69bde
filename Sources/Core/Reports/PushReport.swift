import BorealisBase
import Model
import Storage

/// The delivery status of a push.
package struct PushReport: Sendable {
  package let id: MessageID
  /// When it was accepted, and when it ends.
  package let createdAt, expiresAt: Timestamp
  /// Whose rules chose the channels.
  package let strategy: Strategy
  /// Members of its audience, as they were counted when it was accepted.
  package let audience: Int
  /// How many it left out since they show no notifications.
  package let leftOut: Int
  /// How many had as many notifications on that day as they may.
  package let capped: Int
  /// How many were in their quiet hours and do not get it.
  package let quiet: Int
  /// How many wait for the end of their quiet hours, and when the last of these end: now if they have, and a
  /// channel has no room. Nil if none does.
  package let held: (count: Int, until: Timestamp)?
  /// The push in a word.
  package let status: PushStatus
  /// When it ended so; nil as long as it is open, or if that is not known.
  package let endedAt: Timestamp?
  /// Whether and when it was recalled or overridden, also if it had arrived everywhere; nil if not, or too
  /// late.
  package let withdrawal: OutcomeRow.Withdrawal?
  /// When its only target showed it, and when the user tapped it; nil until then, and of a push to several.
  package let shownAt, tappedAt: Timestamp?
  /// What has become of it for each target.
  package let targets: PushTargets
  /// What vendors' channels take over, or have, of what devices do not acknowledge in time; empty unless the
  /// sender asked for that.
  package let fallbacks: [ReportedFallback]
  package let iosParts: PushParts
  /// What it has for the targets on other platforms, by those who get the same; nobody is in two of them.
  let otherParts: [(parts: PushParts, targets: NumberSet)]
  /// Whether the app is to show it in its own pages as well.
  package let isInApp: Bool

  /// Reads what is stored; nil if it is unreadable.
  init?(_ rows: TargetRows, at now: Timestamp, in directory: AppDirectory) {
    guard let targets = PushTargets(rows, at: now) else { return nil }
    let push = rows.push
    id = push.id
    (createdAt, expiresAt) = (push.createdAt, push.expiresAt)
    strategy = Strategy(number: push.strategy) ?? .jpush
    audience = Int(push.targetCount)
    leftOut = push.leftOut.flatMap { NumberSet(serialized: $0)?.count } ?? 0
    capped = push.capped.flatMap { NumberSet(serialized: $0)?.count } ?? 0
    quiet = push.quiet.flatMap { NumberSet(serialized: $0)?.count } ?? 0
    var held: (count: Int, until: Timestamp)?
    for row in rows.held {
      let count = NumberSet(serialized: row.targets)?.intersectionCount(targets.waiting) ?? 0
      if count > 0 { held = ((held?.count ?? 0) + count, max(row.until, now)) }
    }
    self.held = held
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
    isInApp = content?.isInApp ?? false
    otherParts = Self.otherParts(content, push.platforms, targets.all.subtracting(targets.ios), directory)
  }

  private static func otherParts(
    _ content: PushContent?, _ platforms: PlatformSet, _ targets: NumberSet, _ directory: AppDirectory
  ) -> [(parts: PushParts, targets: NumberSet)] {
    var known: [(platform: Platform, parts: PushParts)] = []
    for platform in Platform.allCases where platform != .ios && platforms.contains(platform) {
      let parts = content?.parts(for: platform) ?? []
      if !parts.isEmpty { known.append((platform, parts)) }
    }
    guard Set(known.map(\.parts)).count > 1 else { return known.prefix(1).map { ($0.parts, targets) } }
    var left = targets
    var groups: [(parts: PushParts, targets: NumberSet)] = []
    for (platform, parts) in known {
      let members = left.intersection(directory.members(platforms: PlatformSet(platform)))
      groups.append((parts, members))
      left.subtract(members)
    }
    // What the platforms of replaced registrations were is not known any more.
    groups.append((known.reduce(into: []) { $0.formUnion($1.parts) }, left))
    return groups
  }
}

/// What a vendor's channel takes over, or has, of what devices do not acknowledge in time.
package struct ReportedFallback: Sendable {
  package let channel: ChannelID
  /// The seconds that the sender gave devices.
  package let seconds: Int64
  /// When it takes over, or did.
  package let at: Timestamp
  /// For how many it has taken over.
  package let handedOver: Int
  /// For how many it will if they do not acknowledge the push before.
  package let waiting: Int

  init(_ row: FallbackRow, _ targets: PushTargets) {
    (channel, seconds, at) = (row.channel, row.seconds, row.dueAt)
    let numbers = NumberSet(serialized: row.targets) ?? NumberSet()
    handedOver = row.isDone ? numbers.count : 0
    waiting = row.isDone ? 0 : numbers.intersectionCount(targets.waiting)
  }
}
