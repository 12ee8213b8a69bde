import BorealisBase
import Model
import Storage
import Synchronization

/// A committed push with what one channel has to deliver of it.
package struct ChannelPush: Sendable {
  /// The app it belongs to.
  package let app: App
  /// Its ID, the same on every channel.
  package let id: MessageID
  /// Who gets the channel's main leg.
  package let targets: Recipients
  /// Who gets its other legs, by number.
  package let others: [UInt8: Recipients]
  package let push: StoredPush
  /// Its content as the database holds it.
  package let content: [UInt8]
  /// When it was accepted, and when it ends.
  package let acceptedAt, expires: Timestamp
  /// When each device gets it, nil for at once.
  package let pacing: PacingWindow?
  /// Whether it was sent to one device alone, whatever the channels.
  package let isToOne: Bool
  /// Those of the targets over our connection that wait for the end of their quiet hours, nil for nobody.
  package var held: NumberSet?

  /// Makes a push. `content` may be left out where no device asks for it again.
  package init(
    app: App, id: MessageID, targets: Recipients, others: [UInt8: Recipients] = [:], push: StoredPush,
    content: [UInt8] = [], acceptedAt: Timestamp = Timestamp(milliseconds: 0), expires: Timestamp,
    pacing: PacingWindow? = nil, isToOne: Bool = false
  ) {
    self.app = app
    self.id = id
    self.targets = targets
    self.others = others
    self.push = push
    self.content = content
    self.acceptedAt = acceptedAt
    self.expires = expires
    self.pacing = pacing
    self.isToOne = isToOne
  }

  /// The stored push, nil if it is unreadable. `pacingMinutes` is the pacing window in minutes, nil for a
  /// push that is not paced, or not any more.
  package init?(_ row: PushRow, _ channel: ChannelID, app: App, pacingMinutes: Int64? = nil) {
    guard let push = StoredPush(row), let legs = row.legTargets else { return nil }
    var others: [UInt8: Recipients] = [:]
    for (leg, targets) in legs where leg.channel == channel && !leg.isMain {
      others[leg.number] = Recipients(targets)
    }
    self.init(
      app: app, id: row.id, targets: Recipients(legs[DeliveryLeg(channel)] ?? NumberSet()), others: others,
      push: push, content: row.content, acceptedAt: row.createdAt, expires: row.expiresAt,
      pacing: PacingWindow(row, minutes: pacingMinutes), isToOne: row.targetCount == 1)
  }

  /// The push in each language other than its default, with those of the targets who get it in that.
  package var translations: [(push: ChannelPush, targets: NumberSet)] {
    (push.languages?.texts ?? []).map { text in
      let other = StoredPush(
        content: text.content, strategy: push.strategy, elsewhere: push.elsewhere, fallback: push.fallback)
      return (ChannelPush(self, saying: other), text.targets)
    }
  }

  private init(_ push: ChannelPush, saying other: StoredPush) {
    self.init(
      app: push.app, id: push.id, targets: push.targets, others: push.others, push: other,
      acceptedAt: push.acceptedAt, expires: push.expires, pacing: push.pacing, isToOne: push.isToOne)
  }

  /// The targets of a leg of the channel, nil for none.
  package func targets(leg number: UInt8) -> Recipients? {
    let targets = number == DeliveryLeg.main ? targets : others[number]
    return targets.flatMap { $0.isEmpty ? nil : $0 }
  }
}

extension PushRow {
  /// Who gets it from which vendor's channel; nil if a set is unreadable.
  var legTargets: [DeliveryLeg: NumberSet]? {
    var targets: [DeliveryLeg: NumberSet] = [:]
    for row in legs {
      guard let set = NumberSet(serialized: row.targets) else { return nil }
      targets[row.leg] = set
    }
    return targets
  }
}

/// What a channel can no longer recall of a push, by leg.
package struct ChannelHold: Sendable {
  /// The targets for which its service has responded, also where that is not stored yet.
  package var answered: [DeliveryLeg: NumberSet] = [:]
  /// Who is in a request that its service has not answered: it may have taken it.
  package var inFlight: [DeliveryLeg: NumberSet] = [:]

  /// Nothing.
  package init() {}
}

/// Who takes a push back: one that fails lets go of what it held itself, and of nothing that another holds.
package struct PushHolder: Hashable, Sendable {
  private static let last = Atomic<UInt64>(0)
  private let number = last.wrappingAdd(1, ordering: .relaxed).newValue

  /// Makes one like no other.
  package init() {}
}

/// A way to reach devices. The router has a list of channels and knows none by name: passthrough, over direct
/// connections, is one of them, and delivers what services (`ServiceChannel`) do not.
///
/// Unless documented otherwise, it is called from the storage writer's thread, in commit order, and must only
/// pass the work on.
package protocol Channel: AnyObject, Sendable {
  /// What it is and can do.
  var info: ChannelInfo { get }
  /// Delivers a push that was committed.
  func deliver(_ push: ChannelPush)
  /// A push was recalled or replaced: stops sending it. Returns for how many devices it still waited.
  func withdraw(_ id: MessageID, of app: App, _ status: OutcomeStatus, at now: Timestamp) -> Int
  /// Has devices that got a recalled push, and have not shown it yet, remove it. A channel to a service
  /// is asked only if that has taken the push for a device, or may be taking it.
  func recall(_ id: MessageID, of app: App, audience: NumberSet)
  /// How each of its services stands for an app. On any thread.
  func status(of app: App) -> [ChannelStatus]
  /// An app was deleted.
  func forget(_ app: App)
}

/// What a channel need not have.
extension Channel {
  /// Nothing waits.
  package func withdraw(_ id: MessageID, of app: App, _ status: OutcomeStatus, at now: Timestamp) -> Int { 0 }
  /// Nothing can be recalled from devices.
  package func recall(_ id: MessageID, of app: App, audience: NumberSet) {}
  /// There are no services.
  package func status(of app: App) -> [ChannelStatus] { [] }
  /// Nothing is known of apps.
  package func forget(_ app: App) {}
}
