/// The type of a frame: what its entries are. Unknown ones survive decoding and are skipped.
package struct MessageType: RawRepresentable, Hashable, Sendable {
  /// The byte on the bus.
  package let rawValue: UInt8

  /// Wraps a byte.
  package init(rawValue: UInt8) { self.rawValue = rawValue }

  // Of links.
  /// A node says who it is.
  package static let hello = MessageType(rawValue: 1)
  /// What was sent.
  package static let position = MessageType(rawValue: 2)
  package static let applied = MessageType(rawValue: 3)

  // From a gateway to a home.
  /// A device logs in.
  package static let login = MessageType(rawValue: 16)
  /// A session has ended.
  package static let close = MessageType(rawValue: 17)
  /// An app went to the foreground or background.
  package static let state = MessageType(rawValue: 18)
  /// Devices acknowledged pushes.
  package static let acks = MessageType(rawValue: 19)
  /// A device reads or changes what is kept about it.
  package static let operation = MessageType(rawValue: 20)
  /// A device wants a registration.
  package static let register = MessageType(rawValue: 21)
  /// A device showed pushes, or its user tapped them.
  package static let receipts = MessageType(rawValue: 22)
  /// Sessions ask for their waiting pushes.
  package static let pull = MessageType(rawValue: 23)
  /// A gateway asks for all open pushes after one.
  package static let replay = MessageType(rawValue: 24)
  /// What a gateway believes of its sessions, in short.
  package static let digest = MessageType(rawValue: 25)
  /// The sessions of a gateway.
  package static let sessions = MessageType(rawValue: 26)
  /// A recall took effect.
  package static let recalled = MessageType(rawValue: 27)
  /// A session asks how many of the pushes sent to it still wait.
  package static let recount = MessageType(rawValue: 28)
  /// A LATE has come.
  package static let lateReceived = MessageType(rawValue: 29)

  // From a home to a gateway.
  /// Answers LOGIN.
  package static let loginResult = MessageType(rawValue: 48)
  /// The database has acknowledgements.
  package static let stored = MessageType(rawValue: 49)
  /// Answers OPERATION, REGISTER and RECEIPTS.
  package static let result = MessageType(rawValue: 50)
  /// A push for a few sessions.
  package static let pushOne = MessageType(rawValue: 51)
  /// A push for a set of registrations, or a part of it.
  package static let pushMany = MessageType(rawValue: 52)
  /// A push that may come after newer ones.
  package static let late = MessageType(rawValue: 53)
  /// Answers PULL.
  package static let pulled = MessageType(rawValue: 54)
  /// A push is recalled.
  package static let recall = MessageType(rawValue: 55)
  /// A session is to be ended.
  package static let endSession = MessageType(rawValue: 56)
  /// Ends the answer to REPLAY.
  package static let replayed = MessageType(rawValue: 57)
  /// A node is the home of an app.
  package static let home = MessageType(rawValue: 58)
  /// Asks for the sessions of an app.
  package static let wantSessions = MessageType(rawValue: 59)
  /// Answers STATE.
  package static let stateApplied = MessageType(rawValue: 60)
  /// Answers RECOUNT.
  package static let waiting = MessageType(rawValue: 61)
  /// An app asks its devices for other facts.
  package static let factsWanted = MessageType(rawValue: 62)
}
