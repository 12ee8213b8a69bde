import BorealisBase
import BorealisNet
import HTTP

/// What requests cost while they wait, and their answers without a home.
extension RequestForwarder {
  /// Counts the memory of a request that waits; false if there is none for it.
  func hold(_ job: ForwardJob) -> Bool {
    let client = job.forwarded.client
    let isExempt = client.map { client in options.exempt.contains { $0.contains(client) } } ?? false
    let network = isExempt ? nil : client.map { PeerNetwork(of: $0) } ?? PeerNetwork(rawValue: 0)
    let share = waiting.share(for: network, isKnown: job.isKnown)
    guard share.hold(job.cost) else { return false }
    job.waiting = share
    metrics.waiting.add(1)
    return true
  }

  /// A request does not wait any more.
  func release(_ job: ForwardJob) {
    guard job.waiting != nil else { return }
    job.waiting = nil
    metrics.waiting.add(-1)
  }

  /// Answers a request that was certainly not carried out.
  func refuse(_ job: ForwardJob) {
    metrics.refused.add()
    var response = refusal(.unserved, job.forwarded.request.target)
    response.headers.append("Retry-After", "2")
    job.refuse(response)
  }

  /// Answers a request that may have been carried out.
  func giveUp(_ job: ForwardJob) {
    metrics.unknown.add()
    job.refuse(refusal(.unanswered, job.forwarded.request.target))
  }
}
