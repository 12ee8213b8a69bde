import BorealisBase
import Core
import HTTP
import Model
import Storage

/// A/B tests: contents that are compared, kept under names, for `audience.abtest`.
struct ABTestController: GatewayController {
  let gateway: Gateway

  static let routes: [Gateway.Route] = [
    route(.push, "GET", "/v1/abtests") { $0.list($1) },
    route(.push, "POST", "/v1/abtests") { $0.add($1) },
    route(.push, "GET", "/v1/abtests/{abtest_id}") { $0.show($1) },
    route(.push, "PUT", "/v1/abtests/{abtest_id}") { $0.change($1) },
    route(.push, "DELETE", "/v1/abtests/{abtest_id}") { $0.delete($1) },
    route(.pushReport, "GET", "/v1/abtests/{abtest_id}/runs") { $0.listRuns($1) },
    route(.push, "POST", "/v1/abtests/{abtest_id}/stop") { $0.stop($1) },
  ]

  private func list(_ call: GatewayCall) {
    guard let app = call.app else { return }
    let json = Self.json { writer in
      writer.key("abtests")
      writer.beginArray()
      for test in router.abTests.list(of: app) {
        writer.beginObject()
        Self.write(test, router.zone, to: &writer)
        writer.endObject()
      }
      writer.endArray()
    }
    call.answer(200, json)
  }

  private func show(_ call: GatewayCall) {
    guard let (_, test) = test(call) else { return }
    answer(call, .success(test))
  }

  private func add(_ call: GatewayCall) {
    guard let app = call.app, let (name, design) = content(call, app) else { return }
    router.abTests.add(name, design, to: app) { [self] in answer(call, $0) }
  }

  private func change(_ call: GatewayCall) {
    guard let (app, test) = test(call), let (name, design) = content(call, app) else { return }
    router.abTests.change(test.id, to: name, design, of: app) { [self] in answer(call, $0) }
  }

  private func delete(_ call: GatewayCall) {
    guard let (app, test) = test(call) else { return }
    router.abTests.delete(test.id, of: app) { call.finish($0.mapError(\.apiError)) }
  }

  /// `GET /v1/abtests/{abtest_id}/runs`: the latest runs and how their contents do.
  private func listRuns(_ call: GatewayCall) {
    guard let (app, test) = test(call) else { return }
    let zone = router.zone
    router.abTestRuns.list(of: test.id, in: app) { result in
      guard case .success(let runs) = result else { return call.fail(.timeout) }
      let json = Self.json { writer in
        writer.key("runs")
        writer.beginArray()
        for run in runs {
          writer.beginObject()
          Self.write(run, zone, to: &writer)
          writer.endObject()
        }
        writer.endArray()
      }
      call.answer(200, json)
    }
  }

  /// `POST /v1/abtests/{abtest_id}/stop`: nobody gets a winner.
  private func stop(_ call: GatewayCall) {
    guard let (app, test) = test(call) else { return }
    router.abTestRuns.stop(test.id, of: app) { call.finish($0.mapError(\.apiError)) }
  }

  // MARK: Helpers

  private func answer(_ call: GatewayCall, _ result: Result<ABTest, ABTestFailure>) {
    switch result {
    case .failure(let error): call.fail(error.apiError)
    case .success(let test): call.answer(200, Self.json { Self.write(test, router.zone, to: &$0) })
    }
  }

  /// The test in the path; answers the request itself if there is none.
  private func test(_ call: GatewayCall) -> (App, ABTest)? {
    guard let app = call.app else { return nil }
    let text = call.captures["abtest_id"] ?? ""
    guard let test = Int64(text).flatMap({ router.abTests.find($0, of: app) }) else {
      call.fail(.invalidValue("The app has no A/B test '\(text.prefix(40))'"))
      return nil
    }
    return (app, test)
  }

  /// Name and design in the body; answers the request itself when they are invalid.
  private func content(_ call: GatewayCall, _ app: App) -> (name: String, ABTestDesign)? {
    call.named { object throws(APIError) in
      try ABTestDesign.parse(object, rules: gateway.pushRules(of: app))
    }
  }

  private static func write(_ test: ABTest, _ zone: any Zone, to writer: inout JSONWriter) {
    writer.member("id", String(test.id))
    writer.member("name", test.name)
    test.design.write(to: &writer)
    writer.member("created_at", zone.local(test.createdAt).text)
    writer.member("changed_at", zone.local(test.changedAt).text)
  }

  private static func write(_ run: ABTestRun, _ zone: any Zone, to writer: inout JSONWriter) {
    writer.member("state", (run.end?.state ?? .running).name)
    writer.member("started_at", zone.local(run.startedAt).text)
    if let next = run.lookAt { writer.member("next_look_at", zone.local(next).text) }
    if let end = run.end { writer.member("ended_at", zone.local(end.at).text) }
    if let winner = run.end?.winner { writer.member("winner", winner) }
    if let id = run.winnerPush { writer.member("winner_msg_id", id.text) }
    if let message = run.end?.message { writer.member("message", message) }
    writer.member("rest", run.rest)
    writer.key("contents")
    writer.beginArray()
    for (place, (push, figures)) in zip(run.pushes, run.figures).enumerated() {
      writer.beginObject()
      write(push, figures, to: &writer)
      if let confidence = ABTestVerdict.confidence(run.figures, at: place) {
        writer.key("confidence")
        writer.value(confidence)
      }
      writer.endObject()
    }
    writer.endArray()
  }

  private static func write(
    _ push: ABTestRunRow.Push, _ figures: ABTestFigures, to writer: inout JSONWriter
  ) {
    writer.member("msg_id", push.id.text)
    writer.member("target", figures.targets)
    writer.member("delivered", figures.delivered)
    writer.member("shown", figures.shown)
    writer.member("tapped", figures.tapped)
    writer.key("rate")
    writer.value(figures.rate)
    if figures.isOut { writer.member("recalled", true) }
    guard let delivered = push.delivered, let tapped = push.tapped else { return }
    writer.key("decided_on")
    writer.beginObject()
    writer.member("delivered", delivered)
    writer.member("tapped", tapped)
    writer.endObject()
  }
}

extension ABTestRunRow.State {
  /// Its name in the API.
  fileprivate var name: String {
    switch self {
    case .running: "running"
    case .sent: "sent"
    case .nobodyLeft: "nobody_left"
    case .noWinner: "no_winner"
    case .stopped: "stopped"
    case .failed: "failed"
    }
  }
}
