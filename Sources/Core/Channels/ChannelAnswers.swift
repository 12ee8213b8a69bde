import BorealisBase
import Model
import Storage

/// The targets by outcome of a push's legs: one of `ChannelEnd`, or a reason of the channel's service.
package typealias LegOutcomes = [DeliveryLeg: [String: NumberSet]]

/// What a channel's service has answered for a push, to be stored.
package struct ChannelAnswers: Sendable {
  /// The push.
  package let id: MessageID
  /// The channel that all of it is about.
  package let channel: ChannelID
  /// All that is known.
  package let results: LegOutcomes
  package let news: LegOutcomes
  /// Whether there is an outcome for all.
  package let isFinal: Bool

  package init(
    id: MessageID, channel: ChannelID, results: LegOutcomes, news: LegOutcomes, isFinal: Bool
  ) {
    self.id = id
    self.channel = channel
    self.results = results
    self.news = news
    self.isFinal = isFinal
  }

  /// How the push ended, if no device waits for it on the direct connection.
  private var status: OutcomeStatus {
    func has(_ reason: String) -> Bool { results.values.contains { $0[reason]?.isEmpty == false } }
    if has(ChannelEnd.delivered) { return .delivered }
    return has(ChannelEnd.expired) ? .expired : .refused
  }

  func store(
    of app: AppID, at now: Timestamp, in transaction: WriteTransaction
  ) throws(StorageError) -> [DeliveryEvent] {
    var events: [DeliveryEvent] = []
    var newly = news.mapValues { $0.mapValues { $0.members() } }
    for leg in newly.keys {
      guard let accepted = newly[leg]?[ChannelEnd.delivered] else { continue }
      newly[leg]?[ChannelEnd.delivered] = try transaction.unproven(accepted, id, at: now) {
        $0.on(leg.channel).arrived
      }
    }
    for (leg, outcomes) in results {
      // With the last of them all are stored: an earlier attempt may have failed.
      for (reason, all) in outcomes where isFinal || news[leg]?[reason] != nil {
        try transaction.channelQueue.saveResult(id, leg, reason, targets: all.serialized(), count: all.count)
        guard let numbers = newly[leg]?[reason] else { continue }
        let what: DeliveryEvent.What =
          reason == ChannelEnd.delivered
          ? .delivered(numbers, channel) : .refused(numbers, channel, reason: reason)
        events.append(DeliveryEvent(push: id, app: app, what: what, at: now))
      }
    }
    // Whether all have it the end alone does not tell then: something waits here besides, devices have said
    // more, or the push was recalled before the service answered.
    var isUnclear = try transaction.deliveries.hasReceipts(id)
    if isFinal, try !coversAll(in: transaction) {
      // It has taken over more devices since: it goes on with them.
      isUnclear = true
    } else if isFinal {
      if try transaction.channelQueue.finish(id: id, app: app, channel: channel) {
        let isEnd = try transaction.deliveries.settleUnlessPending(
          Settlement(id: id, status: status, at: now))
        isUnclear = isUnclear || !isEnd
        // All that became of it was stored before: that this is the end is told all the same.
        if events.isEmpty, try transaction.deliveries.isOver(id, app: app) {
          events.append(DeliveryEvent(push: id, app: app, what: .ended(status, lastly: nil), at: now))
        }
      } else {
        isUnclear = true
      }
    } else if try transaction.deliveries.isOver(id, app: app) {
      isUnclear = true
    }
    if isUnclear { try transaction.reckon(id, at: now) }
    return events
  }

  /// Whether there is an outcome for all whom the channel is to bring it to by now.
  private func coversAll(in transaction: WriteTransaction) throws(StorageError) -> Bool {
    let leg = DeliveryLeg(channel)
    guard let grown = try transaction.channelQueue.grownTargets(of: id, leg) else { return true }
    let answered = (results[leg] ?? [:]).values.reduce(into: NumberSet()) { $0.formUnion($1) }
    let targets = NumberSet(serialized: grown)
    return targets?.subtracting(answered).isEmpty ?? true
  }
}
