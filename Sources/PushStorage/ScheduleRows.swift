import PushBase

/// A schedule as it is stored.
public struct ScheduleRow: Sendable, Equatable {
  /// Row number; 0 for one that is not stored yet.
  public var id: Int64 = 0
  /// Its app.
  public var app: AppID
  /// Its public name.
  public var uuid: String
  /// The customer's name for the request that made it.
  public var cid: String?
  /// The customer's name for it.
  public var name: String
  /// Whether it fires.
  public var isEnabled = true
  /// When it fires, as the API's JSON.
  public var trigger: [UInt8]
  /// What it pushes, as the API's JSON.
  public var push: [UInt8]
  /// When it was made.
  public var createdAt: Timestamp
  /// Its next occurrence; nil once all are over.
  public var next: Occurrence?
  /// The last of all occurrences.
  public var last: Occurrence

  /// A local time in the server's zone, and its moment.
  public struct Occurrence: Sendable, Equatable {
    /// What the clocks show.
    public var local: LocalTime
    /// When they show it.
    public var at: Timestamp

    /// Both.
    public init(local: LocalTime, at: Timestamp) {
      self.local = local
      self.at = at
    }
  }

  /// A new schedule.
  public init(
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
  public func isValid(at now: Timestamp) -> Bool { next != nil && (isEnabled || last.at > now) }
}

/// The result of an occurrence of a schedule.
public struct ScheduleRunRow: Sendable, Equatable {
  /// The push; an ID of no push if there is an error.
  public var id: MessageID
  /// Row number of the schedule.
  public var schedule: Int64
  /// The occurrence, as the clocks show it.
  public var occurrence: LocalTime
  /// When it was handled.
  public var at: Timestamp
  /// Code of the error, 0 for none.
  public var code: Int
  /// What the error says.
  public var message: String
  /// Whether another try may succeed.
  public var needsRetry: Bool

  /// All fields.
  public init(
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

/// A page of the schedules whose next occurrence has come.
public struct DueSchedules: Sendable {
  /// Those that wait longest first.
  public internal(set) var rows: [ScheduleRow]
  /// How many more there are whose push needs a secret key that is not there.
  public internal(set) var unopened: Int
  /// Where the next page begins, nil if this is the last.
  public internal(set) var end: DuePlace?
}

/// A place among the schedules that are due.
public struct DuePlace: Sendable {
  let at: Timestamp
  let id: Int64
}
