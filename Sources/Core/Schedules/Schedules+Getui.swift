import BorealisBase
import Model
import Storage

/// A push of Getui's API that is to be made once, later.
package struct GetuiTimedPush: Sendable {
  /// The name of the request.
  package let requestID: String
  /// The request's group and digest.
  package let origin: GetuiOrigin
  /// When the push is to be made.
  package let moment: Timestamp
  /// What is to be pushed.
  package let push: ScheduledPush

  /// Puts a request together.
  package init(requestID: String, origin: GetuiOrigin, moment: Timestamp, push: ScheduledPush) {
    (self.requestID, self.origin, self.moment, self.push) = (requestID, origin, moment, push)
  }
}

extension Schedules {
  /// Seconds ahead that a task of Getui's API may be scheduled (getui.md 2.3).
  package static let getuiWindow: Int64 = 7 * 86_400

  /// Makes a task, and a schedule with a name of the caller's, a UUID, in one commit; tells the task's
  /// number. A repeated request gets the first one's. What is wrong with the time is 1003, and 1012 that the
  /// app has as many schedules as it may.
  package func create(
    _ task: GetuiTimedPush, named uuid: String, in app: App, reply: @escaping Reply<MessageID>
  ) {
    let now = time.now()
    if let fault = planFault(task.push, app) { return reply(.failure(.invalidValue(fault.message))) }
    store.write(of: app.id) { transaction throws(StorageError) -> Result<MessageID, APIError> in
      let name = GetuiOrigin.name(ofRequest: task.requestID)
      if let known = try transaction.getui.task(requestID: task.requestID, app: app.id) {
        // A stored message without a digest would pass for every request.
        let isSame = known.scheduleID != nil && known.isSame(as: task.origin.digest)
        return isSame ? .success(known.id) : .failure(.requestRepeated)
      }
      guard try transaction.pushes.lookupCID(app: app.id, cid: name) == nil else {
        return .failure(.requestRepeated)
      }
      guard task.moment > now, task.moment <= now.adding(seconds: Self.getuiWindow) else {
        return .failure(.invalidValue("settings.schedule_time must be within the next 7 days"))
      }
      let occurrence = ScheduleRow.Occurrence(
        local: clocks.server.local(task.moment), at: Timestamp(milliseconds: task.moment.seconds * 1000))
      guard try transaction.schedules.validCount(app: app.id, at: now) < limit else {
        return .failure(.overLimit("The app has \(limit) schedules, and may not have more"))
      }
      let id = ids.next()
      let taskName = GetuiTaskID(.app, id).text
      // The schedule may outlive the request's name: its own is never given again.
      let schedule = try transaction.schedules.insert(
        ScheduleRow(
          app: app.id, uuid: uuid, cid: GetuiOrigin.name(ofRequest: taskName), name: taskName,
          trigger: ScheduleTrigger.single(occurrence.local).stored, push: task.push.json, createdAt: now,
          next: occurrence, last: occurrence))
      try transaction.getui.insertTask(
        GetuiTaskRow(
          id: id, app: app.id, requestID: task.requestID, groupName: task.origin.groupName, createdAt: now,
          expiresAt: occurrence.at, scheduleID: schedule, digest: task.origin.digest?.stored, body: []))
      try transaction.pushes.insertCID(
        app: app.id, cid: name, id: id, sendno: 0, at: now, digest: task.origin.digest?.stored)
      return .success(id)
    } completion: { result in
      reply(result.mapError { $0.apiError }.flatMap { $0 })
    }
  }
}
