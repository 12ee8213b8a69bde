/// What a connection is told by those who use it.
struct PostgresOptions {
  /// Names the writer's process in the database; of no meaning for readers.
  var incarnation: Int64 = 0
  /// Of a server: an incarnation whose connections end when this one connects, and leave it the database.
  var replaces: Int64?
  /// Whether statements of a reader may only take some time.
  var isLimited = true
  /// Milliseconds for which connecting is tried again before the first connection is there.
  var patience = 0
  /// Milliseconds for which a commit may wait for a disk, or for a standby: after that, what becomes of it is
  /// found out in another way.
  var commitPatience = 10_000
  /// Milliseconds for which any other statement may run: longer than the server's own limit for readers.
  var statementPatience = 65_000
  /// Whether whoever uses it is about to end: nothing is waited for much longer then.
  var isEnding: @Sendable () -> Bool = { false }
  /// Called when it becomes unknown whether a transaction was committed, with what is wrong; and with nil
  /// when that is over.
  var onDoubt: @Sendable (StorageError?) -> Void = { _ in }
}

/// How long the server may take to answer, in milliseconds.
enum PostgresPatience {
  /// For the first words on a connection, and for finding out what became of a commit.
  static let session = 5_000
  /// At the end of the program, for what has begun before.
  static let ending = 5_000
  /// For a server that another one seems to hold the database against: it may have ended with its machine,
  /// and its connection lives on until PostgreSQL misses its signs of life.
  static let taken = 20_000
  /// The same for another one that is seen at work: it may be about to end.
  static let busy = 3_000
}
