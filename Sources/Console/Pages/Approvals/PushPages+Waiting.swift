import API
import BorealisBase
import Core
import Model
import Storage

/// Sending where it may wait.
extension PushPages {
  /// Sends a push at once, or has it wait: for the time in which it can be undone, or for approval.
  func send(
    _ request: AcceptRequest, named cid: String, of app: App, by visitor: Visitor, _ call: PageCall
  ) async -> Result<PushDrafts.End, APIError> {
    do throws(APIError) {
      if app.brakes.undoSeconds == 0 {
        // The setting may have changed between two answers to one question.
        if let known = try await awaitCallback({ router.approvals.find(cid: cid, in: app, reply: $0) }).get()
        {
          return .success(.waits(known.id))
        }
        let result = await awaitCallback { router.acceptance.accept(request, for: app, reply: $0) }
        guard case .failure(.volumeRefused) = result else { return result.map { .push($0.id) } }
      }
      // What is wrong with it shows now, not when it goes.
      let checked = try await awaitCallback {
        router.acceptance.validate(request, for: app, reply: $0)
      }.get()
      guard let object = request.object, let json = try? parseJSON(object) else { throw .internalError }
      let sent = SentPush(
        push: try ScheduledPush(json, rules: gateway.pushRules(of: app)), cid: cid,
        name: SchedulePages.name(of: request.push), author: visitor.person.id, devices: checked.targets)
      let uuid = Gateway.uuid()
      let held = try await awaitCallback {
        (done: @escaping @Sendable (Result<Approvals.Held, APIError>) -> Void) in
        router.approvals.hold(
          sent, named: uuid, in: app,
          noting: { call.entry($0, uuid, by: visitor, app: app.id) }, reply: done)
      }.get()
      switch held {
      case .waits(let schedule): return .success(.waits(schedule.id))
      case .sent(let id): return .success(.push(id))
      }
    } catch {
      return .failure(error)
    }
  }
}
