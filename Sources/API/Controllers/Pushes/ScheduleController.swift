import BorealisBase
import Core
import HTTP
import Model
import Storage

struct ScheduleController: GatewayController {
  let gateway: Gateway

  static let routes: [Gateway.Route] = [
    route(.schedule, "POST", "/v3/schedules") { $0.createSchedule($1) },
    route(.schedule, "GET", "/v3/schedules") { $0.listSchedules($1) },
    route(.schedule, "GET", "/v3/schedules/{schedule_id}") { $0.showSchedule($1) },
    route(.schedule, "PUT", "/v3/schedules/{schedule_id}") { $0.changeSchedule($1) },
    route(.schedule, "DELETE", "/v3/schedules/{schedule_id}") { $0.deleteSchedule($1) },
    route(.schedule, "GET", "/v3/schedules/{schedule_id}/msg_ids") { $0.listRuns($1) },
  ]

  private static let schedulesOnPage = 50

  /// `POST /v3/schedules`.
  private func createSchedule(_ call: GatewayCall) {
    guard let app = call.app, let json = call.body() else { return }
    let request: ScheduleRequest
    do throws(APIError) {
      request = try ScheduleRequest.parse(json, rules: gateway.pushRules(of: app))
    } catch {
      call.fail(error)
      return
    }
    if let cid = request.cid, !Gateway.isCID(cid, issuedTo: app.key) {
      call.fail(.scheduleInvalid("cid was not issued to this app: it must begin with the app key and -"))
      return
    }
    let call = call.ignoring(request.push.ignored)
    checkFile(of: request.push, in: app, call) { [router] in
      router.schedules.create(request, named: Gateway.uuid(), in: app) { result in
        call.finish(result) { schedule, writer in
          writer.beginObject()
          writer.member("schedule_id", schedule.id)
          writer.member("name", schedule.name)
          writer.endObject()
        }
      }
    }
  }

  /// Continues if the push's file exists; it may have expired when the schedule fires.
  private func checkFile(
    of push: ScheduledPush?, in app: App, _ call: GatewayCall, then goOn: @escaping @Sendable () -> Void
  ) {
    guard case .file(let file) = push?.request.audience else {
      goOn()
      return
    }
    router.files.find(file, of: app.key.text) { result in
      switch result {
      case .failure: call.fail(.scheduleTimeout)
      case .success(nil): call.fail(.scheduleInvalid("push: audience.file.file_id is unknown"))
      case .success: goOn()
      }
    }
  }

  /// `GET /v3/schedules?page=n`: schedules that can still fire.
  private func listSchedules(_ call: GatewayCall) {
    guard let app = call.app else { return }
    guard let page = call.query("page").map({ Int($0) }) ?? 1, page >= 1 else {
      call.fail(
        .scheduleInvalid("page must be a number from 1, not '\((call.query("page") ?? "").prefix(40))'"))
      return
    }
    router.schedules.list(of: app, page: page - 1, size: Self.schedulesOnPage) { result in
      call.finish(result) { found, writer in
        writer.beginObject()
        writer.member("total_count", found.total)
        writer.member("total_pages", (found.total + Self.schedulesOnPage - 1) / Self.schedulesOnPage)
        writer.member("page", page)
        writer.key("schedules")
        writer.beginArray()
        for schedule in found.schedules { Self.write(schedule, to: &writer) }
        writer.endArray()
        writer.endObject()
      }
    }
  }

  /// `GET /v3/schedules/{schedule_id}`.
  private func showSchedule(_ call: GatewayCall) {
    guard let app = call.app else { return }
    router.schedules.find(Self.scheduleID(call), in: app) { result in
      call.finish(result) { schedule, writer in Self.write(schedule, to: &writer) }
    }
  }

  /// `PUT /v3/schedules/{schedule_id}`: the sections to change.
  private func changeSchedule(_ call: GatewayCall) {
    guard let app = call.app, let json = call.body() else { return }
    router.schedules.find(Self.scheduleID(call), in: app) { [self] found in
      // A push of Getui's API keeps to that API's rules.
      let isGetui = (try? found.get())?.isGetui == true
      let update: ScheduleUpdate
      do throws(APIError) {
        let rules = gateway.pushRules(of: app)
        update = try ScheduleUpdate.parse(json, rules: isGetui ? rules.forGetui : rules)
      } catch {
        call.fail(error)
        return
      }
      let call = call.ignoring(update.push?.ignored ?? [])
      checkFile(of: update.push, in: app, call) { [router] in
        router.schedules.change(Self.scheduleID(call), update, in: app) { result in
          call.finish(result) { schedule, writer in Self.write(schedule, to: &writer) }
        }
      }
    }
  }

  /// `DELETE /v3/schedules/{schedule_id}`.
  private func deleteSchedule(_ call: GatewayCall) {
    guard let app = call.app else { return }
    router.schedules.delete(Self.scheduleID(call), in: app) { result in
      call.finish(result) { _, writer in
        writer.beginObject()
        writer.endObject()
      }
    }
  }

  /// `GET /v3/schedules/{schedule_id}/msg_ids`: the outcome of its occurrences, as JSON inside strings.
  private func listRuns(_ call: GatewayCall) {
    guard let app = call.app else { return }
    router.schedules.runs(of: Self.scheduleID(call), in: app) { result in
      call.finish(result) { runs, writer in
        writer.beginObject()
        writer.member("count", runs.count)
        writer.key("msgids")
        writer.beginArray()
        for run in runs { writer.value(String(decoding: Self.text(of: run), as: UTF8.self)) }
        writer.endArray()
        writer.endObject()
      }
    }
  }

  // MARK: Parts

  /// The schedule ID in the path, also in upper case. Other text names no schedule.
  private static func scheduleID(_ call: GatewayCall) -> String {
    (call.captures["schedule_id"] ?? "").lowercased()
  }

  private static func write(_ schedule: Schedule, to writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("schedule_id", schedule.id)
    writer.member("name", schedule.name)
    writer.member("enabled", schedule.isEnabled)
    writer.key("trigger")
    writer.value(schedule.trigger.json)
    writer.key("push")
    writer.raw(schedule.push)
    writer.endObject()
  }

  private static func text(of run: ScheduleRunRow) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.member("msg_id", run.id.text)
    writer.key("error")
    writer.beginObject()
    writer.member("code", run.code)
    writer.member("message", run.message)
    writer.endObject()
    writer.member("needRetry", run.needsRetry)
    writer.member("ts", run.at.milliseconds)
    writer.endObject()
    return writer.bytes
  }
}
