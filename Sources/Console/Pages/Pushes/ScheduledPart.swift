import API
import BorealisBase
import Core
import Model
import Storage

/// What pages show of a schedule: the push that it makes, and for whom.
struct ScheduledPart: Sendable {
  /// With the names of the app's segments.
  let call: PageCall
  let app: App
  let schedule: Schedule
  let router: Router
  let gateway: Gateway

  /// The push, or why it cannot be read by the app's present rules.
  var request: Result<PushRequest, APIError> {
    Result { () throws(APIError) in try schedule.request(by: gateway.pushRules(of: app)) }
  }

  /// What it says, in a line; the schedule's name if it cannot be read.
  var line: String {
    (try? request.get()).map { PushExcerpt($0.content.encode()).line(call) } ?? schedule.name
  }

  /// For whom it is, in a line.
  var audience: String {
    AudienceText(object: schedule.push, call.segments, call.abTests)?.line(call.language) ?? ""
  }

  /// The push with its size now and its preview.
  func content() async -> HTML {
    switch request {
    case .failure(let error): return "<p class=\"notice bad\">\(call(PushWords.phrase(error)))</p>"
    case .success(let push):
      let outline = PushOutline(call: call, request: push, object: try? parseJSON(schedule.push), app: app)
      let size = await AudienceSize.phrase(of: push, in: app, router)
      return """
        <div class="columns"><section class="card">\(outline.table)<p class="quiet">\(size.map { call($0) } ?? "")</p></section>
        \(outline.preview)</div>
        """
    }
  }
}

extension ScheduleRunRow {
  /// Why it made no push.
  var fault: Phrase {
    guard !message.hasPrefix("Missed") else { return Words.runMissed }
    return PushWords.phrase(APIError(code: code, httpStatus: 400, message: message))
  }
}
