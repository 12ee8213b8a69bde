import BorealisBase
import Model
import Storage

/// Deliveries that one request brings, since they have all but the device in common.
struct VendorBatch<Content: VendorContent> {
  let content: Content
  let push: MessageID
  let badge: Int64?
  let expires: Timestamp
  var deliveries: [Outgoing] = []
  /// One token of a request has one outcome; two registrations may have it for a moment.
  private var tokens: Set<[UInt8]> = []
  /// The fewest of its deliveries' `mostTogether`.
  private var most = Int.max

  init(_ content: Content, _ push: MessageID, badge: Int64?, _ expires: Timestamp) {
    self.content = content
    self.push = push
    self.badge = badge
    self.expires = expires
  }

  /// A batch for each delivery.
  var singles: [Self] {
    deliveries.map { one in
      var batch = Self(content, push, badge: badge, expires)
      _ = batch.add(one, badge: badge, most: 1)
      return batch
    }
  }

  /// Adds one that it has all else in common with; false if it has no place for it.
  mutating func add(_ one: Outgoing, badge: Int64?, most: Int) -> Bool {
    let together = min(self.most, one.delivery.mostTogether)
    guard self.badge == badge, expires == one.expires, deliveries.count < min(most, together),
      tokens.insert(one.delivery.row.token).inserted
    else { return false }
    self.most = together
    deliveries.append(one)
    return true
  }
}
