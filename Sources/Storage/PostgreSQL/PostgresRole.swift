import BorealisBase

/// What a connection is for.
enum PostgresRole: Equatable {
  /// Reads only.
  case reader
  /// Writes beside a server: a command.
  case writer
  /// Writes as the only server on the database.
  case server
  /// Writes as one of several homes, each of which has apps of its own, and gives message IDs of a slot.
  case home(MessageSlot)
  /// Writes what a node of a cluster tells of itself, without a fence.
  case node

  /// Whether nothing is written without a fence.
  var isFenced: Bool {
    switch self {
    case .writer, .server, .home: true
    case .reader, .node: false
    }
  }

  /// Whether it serves, and is not beside those who serve.
  var serves: Bool { isFenced && self != .writer }

  /// What several homes, unlike a server, hold together at the same time: the end of a function's name.
  var shares: String {
    if case .home = self { "_shared" } else { "" }
  }
}
