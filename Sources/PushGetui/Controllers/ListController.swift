import PushBase
import PushDomain
import PushGateway
import PushJSON
import PushRouter
import PushStorage

/// Stored messages, and sending them to lists.
struct ListController: GetuiController {
  let api: GetuiAPI

  static let routes: [GetuiAPI.Route] = [
    route(.push, "POST", "/push/list/message") { $0.store($1, $2) },
    route(.push, "POST", "/push/list/cid") { $0.send($1, $2, by: .cid) },
    route(.push, "POST", "/push/list/alias") { $0.send($1, $2, by: .alias) },
  ]

  /// `POST /push/list/message`: a repeated `request_id` gets the first message again.
  private func store(_ call: GetuiCall, _ app: App) {
    call.attempt { () throws(GetuiError) in
      let body = try PushBody(try call.body(), isToMany: false)
      let json = JSONWriter.serialize(.object(body.push))
      // What would be refused whenever it is sent is refused now.
      let push = try PushController(api: api).request(body.push, to: "all").push
      let (now, router) = (api.time.now(), api.router)
      let seconds = max(60, Int64(push.options.timeToLive))
      api.store.write { transaction throws(StorageError) -> MessageID in
        if let known = try transaction.getui.task(requestID: body.requestID, app: app.id) { return known.id }
        let id = router.nextMessageID()
        try transaction.getui.insertTask(
          GetuiTaskRow(
            id: id, app: app.id, requestID: body.requestID, groupName: body.groupName, createdAt: now,
            expiresAt: now.adding(seconds: seconds), body: json))
        return id
      } completion: { result in
        guard case .success(let id) = result else { return call.fail(.busy) }
        call.answer { writer in
          writer.beginObject()
          writer.member("taskid", GetuiTaskID(.list, id).text)
          writer.endObject()
        }
      }
    }
  }

  private func send(_ call: GetuiCall, _ app: App, by name: PushController.Name) {
    call.attempt { () throws(GetuiError) in
      let fields = try call.body()
      try fields.allow(["audience", "taskid", "is_async", "need_alias_detail"])
      guard let task = GetuiTaskID(try fields.required("taskid")), task.kind == .list else {
        throw .invalid("taskid")
      }
      let id = task.id
      guard let audience = try fields.fields("audience") else { throw .missing("audience") }
      try audience.allow([name.rawValue, "alias_type"])
      guard let names = try audience.texts(name.rawValue, most: 1000), !names.isEmpty else {
        throw .missing(audience.name(name.rawValue))
      }
      let order = Order(
        task: id, names: names, kind: name, isAsync: try fields.flag("is_async") == true,
        isDetailed: try fields.flag("need_alias_detail") == true)
      api.store.read { transaction throws(StorageError) in
        try transaction.getui.task(id, app: app.id)
      } completion: { result in
        switch result {
        case .failure: call.fail(.busy)
        case .success(nil): call.fail(.invalid("taskid"))
        case .success(let row?): call.attempt { () throws(GetuiError) in try send(order, row, call, app) }
        }
      }
    }
  }

  /// Whom a stored message is to be sent to.
  private struct Order: Sendable {
    let task: MessageID
    let names: [String]
    let kind: PushController.Name
    let isAsync: Bool
    let isDetailed: Bool
  }

  private func send(_ order: Order, _ row: GetuiTaskRow, _ call: GetuiCall, _ app: App) throws(GetuiError) {
    guard !row.isStopped else { throw .taskInvalid("The task was stopped") }
    guard row.expiresAt > api.time.now() else { throw .taskInvalid("The task has ended") }
    guard let body = try? parseJSON(row.body), let object = body.object else { throw .busy }
    var request = try PushController(api: api).request(
      object, to: PushController.audience(order.names, by: order.kind, of: app))
    request.task = order.task
    api.router.acceptance.accept(request, for: app) { result in
      if case .failure(let error) = result { return call.fail(GetuiError(error)) }
      guard !order.isAsync else { return call.answer() }
      call.answer { writer in
        writer.beginObject()
        writer.key(GetuiTaskID(.list, order.task).text)
        if order.isDetailed, order.kind == .alias {
          writer.beginObject()
          for name in order.names {
            writer.key(name)
            PushController.write([name], by: .alias, of: app, to: &writer)
          }
          writer.endObject()
        } else {
          PushController.write(order.names, by: order.kind, of: app, to: &writer)
        }
        writer.endObject()
      }
    }
  }
}
