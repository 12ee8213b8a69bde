import BorealisBase
import Core
import HTTP
import Model
import Storage

/// Pushes with `options.canary`: how they do, and the decision by hand.
struct CanaryController: GatewayController {
  let gateway: Gateway

  static let routes: [Gateway.Route] = [
    route(.pushReport, "GET", "/v1/pushes/{msg_id}/canary") { $0.show($1) },
    route(.push, "POST", "/v1/pushes/{msg_id}/canary/release") { $0.release($1) },
    route(.push, "POST", "/v1/pushes/{msg_id}/canary/stop") { $0.stop($1) },
  ]

  private func show(_ call: GatewayCall) {
    guard let (id, app) = call.push() else { return }
    answer(call, id, app)
  }

  /// The rest gets the push now, whatever the canary shows.
  private func release(_ call: GatewayCall) {
    guard let (id, app) = call.push() else { return }
    router.acceptance.release(
      id, of: app, by: gateway.pushRules(of: app), router.canaries
    ) { [self] result in
      switch result {
      case .failure(let error): call.fail(error.apiError)
      case .success: answer(call, id, app)
      }
    }
  }

  /// The rest does not get the push.
  private func stop(_ call: GatewayCall) {
    guard let (id, app) = call.push() else { return }
    router.canaries.stop(id, of: app) { [self] result in
      switch result {
      case .failure(let error): call.fail(error.apiError)
      case .success: answer(call, id, app)
      }
    }
  }

  // MARK: Helpers

  private func answer(_ call: GatewayCall, _ id: MessageID, _ app: App) {
    router.canaries.find(id, in: app) { result in
      switch result {
      case .failure: call.fail(.timeout)
      case .success(nil): call.fail(CanaryFailure.unknown.apiError)
      case .success(let canary?): call.answer(200, Self.json { Self.write(canary, to: &$0) })
      }
    }
  }

  private static func write(_ canary: CanaryStatus, to writer: inout JSONWriter) {
    writer.member("msg_id", canary.id.text)
    writer.member("state", canary.state.name)
    writer.member("share", canary.terms.share)
    writer.member("wait", canary.terms.wait)
    writer.member("max_failures", canary.terms.maxFailures)
    writer.member("started_at", Log.iso8601(canary.startedAt.milliseconds))
    if let next = canary.lookAt { writer.member("next_look_at", Log.iso8601(next.milliseconds)) }
    if let end = canary.end { writer.member("ended_at", Log.iso8601(end.at.milliseconds)) }
    if let figures = canary.figures {
      writer.member("target", figures.targets)
      writer.member("succeeded", figures.succeeded)
      writer.member("failed", figures.failed)
    }
    writer.member("rest", canary.rest)
    if let rest = canary.end?.rest { writer.member("rest_msg_id", rest.text) }
    if let message = canary.end?.message { writer.member("message", message) }
  }
}
