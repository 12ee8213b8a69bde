import BorealisBase

/// The kind and audience of a push, for searches. The raw values are stored in the database.
package struct PushTraits: OptionSet, Sendable, Hashable {
  /// The bits.
  package let rawValue: UInt16

  /// Takes bits as they are.
  package init(rawValue: UInt16) { self.rawValue = rawValue }

  package static let notification = PushTraits(rawValue: 1)
  /// It has a custom message.
  package static let message = PushTraits(rawValue: 2)
  /// It is a broadcast.
  package static let everybody = PushTraits(rawValue: 4)
  /// Its audience is named by tags, whatever else.
  package static let tags = PushTraits(rawValue: 8)
  /// Its audience is named by aliases, whatever else.
  package static let aliases = PushTraits(rawValue: 16)
  /// Its audience is named by registration IDs, whatever else.
  package static let registrations = PushTraits(rawValue: 32)
  /// A file names its audience.
  package static let file = PushTraits(rawValue: 64)
  /// It is for devices with a Live Activity.
  package static let liveActivity = PushTraits(rawValue: 128)
  /// It is an entry of a batch.
  package static let batch = PushTraits(rawValue: 256)
  /// It came by Getui's API.
  package static let getui = PushTraits(rawValue: 512)

  /// Its audience is named by a segment, whatever else.
  package static let segment = PushTraits(rawValue: 1024)

  /// It is one content of an A/B test, or the winner.
  package static let abTest = PushTraits(rawValue: 2048)
  /// It is for some zones of a schedule that follows the clocks of devices.
  package static let zone = PushTraits(rawValue: 4096)

  /// It counts among the notifications that its devices get on that day: as one of which the sender does not
  /// say what it is, or as marketing.
  package static let counts = PushTraits(rawValue: 8192)
  package static let countsAsMarketing = PushTraits(rawValue: 16384)

  /// Devices in their quiet hours do not get it: the app had such hours when it was accepted.
  package static let keepsQuietHours = PushTraits(rawValue: 32768)

  /// The kinds of audiences.
  package static let audiences: PushTraits = [
    .everybody, .tags, .aliases, .registrations, .file, .liveActivity, .segment,
    .abTest,
  ]
}

/// Who made a push.
package enum PushSender: Sendable, Equatable {
  /// The app's server, as one push or as an entry of a batch.
  case api
  /// A schedule, by its row number.
  case schedule(Int64)
  /// The server of a group of apps, by the group's row number.
  case group(Int64)
  /// A user of the console.
  case person(PersonID)

  /// The kinds. The raw values are stored in the database, except the first.
  package enum Kind: UInt8, CaseIterable, Sendable {
    /// The app's server.
    case api = 0
    /// A schedule.
    case schedule = 2
    /// A group's server.
    case group = 3
    /// A user of the console.
    case person = 4
  }

  /// Which kind of sender it is.
  package var kind: Kind {
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

  /// Reads the columns `sender_kind` and `sender_number`.
  init(_ row: Row) {
    let number = row.integer("sender_number")
    switch Kind(rawValue: row.integer("sender_kind", as: UInt8.self)) {
    case .schedule: self = .schedule(number)
    case .group: self = .group(number)
    case .person: self = .person(PersonID(number))
    case .api, nil: self = .api
    }
  }
}

/// Where a push comes from: what nothing but looking back at it needs.
package struct PushSource: Sendable, Equatable {
  /// Who made it.
  package var sender: PushSender
  /// What kind of push it is; empty for pushes of versions that did not keep it.
  package var traits: PushTraits
  /// The push object as it was sent, JSON in UTF-8; nil for pushes of versions that did not keep it.
  package var object: [UInt8]?
  /// The forecast made when it was sent (`PushForecast.encode`); nil if there is none, as for app servers.
  package var forecast: [UInt8]?

  package init(
    sender: PushSender = .api, traits: PushTraits = [], object: [UInt8]? = nil, forecast: [UInt8]? = nil
  ) {
    self.forecast = forecast
    self.sender = sender
    self.traits = traits
    self.object = object
  }
}
