import BorealisBase

/// What the values of a file are. The raw values are stored in the database.
package enum FileKind: UInt8, Sendable {
  /// Aliases.
  case aliases = 1
  /// Registration IDs.
  case registrationIDs = 2
}

/// A file of names of devices, without its values.
package struct FileRow: Sendable, Equatable {
  /// Row number.
  package var id: Int64
  /// Its public name.
  package var fileID: String
  /// What its values are.
  package var kind: FileKind
  /// The name that it was sent with, for people.
  package var name: String
  /// How many values it has, and in how many pieces.
  package var count, pieces: Int
  /// When it was stored, and when it ends.
  package var createdAt, expiresAt: Timestamp
}

/// A file to store.
package struct NewFile: Sendable {
  /// The key of the app.
  package var owner: String
  /// Its public name, the caller's to choose.
  package var fileID: String
  /// What its values are.
  package var kind: FileKind
  /// The name that it was sent with.
  package var name: String
  /// How many values it has.
  package var count: Int
  /// Its values, one a line, in pieces that end with a line.
  package var pieces: [[UInt8]]

  package init(
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
