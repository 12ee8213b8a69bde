/// The home of apps' state: registrations, connections and waiting pushes. Gateways, which own the connections, access an
/// app's state only through here (Docs/decisions/0040-gateway-and-home.md).
public protocol AppHome: AnyObject, Sendable {
  /// Takes messages of one loop's connections, in their order. Called on the loop; does not block. What can be answered
  /// at once is appended to `answers`, in the order of the questions; other answers come as the loop's mail, when they
  /// are known and in any order.
  func take(_ messages: [GatewayMessage], answers: inout [HomeMessage])
}

/// The connections of devices as a home reaches them, by loop. Called from any thread and in the order of the commits;
/// only passes messages on.
public protocol DeviceGateway: AnyObject, Sendable {
  /// Passes a message on to one loop.
  func send(_ message: HomeMessage, to loop: UInt16)
  /// Passes a message on to all loops.
  func sendToAll(_ message: HomeMessage)
}
