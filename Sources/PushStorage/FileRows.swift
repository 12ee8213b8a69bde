import PushBase

/// What the values of a file are. The raw values are stored in the database.
public enum FileKind: UInt8, Sendable {
  /// Aliases.
  case aliases = 1
  /// Registration IDs.
  case registrationIDs = 2
}

/// A file of names of devices, without its values.
public struct FileRow: Sendable, Equatable {
  /// Row number.
  public var id: Int64
  /// Its public name.
  public var fileID: String
  /// What its values are.
  public var kind: FileKind
  /// The name that it was sent with, for people.
  public var name: String
  /// How many values it has, and in how many pieces.
  public var count, pieces: Int
  /// When it was stored, and when it ends.
  public var createdAt, expiresAt: Timestamp
}

/// A file to store.
public struct NewFile: Sendable {
  /// The key of the app.
  public var owner: String
  /// Its public name, the caller's to choose.
  public var fileID: String
  /// What its values are.
  public var kind: FileKind
  /// The name that it was sent with.
  public var name: String
  /// How many values it has.
  public var count: Int
  /// Its values, one a line, in pieces that end with a line.
  public var pieces: [[UInt8]]

  /// All fields.
  public init(
    owner: String, fileID: String, kind: FileKind, name: String, count: Int, pieces: [[UInt8]]
  ) {
    self.owner = owner
    self.fileID = fileID
    self.kind = kind
    self.name = name
    self.count = count
    self.pieces = pieces
  }
}
