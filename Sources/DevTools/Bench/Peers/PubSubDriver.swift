/// A driver with one sender and many receivers: what every system under test looks like to a benchmark.
protocol PubSubDriver: LoadDriver {
  /// Receivers that are logged in, or subscribed when `subscribes` is set.
  var readyCount: Int { get }
  /// Connections that ended unexpectedly.
  var lostCount: Int { get }
  /// Where messages are counted.
  var board: ArrivalBoard { get set }
  /// What a receiver sends to show that it is there, and what comes back is ignored.
  var heartbeat: [UInt8] { get }
  /// Sends a message to all receivers.
  func broadcast(_ payload: [UInt8], _ client: LoadClient)
}
