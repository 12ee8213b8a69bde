import BorealisBase
import Core
import HTTP
import Model

/// The spans of requests to APNs: one for the requests of a push that have their results in the same turn of
/// the loop. Each device has a request of its own; a span for each would leave no place for others.
struct APNsSpans {
  private struct Requests {
    var began: Timestamp
    var count = 0
    var accepted = 0

    mutating func add(sentAt moment: Timestamp, isAccepted: Bool) {
      began = min(began, moment)
      count += 1
      if isAccepted { accepted += 1 }
    }
  }

  private let tracer: Tracer
  private let app: AppKey
  private var pushes: [MessageID: Requests] = [:]
  /// The last push that is not traced: results of the same push come together.
  private var other: MessageID?

  /// Nil without a tracer.
  init?(_ tracer: Tracer?, of app: AppKey) {
    guard let tracer else { return nil }
    (self.tracer, self.app) = (tracer, app)
  }

  /// Adds a request with its result.
  mutating func note(_ completed: CompletedRequest, _ result: APNsResult) {
    let push = completed.delivery.key.push
    guard push != other else { return }
    if case .notSent = result { return }
    if pushes[push] == nil {
      guard tracer.records(push) else { return other = push }
      pushes[push] = Requests(began: completed.sentAt)
    }
    let isAccepted = if case .answered(let answer, _) = result { answer.isAccepted } else { false }
    pushes[push]?.add(sentAt: completed.sentAt, isAccepted: isAccepted)
  }

  /// Ends the spans.
  func end() {
    for (push, requests) in pushes {
      tracer.begin(sending: push, at: requests.began)?.end(
        "send apns",
        [
          SpanAttribute("borealis.app_key", app.text), SpanAttribute("borealis.channel", "apns"),
          SpanAttribute("borealis.msg_id", push.text), SpanAttribute("borealis.devices", requests.count),
          SpanAttribute("borealis.accepted", requests.accepted),
        ], isError: requests.accepted == 0)
    }
  }
}
