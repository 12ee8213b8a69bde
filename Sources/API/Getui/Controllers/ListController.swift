import BorealisBase
import Core
import Model
import Storage

/// Stores messages and sends them to lists.
struct ListController: GetuiController {
  let api: GetuiAPI

  static let routes: [GetuiAPI.Route] = [
    route(.push, "POST", "/push/list/message") { $0.store($1, $2) },
    route(.push, "POST", "/push/list/cid") { $0.send($1, $2, by: .cid) },
    route(.push, "POST", "/push/list/alias") { $0.send($1, $2, by: .alias) },
    route(.push, "POST", "/push/list/cid_by_tag") { $0.sendByTag($1, $2) },
  ]

  /// The most names in a list.
  private static let mostNames = 1000

  /// `POST /push/list/message`: a repeated `request_id` gets the task of the first request.
  private func store(_ call: GetuiCall, _ app: App) {
    call.attempt { () throws(GetuiError) in
      let fields = try call.body()
      // Getui's PHP client sends "all" with every stored message.
      guard fields["audience"] == nil || fields["audience"] == "all" else {
        throw .invalid("audience", "a stored message has none: name it in push/list/cid or push/list/alias")
      }
      let body = try api.read(fields, of: call, as: .list, for: app)
      let call = call.ignoring(fields)
      // A message that every later push would refuse is refused now.
      var fault: GetuiError?
      if case .push(let push) = body.content {
        let request = try api.request(push, to: .everybody)
        fault = api.router.acceptance.fault(request, in: app).map { GetuiError($0) }
      }
      let (now, router, stored) = (api.time.now(), api.router, body.content.stored)
      let expires = now.adding(seconds: max(60, body.lifetime))
      let (requestID, origin) = (body.requestID, body.origin)
      api.store.write(of: app.id) {
        [fault] transaction throws(StorageError) -> Result<MessageID, GetuiError> in
        if let known = try transaction.getui.task(requestID: requestID, app: app.id) {
          // A scheduled push without a digest would match every request.
          let isSame = known.scheduleID == nil && known.isSame(as: origin.digest)
          return isSame ? .success(known.id) : .failure(GetuiError(.requestRepeated))
        }
        let name = GetuiOrigin.name(ofRequest: requestID)
        guard try transaction.pushes.lookupCID(app: app.id, cid: name) == nil else {
          return .failure(GetuiError(.requestRepeated))
        }
        if let fault { return .failure(fault) }
        let id = router.nextMessageID()
        try transaction.getui.insertTask(
          GetuiTaskRow(
            id: id, app: app.id, requestID: requestID, groupName: origin.groupName, createdAt: now,
            expiresAt: expires, digest: origin.digest?.stored, body: stored))
        try transaction.pushes.insertCID(
          app: app.id, cid: name, id: id, sendno: 0, at: now, digest: origin.digest?.stored)
        return .success(id)
      } completion: { result in
        switch result.mapError({ _ in .busy }).flatMap({ $0 }) {
        case .failure(let error): call.fail(error)
        case .success(let id):
          call.answer { writer in
            writer.beginObject()
            writer.member("taskid", GetuiTaskID(.list, id).text)
            writer.endObject()
          }
        }
      }
    }
  }

  // MARK: Sending

  private func send(_ call: GetuiCall, _ app: App, by name: TargetName) {
    attemptPush(call) { () throws(GetuiError) in
      let fields = try call.body()
      let audience = try audience(fields)
      try audience.allow([name.rawValue, "alias_type"])
      guard let names = try audience.texts(name.rawValue, most: Self.mostNames), !names.isEmpty else {
        throw .missing(audience.name(name.rawValue))
      }
      audience.ignore("alias_type")
      send(try Order(fields, names: names, kind: name), call.ignoring(fields), app)
    }
  }

