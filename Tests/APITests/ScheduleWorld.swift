import BorealisBase
import Core
import HTTP
import Model
import PushTesting
import Storage

@testable import API

extension GatewayWorld {
  /// Now, or some seconds later, as the API writes it: in UTC+8.
  func local(_ seconds: Int64 = 0) -> String {
    FixedZone.china.local(clock.now().adding(seconds: seconds)).text
  }

  static let schedulePush = #"{"platform":"all","audience":"all","notification":{"alert":"x"}}"#

  /// The body of a new schedule.
  static func schedule(
    _ trigger: String, push: String = schedulePush, name: String = "n", more: String = ""
  ) -> String {
    #"{"name":"\#(name)","enabled":true,"trigger":\#(trigger),"push":\#(push)\#(more)}"#
  }

  /// A trigger in some seconds.
  func single(in seconds: Int64) -> String { #"{"single":{"time":"\#(local(seconds))"}}"# }

  /// A trigger of every day from now on for some days, at this time of day or some seconds later.
  func daily(in seconds: Int64, days: Int64 = 30) -> String {
    let time = local(seconds).suffix(8)
    return
      #"{"periodical":{"start":"\#(local())","end":"\#(local(days * 86_400))","time":"\#(time)","time_unit":"day","frequency":1}}"#
  }

  /// Makes a schedule and returns its name.
  func makeSchedule(_ trigger: String, push: String = schedulePush, as other: App? = nil) async -> String {
    let answer = await call("POST", "/v3/schedules", Self.schedule(trigger, push: push), as: other)
    return answer.json?["schedule_id"]?.string ?? answer.outcome
  }

  /// Gives the app a plan.
  func setPlan(_ plan: PlanRow) async throws {
    let id = app.id
    try await store.change { transaction throws(StorageError) in
      try transaction.plans.set(plan)
      _ = try transaction.apps.setPlan(app: id, plan.name)
    }
    // The router looks for such changes now and then.
    while app.plan != plan { router.tick() }
  }

  /// Does the work of a second, and waits until it is done.
  func tick() async {
    gateway.tick()
    while gateway.schedules.isBusy || gateway.abTests.isBusy || gateway.canaries.isBusy {
      await awaitCallback { done in router.registrations.afterChanges { done(()) } }
    }
  }

  /// The outcome of a schedule's occurrences: codes of errors, 0 for none, and whether to try again.
  func runs(of id: String, as other: App? = nil) async -> [String] {
    let answer = await call("GET", "/v3/schedules/\(id)/msg_ids", as: other)
    return (answer.json?["msgids"]?.array ?? []).map { element in
      guard let text = element.string, let run = try? parseJSON(Array(text.utf8)),
        run.object?.members.map(\.key) == ["msg_id", "error", "needRetry", "ts"],
        let code = run["error"]?["code"]?.int64, let retry = run["needRetry"]?.bool
      else { return "malformed" }
      return "\(code)" + (retry ? " retry" : "")
    }
  }
}
