import BorealisBase
import Model

/// The body of `POST` and `PUT /v3/schedules`: what is accepted has an order of times that ends, and comes
/// back from the database as it was.
@Sendable func fuzzSchedule(_ bytes: [UInt8]) {
  guard let json = try? parseJSON(bytes) else { return }
  do throws(APIError) {
    let request = try ScheduleRequest.parse(json)
    check((1...255).contains(request.name.utf8.count), "the name has 1 to 255 bytes")
    check(request.push.request.cid == nil, "a cid in the push means nothing")
    check(
      (try? ScheduledPush(stored: request.push.json, rules: PushRules())) == request.push, "a push is kept")
    check(request.trigger)
  } catch {
    check(error.code == 8100 && error.httpStatus == 400, "an error is 8100")
  }
  if let update = try? ScheduleUpdate.parse(json) {
    check(update != ScheduleUpdate(), "an update changes something")
    if let trigger = update.trigger { check(trigger) }
  }
}

private func check(_ trigger: ScheduleTrigger) {
  check(ScheduleTrigger(stored: trigger.stored) == trigger, "a trigger is kept")
  var times: [LocalTime] = []
  while let next = trigger.next(after: times.last) {
    if let last = times.last { check(next > last, "times grow") }
    times.append(next)
    check(times.count <= 367, "times end")
  }
  check(trigger.last == times.last, "the last time is the last")
  let moments = times.map { FixedZone.china.moment(of: $0) }
  check(zip(moments, moments.dropFirst()).allSatisfy { $0 < $1 }, "moments grow with their times")
  if let first = moments.first {
    check(trigger.next(after: first, in: FixedZone.china) == times.dropFirst().first, "the first is over")
  }
}
