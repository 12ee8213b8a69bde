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
  /// It is in use: some of what uses it, and how many there are.
  case inUse([NamedUse], count: Int)
  /// The app has none of the number.
  case unknown
}

/// Something that uses what an app keeps under a name.
package enum NamedUse: Sendable, Equatable {
  /// The schedule with a name will still push with it.
  case schedule(String)
  /// The A/B test with a name is for it.
  case abTest(String)
  /// It is an A/B test, and runs.
  case run
}
