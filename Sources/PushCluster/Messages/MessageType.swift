/// The type of a frame: what its entries are. Unknown ones survive decoding and are skipped.
public struct MessageType: RawRepresentable, Hashable, Sendable {
  /// The byte on the bus.
  public let rawValue: UInt8

  /// Wraps a byte.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  // Of links.
  /// A node says who it is.
  public static let hello = MessageType(rawValue: 1)
  /// What was sent.
  public static let position = MessageType(rawValue: 2)
  /// What was applied.
  public static let applied = MessageType(rawValue: 3)

  // From a gateway to a home.
  /// A device logs in.
  public static let login = MessageType(rawValue: 16)
  /// A session has ended.
  public static let close = MessageType(rawValue: 17)
  /// An app went to the foreground or background.
  public static let state = MessageType(rawValue: 18)
  /// Devices acknowledged pushes.
  public static let acks = MessageType(rawValue: 19)
  /// A device reads or changes what is kept about it.
  public static let operation = MessageType(rawValue: 20)
  /// A device wants a registration.
  public static let register = MessageType(rawValue: 21)
  /// A device showed pushes, or its user tapped them.
  public static let receipts = MessageType(rawValue: 22)
  /// Sessions ask for their waiting pushes.
  public static let pull = MessageType(rawValue: 23)
  /// A gateway asks for all open pushes after one.
  public static let replay = MessageType(rawValue: 24)
  /// What a gateway believes of its sessions, in short.
  public static let digest = MessageType(rawValue: 25)
  /// The sessions of a gateway.
  public static let sessions = MessageType(rawValue: 26)
  /// A recall took effect.
  public static let recalled = MessageType(rawValue: 27)
  /// A session asks how many of the pushes sent to it still wait.
  public static let recount = MessageType(rawValue: 28)
  /// A LATE has come.
  public static let lateTaken = MessageType(rawValue: 29)

  // From a home to a gateway.
  /// Answers LOGIN.
  public static let loginResult = MessageType(rawValue: 48)
  /// The database has acknowledgements.
  public static let stored = MessageType(rawValue: 49)
  /// Answers OPERATION, REGISTER and RECEIPTS.
  public static let result = MessageType(rawValue: 50)
  /// A push for a few sessions.
  public static let pushOne = MessageType(rawValue: 51)
  /// A push for a set of registrations, or a part of it.
  public static let pushMany = MessageType(rawValue: 52)
  /// A push that may come after newer ones.
  public static let late = MessageType(rawValue: 53)
  /// Answers PULL.
  public static let pulled = MessageType(rawValue: 54)
  /// A push is recalled.
  public static let recall = MessageType(rawValue: 55)
  /// A session is to be ended.
  public static let endSession = MessageType(rawValue: 56)
  /// Ends the answer to REPLAY.
  public static let replayed = MessageType(rawValue: 57)
  /// A node is the home of an app.
  public static let home = MessageType(rawValue: 58)
  /// Asks for the sessions of an app.
  public static let wantSessions = MessageType(rawValue: 59)
  /// Answers STATE.
  public static let stateTaken = MessageType(rawValue: 60)
  /// Answers RECOUNT.
  public static let waiting = MessageType(rawValue: 61)
}
