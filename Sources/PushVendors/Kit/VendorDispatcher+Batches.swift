import PushBase
import PushChannels
import PushDomain
import PushRouter
import PushStorage

/// What requests are made of, and what is seen of the service.
extension VendorDispatcher {
  /// What was seen of the service.
  struct ServiceView: Sendable {
    var answeredAt: Timestamp?
    var failingSince: Timestamp?
    var failure: String?
    var failedAt: Timestamp?

    var health: ChannelHealth {
      if let failingSince { return .unreachable(since: failingSince, reason: failure ?? "") }
      return answeredAt.map { .idle(since: $0) } ?? .unused
    }
  }

  /// Deliveries that one request brings, since they have all but the device in common.
  struct Batch {
    let content: V.Content
    let push: MessageID
    let badge: Int64?
    let expires: Timestamp
    var deliveries: [Outgoing] = []
    /// One token of a request has one outcome; two registrations may have it for a moment.
    private var tokens: Set<[UInt8]> = []

    init(_ content: V.Content, _ push: MessageID, badge: Int64?, _ expires: Timestamp) {
      self.content = content
      self.push = push
      self.badge = badge
      self.expires = expires
    }

    /// Adds one that it has all else in common with; false if it has no place for it.
    mutating func add(_ one: Outgoing, badge: Int64?, most: Int) -> Bool {
      guard self.badge == badge, expires == one.expires, deliveries.count < most,
        tokens.insert(one.delivery.row.token).inserted
      else { return false }
      deliveries.append(one)
      return true
    }
  }

  func batches(of taken: [Outgoing]) -> [Batch] {
    var batches: [Batch] = []
    var open: [ObjectIdentifier: Int] = [:]
    for one in taken {
      guard let content = one.content as? V.Content else { continue }
      let badge: Int64? =
        switch content.badge {
        case .unchanged: nil
        case .set(let number): Int64(number)
        // The database's number was changed when the device was looked up.
        case .add: one.delivery.row.badge
        }
      let most = min(vendor.mostTokens, content.mostTokens)
      if let place = open[ObjectIdentifier(content)], batches[place].add(one, badge: badge, most: most) {
        continue
      }
      open[ObjectIdentifier(content)] = batches.count
      var batch = Batch(content, one.push, badge: badge, one.expires)
      _ = batch.add(one, badge: badge, most: most)
      batches.append(batch)
    }
    return batches
  }

  /// Until midnight by the clocks of China, which know no summer time.
  static func secondsToQuotaReset(from now: Timestamp) -> Int64 {
    86_400 - (now.seconds + 8 * 3600) % 86_400
  }
}
