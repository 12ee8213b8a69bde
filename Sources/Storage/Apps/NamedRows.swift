/// What came of storing something that an app keeps under a name.
package enum NamedStorage<Row: Sendable & Equatable>: Sendable, Equatable {
  /// It is stored like this.
  case stored(Row)
  /// Another one of the app has the name.
  case nameTaken
  /// The app has as many as it may.
  case full
  /// The app has none of the number.
  case unknown
}

/// What came of deleting something that an app keeps under a name.
package enum NamedDeletion<Row: Sendable & Equatable>: Sendable, Equatable {
  /// It is gone.
  case deleted(Row)
  /// These schedules use it: names of some, and how many there are.
  case inUse(names: [String], count: Int)
  /// The app has none of the number.
  case unknown
}
