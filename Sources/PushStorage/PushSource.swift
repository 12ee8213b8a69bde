import PushBase

/// What kind of push it is and whom it is for, for people who look for it again. Raw values stand in the database.
public struct PushTraits: OptionSet, Sendable, Hashable {
  /// The bits.
  public let rawValue: UInt16

  /// Takes bits as they are.
  public init(rawValue: UInt16) { self.rawValue = rawValue }

  /// It has a notification.
  public static let notification = PushTraits(rawValue: 1)
  /// It has a custom message.
  public static let message = PushTraits(rawValue: 2)
  /// It is for everybody.
  public static let everybody = PushTraits(rawValue: 4)
  /// Its audience is named by tags, whatever else.
  public static let tags = PushTraits(rawValue: 8)
  /// Its audience is named by aliases, whatever else.
  public static let aliases = PushTraits(rawValue: 16)
  /// Its audience is named by registration IDs, whatever else.
  public static let registrations = PushTraits(rawValue: 32)
  /// A file names its audience.
  public static let file = PushTraits(rawValue: 64)
  /// It is for those who have a Live Activity.
  public static let liveActivity = PushTraits(rawValue: 128)
  /// It is an entry of a batch.
  public static let batch = PushTraits(rawValue: 256)

  /// Whom a push may be for.
  public static let audiences: PushTraits = [
    .everybody, .tags, .aliases, .registrations, .file, .liveActivity,
  ]
}

/// Who made a push.
public enum PushSender: Sendable, Equatable {
  /// The app's server, as one push or as an entry of a batch.
  case api
  /// A schedule, by its row number.
  case schedule(Int64)
  /// The server of a group of apps, by the group's row number.
  case group(Int64)
  /// Somebody in the console.
  case person(PersonID)

  /// The kinds. Raw values stand in the database, except the first.
  public enum Kind: UInt8, CaseIterable, Sendable {
    /// The app's server.
    case api = 0
    /// A schedule.
    case schedule = 2
    /// A group's server.
    case group = 3
    /// Somebody in the console.
    case person = 4
  }

  /// Which kind of sender it is.
  public var kind: Kind {
    switch self {
    case .api: .api
    case .schedule: .schedule
    case .group: .group
    case .person: .person
    }
  }

  var number: Int64? {
    switch self {
    case .api: nil
    case .schedule(let number), .group(let number): number
    case .person(let person): person.rawValue
    }
  }

  init(kind: UInt8, number: Int64) {
    switch Kind(rawValue: kind) {
    case .schedule: self = .schedule(number)
    case .group: self = .group(number)
    case .person: self = .person(PersonID(number))
    case .api, nil: self = .api
    }
  }
}

/// Where a push comes from: what nothing but looking back at it needs.
public struct PushSource: Sendable, Equatable {
  /// Who made it.
  public var sender: PushSender
  /// What kind of push it is; empty for pushes of versions that did not keep it.
  public var traits: PushTraits
  /// The push object as it was sent, JSON in UTF-8; nil for pushes of versions that did not keep it.
  public var object: [UInt8]?

  /// All fields.
  public init(sender: PushSender = .api, traits: PushTraits = [], object: [UInt8]? = nil) {
    self.sender = sender
    self.traits = traits
    self.object = object
  }
}

extension ReadTransaction {
  /// Where a push comes from and, unless an app's server sent it, the name of who made it; nil if the push is unknown or
  /// swept.
  public func source(of id: MessageID) throws(StorageError) -> (source: PushSource, name: String?)? {
    try database.first(
      """
      SELECT push.traits, push.object, coalesce(push_sender.kind, 0), coalesce(push_sender.number, 0),
        CASE push_sender.kind WHEN 2 THEN (SELECT name FROM schedule WHERE id = push_sender.number)
          WHEN 3 THEN (SELECT name FROM app_group WHERE id = push_sender.number)
          WHEN 4 THEN (SELECT name FROM person WHERE id = push_sender.number) END
      FROM push LEFT JOIN push_sender ON push_sender.msg_id = push.msg_id WHERE push.msg_id = ?
      """, .message(id)
    ) { row in
      (
        PushSource(
          sender: PushSender(kind: row.integer(2, as: UInt8.self), number: row.integer(3)),
          traits: PushTraits(rawValue: row.integer(0, as: UInt16.self)), object: row.optionalBlob(1)),
        row.optionalText(4)
      )
    }
  }
}

extension WriteTransaction {
  /// Notes who made a push, unless it was the app's server.
  func insertSender(of id: MessageID, app: AppID, _ sender: PushSender) throws(StorageError) {
    guard let number = sender.number else { return }
    try database.run(
      "INSERT INTO push_sender (msg_id, app_id, kind, number) VALUES (?, ?, ?, ?)", .message(id), .app(app),
      .integer(sender.kind.rawValue), .integer(number))
  }
}