  /// `POST /push/list/cid_by_tag`: sends to the CIDs whose tags meet their condition.
  private func sendByTag(_ call: GetuiCall, _ app: App) {
    attemptPush(call) { () throws(GetuiError) in
      let fields = try call.body()
      let choices = try TaggedCID.list(try audience(fields), most: Self.mostNames)
      var order = try Order(fields, names: choices.map(\.cid), kind: .cid)
      for choice in choices {
        guard let number = app.registration(choice.cid), !choice.isMeant(number, in: app) else { continue }
        order.ignored.insert(choice.cid)
      }
      send(order, call, app)
    }
  }

  private func audience(_ body: GetuiFields) throws(GetuiError) -> GetuiFields {
    try body.allow(["audience", "taskid", "is_async", "need_alias_detail"])
    guard let audience = try body.fields("audience") else { throw .missing("audience") }
    return audience
  }

  /// The target of a stored message.
  private struct Order: Sendable {
    let task: MessageID
    let names: [String]
    let kind: TargetName
    let isAsync: Bool
    let isDetailed: Bool
    /// The CIDs that are left out; their status is `successed_ignore`.
    var ignored: Set<String> = []

    init(_ fields: GetuiFields, names: [String], kind: TargetName) throws(GetuiError) {
      let task = try fields.task("taskid", [.list])
      (self.task, self.names, self.kind) = (task.id, names, kind)
      isAsync = try fields.flag("is_async") == true
      isDetailed = try fields.flag("need_alias_detail") == true
      if isDetailed, kind != .alias { throw .invalid("need_alias_detail", "it goes with push/list/alias") }
    }
  }

  private func send(_ order: Order, _ call: GetuiCall, _ app: App) {
    api.store.read { transaction throws(StorageError) in
      try transaction.getui.task(order.task, app: app.id)
    } completion: { result in
      switch result {
      case .failure: call.fail(.busy)
      case .success(let row?) where row.scheduleID == nil:
        attemptPush(call) { () throws(GetuiError) in try send(order, row, call, app) }
      case .success: call.fail(.unknownTask)
      }
    }
  }

  private func send(_ order: Order, _ row: GetuiTaskRow, _ call: GetuiCall, _ app: App) throws(GetuiError) {
    guard !row.isStopped else { throw .taskInvalid("The task was stopped") }
    guard row.expiresAt > api.time.now() else { throw .taskInvalid("The task has ended") }
    guard let content = PushBody.Content(stored: row.body) else { throw .busy }
    let names = order.ignored.isEmpty ? order.names : order.names.filter { !order.ignored.contains($0) }
    if !order.ignored.isEmpty, names.allSatisfy({ app.registration($0) == nil }) {
      return answer(order, nil, call, app)
    }
    let target = PushTarget(names, by: order.kind, of: app)
    switch content {
    case .revoke(let old):
      api.findRevocable(old, at: target, in: app) { [self] result in
        switch result {
        case .failure(let error): call.fail(error)
        case .success(let pushes):
          api.recall(pushes, in: app) { result in
            switch result {
            case .failure(let error): call.fail(error)
            case .success: answer(order, nil, call, app)
            }
          }
        }
      }
    case .push(let push):
      var request = try api.request(push, to: target)
      request.getui = GetuiOrigin(task: order.task)
      request.trace = call.log.trace
      api.accept(request, for: app) { [request] result in
        if case .failure(let error) = result {
          return call.fail(error == .unanswered ? .unansweredList : error)
        }
        answer(order, request, call, app)
      }
    }
  }

  /// Answers with the statuses of a push; nil stands for none.
  private func answer(_ order: Order, _ request: AcceptRequest?, _ call: GetuiCall, _ app: App) {
    guard !order.isAsync else { return call.answer() }
    let status = TargetStatus(
      order.names, by: order.kind, of: request, ignored: order.ignored, in: app, router.acceptance)
    api.readCIDs(of: status.unnamed, in: app) { cids in
      call.answer { writer in
        writer.beginObject()
        writer.key(GetuiTaskID(.list, order.task).text)
        if order.isDetailed {
          writer.beginObject()
          for name in order.names {
            writer.key(name)
            status.write([name], cids, to: &writer)
          }
          writer.endObject()
        } else {
          status.write(order.names, cids, to: &writer)
        }
        writer.endObject()
      }
    }
  }
}
