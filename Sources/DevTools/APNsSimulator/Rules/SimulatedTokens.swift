/// The states of device tokens.
struct SimulatedTokens: Sendable {
  /// The state of one token.
  enum State: Sendable, Equatable {
    /// Valid, for these topics or for any.
    case registered(topics: [HeaderValue]?)
    /// Answered 410 `Unregistered` with a time in milliseconds since 1970.
    case unregistered(timestamp: Int64)
    /// Answered 410 `ExpiredToken` with a time in milliseconds since 1970.
    case expired(timestamp: Int64)
    /// Belongs to the other environment.
    case foreign
  }

  private var states: [SimulatedDeviceToken: State] = [:]
  /// Refuses tokens of which nothing is known.
  var onlyRegistered = false

  /// How many tokens have a state.
  var count: Int { states.count }

  /// Gives a token a state, or none.
  mutating func set(_ token: SimulatedDeviceToken, _ state: State?) { states[token] = state }

  /// Deletes all.
  mutating func removeAll() { states = [:] }

  /// Refuses a push to a topic according to its token's state.
  func check(_ token: SimulatedDeviceToken, topic: HeaderValue) throws(Refusal) {
    // Looking up means hashing, which most runs need not pay for.
    let state = states.isEmpty ? nil : states[token]
    switch state {
    case .registered(let topics?) where !topics.contains(topic): throw Refusal(.deviceTokenNotForTopic)
    case .registered: return
    case .unregistered(let timestamp): throw Refusal(.unregistered, timestamp: timestamp)
    case .expired(let timestamp): throw Refusal(.expiredToken, timestamp: timestamp)
    case .foreign: throw Refusal(.badDeviceToken)
    case nil: if onlyRegistered { throw Refusal(.badDeviceToken) }
    }
  }
}
