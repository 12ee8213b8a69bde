import BorealisBase
import Core
import HTTP
import Model

/// JPush's reports on pushes. Docs/api/jpush.md explains each number.
struct MessageReportController: GatewayController {
  let gateway: Gateway

  static let routes: [Gateway.Route] = [
    route(.report, "GET", "/v3/received") { $0.showReports($1, $0.forms.received) },
    route(.report, "GET", "/v3/received/detail") { $0.showReports($1, $0.forms.receivedDetail) },
    route(.report, "GET", "/v3/messages") { $0.showReports($1, $0.forms.messages) },
    route(.report, "GET", "/v3/messages/detail") { $0.showReports($1, $0.forms.messagesDetail) },
    route(.report, "POST", "/v3/status/message") { $0.showStatusOfMessage($1) },
    route(.report, "GET", "/v3/group/messages/detail", by: .group) { $0.showGroupReports($1) },
  ]

  /// The most pushes of one call.
  private static let reportedPushes = 100
  /// The most app group pushes of one call.
  private static let reportedGroupPushes = 10
  /// The most registrations of one call.
  private static let reportedDevices = 1000

  private var forms: MessageReports { MessageReports(names: router.channels.names) }

  private func showReports(
    _ call: GatewayCall, _ form: @escaping @Sendable (MessageID, PushReport?) -> JSONValue
  ) {
    guard let app = call.app, let ids = messageIDs(call, "msg_ids", most: Self.reportedPushes) else { return }
    router.reports.reports(on: ids, in: app) {
      form($0.id, $0)
    } reply: { result in
      guard case .success(let known) = result else {
        call.fail(call.api.faults.busy)
        return
      }
      let elements = zip(ids, known).map { $1 ?? form($0, nil) }
      call.answer(200, JSONWriter.serialize(.array(elements)))
    }
  }

  private func showGroupReports(_ call: GatewayCall) {
    guard let group = call.group,
      let ids = messageIDs(call, "group_msgids", most: Self.reportedGroupPushes)
    else { return }
    router.reports.reports(onGroupPushes: ids, of: group) { [forms] result in
      guard case .success(let reports) = result else {
        call.fail(call.api.faults.busy)
        return
      }
      let elements = zip(ids, reports).map { forms.groupMessagesDetail($0, $1 ?? []) }
      call.answer(200, JSONWriter.serialize(.array(elements)))
    }
  }

  /// The IDs in the query: spaces and empty items are ignored, as JPush's own tests expect.
  private func messageIDs(_ call: GatewayCall, _ name: String, most: Int) -> [MessageID]? {
    guard let text = call.query(name) else {
      call.fail(call.api.faults.missing("Missing parameter: \(name): IDs, separated by commas"))
      return nil
    }
    var ids: [MessageID] = []
    for item in text.split(separator: ",") {
      let digits = item.utf8.filter { $0 != UInt8(ascii: " ") }
      if digits.isEmpty { continue }
      guard let id = MessageID(decimal: digits) else {
        call.fail(call.api.faults.invalid("\(name) must hold numbers, not '\(item.prefix(40))'"))
        return nil
      }
      ids.append(id)
    }
    guard (1...most).contains(ids.count) else {
      call.fail(call.api.faults.invalid("\(name) must hold 1 to \(most) numbers, not \(ids.count)"))
      return nil
    }
    return ids
  }

  // MARK: Single devices

  private func showStatusOfMessage(_ call: GatewayCall) {
    guard let app = call.app, let body = call.body(), let (id, devices) = statusQuestion(body, call) else {
      return
    }
    router.reports.report(on: id, in: app) { result in
      guard case .success(let report) = result else {
        call.fail(call.api.faults.busy)
        return
      }
      var answer = JSONObject()
      for device in devices {
        answer.set(device, ["status": .number(JSONNumber(Self.status(of: device, report, app)))])
      }
      call.answer(200, JSONWriter.serialize(.object(answer)))
    }
  }

  private func statusQuestion(
    _ body: JSONValue, _ call: GatewayCall
  ) -> (MessageID, devices: [String])? {
    let faults = call.api.faults
    let number = body["msg_id"]?.string ?? body["msg_id"]?.int64.map { String($0) }
    guard let id = number.flatMap({ MessageID(decimal: Array($0.utf8)) }) else {
      call.fail(faults.invalid("msg_id must be a number"))
      return nil
    }
    let devices = body["registration_ids"]?.array ?? []
    let texts = devices.compactMap(\.string)
    guard (1...Self.reportedDevices).contains(devices.count), texts.count == devices.count else {
      call.fail(faults.invalid("registration_ids must hold 1 to \(Self.reportedDevices) strings"))
      return nil
    }
    if let date = body["date"], !date.isNull, date.string.flatMap({ LocalTime($0 + " 00:00:00") }) == nil {
      call.fail(faults.invalid("date must be yyyy-MM-dd"))
      return nil
    }
    return (id, texts)
  }

  /// JPush's numbers: 0 delivered, 1 not delivered, 2 not a registration of this app, 3 not a target of this
  /// push.
  private static func status(of device: String, _ report: PushReport?, _ app: App) -> Int64 {
    guard let number = RegistrationID(device).flatMap({ app.directory.find($0) }) else { return 2 }
    guard let targets = report?.targets, targets.all.contains(number) else { return 3 }
    return targets.delivered.contains(number) ? 0 : 1
  }
}
