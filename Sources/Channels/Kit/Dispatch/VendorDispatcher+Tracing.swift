import BorealisBase
import Core
import HTTP
import Model
import Storage

/// The spans of requests to services. Services do not get the context: nobody there could use it.
extension VendorDispatcher {
  /// Begins the span of a request; nil if its push is not traced.
  func beginSpan(of batch: Batch) -> ActiveSpan? { parts.router.tracer?.begin(sending: batch.push) }

  /// Ends the span of a request that brings a push to devices. Of some services every refusal comes with the
  /// status 200.
  func end(_ span: ActiveSpan?, of batch: Batch, _ answer: HTTPAnswer, _ said: VendorAnswer?) {
    guard let span else { return }
    let accepted = batch.deliveries.count { said?.outcome(for: $0.delivery.row.token) == .accepted }
    span.end(
      "send \(vendor.info.name)", attributes(of: batch) + [SpanAttribute("borealis.accepted", accepted)],
      answer, isRefused: accepted == 0)
  }

  /// Ends the span of a request that comes before those to devices.
  func end(_ span: ActiveSpan?, of batch: Batch, _ answer: HTTPAnswer, preparing outcome: VendorOutcome?) {
    span?.end(
      "prepare \(vendor.info.name)", attributes(of: batch), answer, isRefused: outcome != .accepted)
  }

  private func attributes(of batch: Batch) -> [SpanAttribute] {
    [
      SpanAttribute("borealis.app_key", app.text), SpanAttribute("borealis.channel", vendor.info.name),
      SpanAttribute("borealis.msg_id", batch.push.text),
      SpanAttribute("borealis.devices", batch.deliveries.count),
    ]
  }
}
