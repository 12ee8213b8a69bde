import BorealisBase
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
  /// Whether it fires.
  package var isEnabled: Bool { row.isEnabled }
  /// When it fires next, if it is enabled; nil once all its occurrences are over.
  package var next: Timestamp? { row.next?.at }
  /// Whether a request of Getui's API made it, by whose rules its push is read.
  package var isGetui: Bool { row.cid.map { GetuiOrigin.isName($0) } ?? false }
  /// The push object, as JSON.
  package var push: [UInt8] { row.push }

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
  /// It was too late; this is recorded in the schedule's list.
  case missed
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
