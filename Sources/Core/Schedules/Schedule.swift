import BorealisBase
import BorealisCrypto
import Model
import Storage

/// A push that is to be made later, once or again and again.
package struct Schedule: Sendable {
  let row: ScheduleRow
  /// When it fires.
  package let trigger: ScheduleTrigger

  /// Takes over what is stored; nil if its trigger is unreadable.
  init?(_ row: ScheduleRow) {
    guard let trigger = ScheduleTrigger(stored: row.trigger) else { return nil }
    self.row = row
    self.trigger = trigger
  }

  /// Its name: a UUID.
  package var id: String { row.uuid }
  /// The app server's name for it.
  package var name: String { row.name }
  /// When it was made.
  package var createdAt: Timestamp { row.createdAt }
  /// Whether it fires.
  package var isEnabled: Bool { row.isEnabled }
  /// When it fires next, if it is enabled; nil once all its occurrences are over.
  package var next: Timestamp? { row.next?.at }
  /// What the clocks show then.
  package var nextLocal: LocalTime? { row.next?.local }
  /// Whether a request of Getui's API made it, by whose rules its push is read.
  package var isGetui: Bool { row.cid.map { GetuiOrigin.isName($0) } ?? false }
  /// The push object, as JSON.
  package var push: [UInt8] { row.push }
  /// Who made it, and whether a second person has to approve it.
  package var approval: ScheduleApproval { row.approval }

  /// A mark of what it pushes, to whom and when: another one after each change.
  func mark<Access>(_ transaction: Transaction<Access>) throws(StorageError) -> String {
    var bytes = row.trigger + row.push
    if let id = row.segment, let segment = try transaction.segments.find(id, app: row.app) {
      bytes += segment.condition
    }
    if let id = row.template, let template = try transaction.templates.find(id, app: row.app) {
      bytes += template.body
    }
    if let id = row.abTest, let test = try transaction.abTests.find(id, app: row.app) {
      bytes += test.body
      if let id = test.segment, let segment = try transaction.segments.find(id, app: row.app) {
        bytes += segment.condition
      }
    }
    return Hex.encode(Array(SHA256.digest(bytes).prefix(16)))
  }

  /// Its approval after a change by a person, or by the app's server: what becomes another push, or has other
  /// times, was approved by nobody. Nil for what waits and would only be turned on.
  func approval(after update: ScheduleUpdate, by person: PersonID?) -> ScheduleApproval? {
    guard update.push != nil || update.trigger.map({ $0 != trigger }) == true else {
      return approval.state == .waiting && update.isEnabled == true ? nil : approval
    }
    var new = approval
    new.state = .none
    if person != nil || update.push != nil { new.author = person }
    return new
  }

  /// Until when it waits for approval, if it does.
  package var waitsUntil: Timestamp? {
    guard approval.state == .waiting, let next else { return nil }
    return next.adding(seconds: Approvals.lifetime)
  }

  /// Whether it waits for approval.
  package func isWaiting(at now: Timestamp) -> Bool { waitsUntil.map { now < $0 } ?? false }

  /// What it pushes, by the rules that its app has now. Throws the push API's errors, since these may have
  /// changed in the meantime.
  package func request(by rules: PushRules) throws(APIError) -> PushRequest {
    try ScheduledPush(stored: push, rules: isGetui ? rules.forGetui : rules).request
  }
}

/// An occurrence of a schedule that has come.
package struct DueSchedule: Sendable {
  package let schedule: Schedule
  /// Its app; nil if it is turned off.
  package let app: App?
  /// What was to happen when.
  let occurrence: ScheduleRow.Occurrence
  /// How far it has come around the earth, if the clocks of devices count; nil if it begins.
  var turn: ScheduleTurnRow?
  /// Whether it has made a push before, elsewhere.
  var hasFired = false
}

/// A page of the occurrences that have come.
package struct DueOccurrences: Sendable {
  /// Those that wait longest first.
  package let due: [DueSchedule]
  /// How many more there are that cannot fire, since their push needs a secret key that is not there.
  package let unopened: Int
  /// Where the next page begins, nil if this is the last.
  package let end: DuePlace?
}

/// The result of an occurrence of a schedule.
package enum FiringEnd: Sendable, Equatable {
  /// The push was accepted.
  case fired(MessageID)
  /// Nothing could be pushed; this is recorded in the schedule's list.
  case failed(APIError)
  /// It goes to so many devices that it waits for the approval of a second person.
  case held
  /// It was too late; this is recorded in the schedule's list.
  case missed
  /// Nobody is meant whose clocks show the time now; it goes on elsewhere.
  case nobodyYet
  /// The schedule was changed or handled in the meantime; nothing was done.
  case stale
  /// Nothing could be stored now; it is to be tried again.
  case postponed
}

/// A page of an app's schedules.
package struct SchedulePage: Sendable {
  /// How many there are on all pages.
  package let total: Int
  /// Those of the page, by age.
  package let schedules: [Schedule]
}
