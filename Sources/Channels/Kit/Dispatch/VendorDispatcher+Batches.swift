import BorealisBase
import Core
import HTTP
import Model
import Storage
import Synchronization

/// What requests are made of.
extension VendorDispatcher {
  typealias Batch = VendorBatch<V.Content>

  /// The most devices that one request reaches now.
  var mostTokens: Int {
    let now = parts.time.now().seconds
    return state.withLock { $0.sendsSinglyUntil > now } ? 1 : vendor.mostTokens
  }

  func batches(of taken: [Outgoing]) -> [Batch] {
    let limit = mostTokens
    var batches: [Batch] = []
    var open: [ObjectIdentifier: Int] = [:]
    for one in taken {
      guard let content = one.content as? V.Content else { continue }
      let badge: Int64? =
        switch content.badge {
        case .unchanged: nil
        // The database's number was changed when the device was looked up.
        case .set, .add: one.delivery.row.badge
        }
      // A token that was refused last may have a whole request refused.
      let isSuspect = limit > 1 && queue?.tokens.suspects(AnsweredToken(one.delivery), of: service) == true
      let most = isSuspect ? 1 : min(limit, content.mostTokens)
      if let place = open[ObjectIdentifier(content)], batches[place].add(one, badge: badge, most: most) {
        continue
      }
      open[ObjectIdentifier(content)] = batches.count
      var batch = Batch(content, one.push, badge: badge, one.expires)
      _ = batch.add(one, badge: badge, most: most)
      batches.append(batch)
    }
    return batches.flatMap { $0.deliveries.count < vendor.fewestTokens ? $0.singles : [$0] }
  }

  /// Sends the request that prepares a push, and then those of the batches that have come for it meanwhile.
  func prepare(_ batch: Batch, with request: OutgoingRequest, _ token: AccessToken, _ queue: ChannelQueue) {
    let push = ObjectIdentifier(batch.content)
    let isFirst = preparing.withLock { waiting in
      waiting[push, default: []].append(batch)
      return waiting[push]?.count == 1
    }
    guard isFirst else { return }
    let span = beginSpan(of: batch)
    parts.transport.send(request) { [self] answer in
      let waiting = preparing.withLock { $0.removeValue(forKey: push) ?? [] }
      guard !answer.isClosed else { return state.withLock { $0.inFlight -= waiting.count } }
      note(answer)
      let outcome = answer.status == 0 ? nil : vendor.prepared(answer, batch.content, with: credential)
      end(span, of: batch, answer, preparing: outcome)
      // No device can have got anything of it.
      var lost = answer
      lost.wasSent = false
      for batch in waiting {
        guard outcome != .accepted else {
          send(batch, token, queue)
          continue
        }
        state.withLock { $0.inFlight -= 1 }
        answered(batch, outcome.map { VendorAnswer($0) }, lost: lost)
      }
      wake()
    }
  }

  /// What the service has said of today's quota; nil if nothing.
  var quota: ChannelQuota? {
    let now = parts.time.now()
    return state.withLock { $0.quota.known(at: now) }
  }

  /// Keeps what the service says of the quota.
  func note(_ said: (total: Int64, used: Int64)) {
    let now = parts.time.now()
    state.withLock { $0.quota.note(said, at: now) }
  }

  /// A quota is used up; nil for the only one, without which nothing can be sent. What follows from that.
  func useUp(_ quota: String?, _ reason: String) -> VendorEffect {
    let now = parts.time.now()
    state.withLock { $0.quota.useUp(at: now) }
    let seconds = now.secondsToQuotaReset
    let until = parts.time.monotonic() &+ UInt64(clamping: seconds) &* 1_000_000_000
    let isKept = quota.flatMap { queue?.quotas.useUp($0, until: until, reason) } ?? false
    return isKept ? .answers : .rest(seconds: seconds, reason)
  }

  /// What a request passes to the service for its receipts; nil if it sends none.
  func passing(_ push: MessageID, _ tokens: [[UInt8]]) -> ReceiptPassing? {
    guard vendor.hasReceipts else { return nil }
    return ReceiptPassing(
      tag: marks.tag(push, for: vendor.mostTokens == 1 ? tokens[0] : nil),
      address: parts.passedReceiptAddress(of: vendor, marks, in: app))
  }
}

extension Timestamp {
  /// Until midnight by the clocks of China, which know no summer time. In the day's first minutes the
  /// service's clock may still show the day before: until these are over.
  var secondsToQuotaReset: Int64 {
    let (passed, first) = ((seconds + 8 * 3600) % 86_400, 300 as Int64)
    return (passed < first ? first : 86_400) - passed
  }
}
