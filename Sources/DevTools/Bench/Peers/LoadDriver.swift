/// One connection of a `LoadClient`, as a driver sees it.
struct Link: Equatable {
  /// Where the client keeps it.
  let slot: Int
  /// How often that slot was used before, so that a link to a closed connection is recognized.
  let generation: UInt32
  /// The driver's own number for it: which receiver it is, or `Link.sender`.
  let member: Int

  /// The member number of a connection that publishes.
  static let sender = -1
}

/// A protocol that load is made with. All calls come from the thread that polls the client.
protocol LoadDriver: AnyObject {
  /// The connection is open, TLS included.
  func opened(_ link: Link, _ client: LoadClient)
  /// Bytes have come. Returns how many of them were used up; the others come again, with more behind them.
  func received(_ link: Link, _ bytes: Span<UInt8>, _ client: LoadClient) -> Int
  /// The server closed the connection, or it failed. Not called for `LoadClient.close`.
  func closed(_ link: Link, _ client: LoadClient)
  /// Called before each wait: does due work and returns when to call it next, in monotonic nanoseconds.
  func turn(_ now: UInt64, _ client: LoadClient) -> UInt64?
}

extension LoadDriver {
  func turn(_ now: UInt64, _ client: LoadClient) -> UInt64? { nil }
}
