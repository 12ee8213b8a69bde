import BorealisBase
import Core
import HTTP
import Model
import Storage

/// Serves tasks: stops them, shows and deletes scheduled ones, and shows what happened at a CID.
struct TaskController: GetuiController {
  let api: GetuiAPI

  static let routes: [GetuiAPI.Route] = [
    route(.push, "DELETE", "/task/{taskid}") { $0.stop($1, $2) },
    route(.schedule, "GET", "/task/schedule/{taskid}") { $0.showTimed($1, $2) },
    route(.schedule, "DELETE", "/task/schedule/{taskid}") { $0.deleteTimed($1, $2) },
    route(.report, "GET", "/task/detail/{cid}/{taskid}") { $0.showDetail($1, $2) },
  ]

  // MARK: Stopping

  /// `DELETE /task/{taskid}`: recalls all pushes of a stored message, which can no longer be sent; a
  /// repetition goes on where an error ended that. Of a scheduled push it deletes the schedule, or recalls
  /// the push if it was made.
  private func stop(_ call: GetuiCall, _ app: App) {
    call.attempt { () throws(GetuiError) in
      stop(try GetuiError.task(call.captures["taskid"] ?? "", [.list, .app]), call, app)
    }
  }

  private func stop(_ task: GetuiTaskID, _ call: GetuiCall, _ app: App) {
    let now = api.time.now()
    api.store.write(of: app.id) { transaction throws(StorageError) -> Stopped in
      guard let row = try transaction.getui.task(task.id, app: app.id),
        (row.scheduleID == nil) == (task.kind == .list)
      else { return task.kind == .app ? .isPush : .unknown }
      if let timed = try transaction.getui.timedTask(task.id, app: app.id), timed.outcome == nil,
        let schedule = timed.schedule
      {
        _ = try transaction.schedules.delete(app: app.id, uuid: schedule.uuid)
      }
      try transaction.getui.stopTask(task.id, app: app.id, at: now)
      return .hasPushes
    } completion: { result in
      let done = { @Sendable (result: Result<Int, GetuiError>) in
        switch result {
        case .failure(let error): call.fail(error)
        case .success(let unconfirmed): call.answer(unconfirmedNodes: unconfirmed)
        }
      }
      switch result {
      case .failure: call.fail(.busy)
      case .success(.unknown): call.fail(.unknownTask)
      case .success(.isPush): api.recall([task.id], in: app, done: done)
      case .success(.hasPushes): api.recallAll(ofTask: task.id, in: app, done: done)
      }
    }
  }

  /// What a task is of which nothing more is sent.
  private enum Stopped: Sendable {
    case unknown, isPush, hasPushes
  }

  // MARK: Scheduled pushes

  /// A scheduled push cannot be deleted in the last seconds before its time (Getui's REST API v2, `DELETE
  /// /task/schedule`).
  private static let lastMinute: Int64 = 60

  /// `GET /task/schedule/{taskid}`.
  private func showTimed(_ call: GetuiCall, _ app: App) {
    call.attempt { () throws(GetuiError) in
      showTimed(try GetuiError.task(call.captures["taskid"] ?? "", [.app]), call, app)
    }
  }

  private func showTimed(_ task: GetuiTaskID, _ call: GetuiCall, _ app: App) {
    api.store.read { transaction throws(StorageError) in
      try transaction.getui.timedTask(task.id, app: app.id)
    } completion: { result in
      switch result {
      case .failure: call.fail(.busy)
      case .success(nil): call.fail(.unknownTask)
      case .success(let timed?):
        call.answer { writer in
          writer.beginObject()
          writer.key(task.text)
          timed.write(to: &writer)
          writer.endObject()
        }
      }
    }
  }

  /// `DELETE /task/schedule/{taskid}`.
  private func deleteTimed(_ call: GetuiCall, _ app: App) {
    call.attempt { () throws(GetuiError) in
      deleteTimed(try GetuiError.task(call.captures["taskid"] ?? "", [.app]), call, app)
    }
  }

  private func deleteTimed(_ task: GetuiTaskID, _ call: GetuiCall, _ app: App) {
    let now = api.time.now()
    api.store.write(of: app.id) { transaction throws(StorageError) -> GetuiError? in
      guard let timed = try transaction.getui.timedTask(task.id, app: app.id) else {
        return .unknownTask
      }
      guard timed.outcome == nil else { return .alreadySent }
      guard !timed.task.isStopped, let schedule = timed.schedule else {
        return .taskInvalid("The task was deleted")
      }
      guard schedule.dueAt > now.adding(seconds: Self.lastMinute) else {
        return .taskInvalid("The task is due in less than a minute: stop it with DELETE /task/{taskid}")
      }
      _ = try transaction.schedules.delete(app: app.id, uuid: schedule.uuid)
      try transaction.getui.stopTask(task.id, app: app.id, at: now)
      return nil
    } completion: { result in
      switch result {
      case .failure: call.fail(.busy)
      case .success(let error?): call.fail(error)
      case .success(nil): call.answer()
      }
    }
  }

