import BorealisBase

/// A schedule as it is stored.
package struct ScheduleRow: Sendable, Equatable {
  /// Row number; 0 for one that is not stored yet.
  package var id: Int64 = 0
  package var app: AppID
  /// Its public name.
  package var uuid: String
  /// The customer's name for the request that made it.
  package var cid: String?
  /// The customer's name for it.
  package var name: String
  /// Whether it fires.
  package var isEnabled = true
  /// Whether the clocks of each device count, not the server's.
  package var followsDevices = false
  /// When it fires, as the API's JSON.
  package var trigger: [UInt8]
  /// What it pushes, as the API's JSON.
  package var push: [UInt8]
  /// The segment that the push's audience names; nil for none.
  package var segment: Int64?
  /// The template that the push names; nil for none.
  package var template: Int64?
  /// The A/B test that the push is for; nil for none.
  package var abTest: Int64?
  /// When it was made.
  package var createdAt: Timestamp
  /// Its next occurrence; nil once all are over.
  package var next: Occurrence?
  /// The last of all occurrences.
  package var last: Occurrence
  /// Who made it, and whether a second person has to approve it.
  package var approval = ScheduleApproval()

  /// A local time in the server's zone and its moment, or in the zones whose turn is next.
  package struct Occurrence: Sendable, Equatable {
    /// What the clocks show.
    package var local: LocalTime
    /// When they show it.
    package var at: Timestamp

    /// Both.
    package init(local: LocalTime, at: Timestamp) {
      self.local = local
      self.at = at
    }
  }

  /// A new schedule.
  package init(
    app: AppID, uuid: String, cid: String?, name: String, trigger: [UInt8], push: [UInt8],
    createdAt: Timestamp, next: Occurrence?, last: Occurrence
  ) {
    self.app = app
    self.uuid = uuid
    self.cid = cid
    self.name = name
    self.trigger = trigger
    self.push = push
    self.createdAt = createdAt
    self.next = next
    self.last = last
  }

  /// Whether something may still come of it.
  package func isValid(at now: Timestamp) -> Bool { next != nil && (isEnabled || last.at > now) }
}

/// Who made a schedule, and how far its approval by a second person has come.
package struct ScheduleApproval: Sendable, Equatable {
  /// How far it has come. The raw values are stored in the database.
  package enum State: Int64, CaseIterable, Sendable {
    /// Nobody was asked.
    case none = 0
    /// It waits, and does not fire meanwhile.
    case waiting = 1
    /// It may go to however many devices.
    case approved = 2
    /// A person has rejected it, or has stopped it before it went.
    case stopped = 3
    /// Nobody has approved it in time.
    case expired = 4
  }

  package var state = State.none
  /// The person who made it, or who changed last what it pushes or when; nil for the app's server.
  package var author: PersonID?
  /// Who approved or stopped it, and when.
  package var decidedBy: PersonID?
  package var decidedAt: Timestamp?
  /// Whether it is a push that a person sent, which goes once and is not shown as a schedule.
  package var isSend = false

  /// What is made by a person; by the app's server without one.
  package init(author: PersonID? = nil, isSend: Bool = false, state: State = .none) {
    self.author = author
    self.isSend = isSend
    self.state = state
  }

  init(_ row: Row) {
    state = State(rawValue: row.integer("approval")) ?? .none
    author = row.optionalInteger("author").map { PersonID($0) }
    decidedBy = row.optionalInteger("decided_by").map { PersonID($0) }
    decidedAt = row.optionalInteger("decided_at").map { Timestamp(milliseconds: $0) }
    isSend = row.bool("is_send")
  }
}

/// The result of an occurrence of a schedule.
package struct ScheduleRunRow: Sendable, Equatable {
  /// The push; an ID of no push if there is an error.
  package var id: MessageID
  /// Row number of the schedule.
  package var schedule: Int64
  /// The occurrence, as the clocks show it.
  package var occurrence: LocalTime
  /// When it was handled.
  package var at: Timestamp
  /// Code of the error, 0 for none.
  package var code: Int
  /// What the error says.
  package var message: String
  /// Whether another try may succeed.
  package var needsRetry: Bool

  package init(
    id: MessageID, schedule: Int64, occurrence: LocalTime, at: Timestamp, code: Int = 0, message: String = "",
    needsRetry: Bool = false
  ) {
    self.id = id
    self.schedule = schedule
    self.occurrence = occurrence
    self.at = at
    self.code = code
    self.message = message
    self.needsRetry = needsRetry
  }
}

/// An occurrence of a schedule that follows the clocks of devices, on its way around the earth.
package struct ScheduleTurnRow: Sendable, Equatable {
  /// Row number of the schedule.
  package var schedule: Int64
  /// The occurrence, as the clocks show it.
  package var occurrence: LocalTime
  /// Those who are not in `passed` and whose turn was up to this moment have passed as well; nil for nobody.
  package var skippedUntil: Timestamp?
  /// Whose turn has come, in the router's encoding.
  package var passed: [UInt8]

  package init(
    schedule: Int64, occurrence: LocalTime, skippedUntil: Timestamp? = nil, passed: [UInt8]
  ) {
    self.schedule = schedule
    self.occurrence = occurrence
    self.skippedUntil = skippedUntil
    self.passed = passed
  }
}

/// A page of the schedules whose next occurrence has come.
package struct DueSchedules: Sendable {
  /// Those that wait longest first.
  package internal(set) var rows: [ScheduleRow]
  /// How many more there are whose push needs a secret key that is not there.
  package internal(set) var unopened: Int
  /// Where the next page begins, nil if this is the last.
  package internal(set) var end: DuePlace?
}

/// A place among the schedules that are due.
package struct DuePlace: Sendable {
  let at: Timestamp
  let id: Int64
}