  // MARK: At a CID

  /// Pushes of a stored message that are read at a time.
  private static let pushesInPage = 2000
  /// Above all pushes.
  private static let end = MessageID(UInt64(Int64.max))

  /// `GET /task/detail/{cid}/{taskid}`: the known events, in order.
  private func showDetail(_ call: GetuiCall, _ app: App) {
    call.attempt { () throws(GetuiError) in
      let device = try app.device(call.captures["cid"] ?? "")
      let task = try GetuiError.task(call.captures["taskid"] ?? "")
      showDetail(call, task.id, below: Self.end, device, app)
    }
  }

  /// Shows the latest push of a task below an ID that is for a device; a task that has none is itself the
  /// push.
  private func showDetail(
    _ call: GetuiCall, _ task: MessageID, below end: MessageID, _ device: RegistrationNumber, _ app: App
  ) {
    api.store.read(inTurnOf: app.id) { transaction throws(StorageError) in
      try transaction.getui.latestPushes(ofTask: task, app: app.id, below: end, limit: Self.pushesInPage)
    } completion: { result in
      guard case .success(let pushes) = result else { return call.fail(.busy) }
      let rest = pushes.count == Self.pushesInPage ? pushes.last : nil
      showDetail(call, pushes.isEmpty && end == Self.end ? [task] : pushes, device, app) {
        guard let rest else { return call.fail(.invalid("taskid", "the CID is not in its audience")) }
        showDetail(call, task, below: rest, device, app)
      }
    }
  }

  /// Shows the first of some pushes that is for a device, if there is one.
  private func showDetail(
    _ call: GetuiCall, _ pushes: [MessageID], _ device: RegistrationNumber, _ app: App,
    orElse none: @escaping @Sendable () -> Void
  ) {
    api.store.read(inTurnOf: app.id, each: pushes, upTo: 1) {
      transaction, id throws(StorageError) -> MessageID? in
      guard let push = try transaction.pushes.find(id: id), push.app == app.id else { return nil }
      let isTarget = [push.targets, push.unreached].contains {
        $0.flatMap { NumberSet(serialized: $0) }?.contains(device) == true
      }
      return isTarget || push.target == device ? id : nil
    } completion: { result in
      guard case .success(let found) = result else { return call.fail(.busy) }
      guard let push = found.first else { return none() }
      showDetail(call, push, device, app)
    }
  }

  private func showDetail(_ call: GetuiCall, _ push: MessageID, _ device: RegistrationNumber, _ app: App) {
    router.diagnostics.diagnose(push, .there(device), in: app) { result in
      switch result {
      case .failure: call.fail(.busy)
      case .success(nil): call.fail(.unknownTask)
      case .success(let diagnosis?):
        let events = diagnosis.events.map { (time: router.zone.local($0.at).text, event: $0.event) }
        call.answer { writer in
          writer.beginObject()
          // Getui's documentation has one name in its table and the other in its example.
          for key in ["deatil", "detail"] {
            writer.key(key)
            writer.beginArray()
            for event in events {
              writer.beginObject()
              writer.member("time", event.time)
              writer.member("event", event.event)
              writer.endObject()
            }
            writer.endArray()
          }
          writer.endObject()
        }
      }
    }
  }
}

extension GetuiTimedTaskRow {
  /// The outcome of the push, in the word of newer clients.
  private var result: String {
    switch outcome {
    case 0?: "send_success"
    case .some: "send_failed"
    case nil: task.isStopped || schedule == nil ? "has_delete" : "do_not_send"
    }
  }

  fileprivate func write(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("create_time", String(task.createdAt.milliseconds))
    writer.member("push_time", String((schedule?.dueAt ?? task.expiresAt).milliseconds))
    writer.member("send_result", result)
    // The word of older clients, who have none for a push that is still to come.
    if let outcome { writer.member("status", outcome == 0 ? "success" : "failed") }
    let push = schedule.flatMap { try? parseJSON($0.push) }
    if let text = push?["message"]?["msg_content"]?.string { writer.member("transmission_content", text) }
    writer.endObject()
  }
}

extension Diagnosis {
  /// The known events with their times, the oldest first.
  fileprivate var events: [(at: Timestamp, event: String)] {
    let found = steps.compactMap { step -> (at: Timestamp, event: String)? in
      guard let at = step.at else { return nil }
      switch (step.isOfChannel ? .channel : step.point, step.verdict) {
      case (.accepted, .ok), (.channel, .ok), (.connection, .ok), (.shown, .ok), (.callback, .ok):
        return (at, (step.cause == .tapped ? WhyCause.tapped.text : step.point.text).chinese)
      case (.sender, .failed), (.channel, .failed), (.connection, .failed), (.lifetime, .failed):
        return (at, step.cause?.text.chinese ?? step.point.text.chinese)
      default: return nil
      }
    }
    return found.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }.map(
      \.element)
  }
}
