import BorealisBase

/// The home of apps' state: registrations, connections and waiting pushes. Gateways, which own the
/// connections, access an app's state only through here (Docs/decisions/0040-gateway-and-home.md).
package protocol AppHome: AnyObject, Sendable {
  /// Handles messages of one loop's connections, in their order. Called on the loop; does not block. What can
  /// be answered at once is appended to `answers`, in the order of the questions; other answers come as the
  /// loop's mail, when they are known and in any order.
  func handle(_ messages: [GatewayMessage], answers: inout [HomeMessage])
}

/// The connections of devices as a home reaches them, by loop. Called from any thread and in the order of the
/// commits; only passes messages on.
package protocol DeviceGateway: AnyObject, Sendable {
  /// Passes a message on to one loop.
  func send(_ message: HomeMessage, to loop: UInt16)
  /// Passes a message on to all loops.
  func sendToAll(_ message: HomeMessage)
  /// Waits for what was said to all loops of a recalled push, in bounded time and without blocking: `done` is
  /// called once, on any thread, with the number of nodes that have not confirmed it.
  func confirmRecall(
    _ id: MessageID, of app: AppID, done: @escaping @Sendable (_ unconfirmed: Int) -> Void)
}

extension DeviceGateway {
  /// In one process there is nobody to wait for.
  package func confirmRecall(_ id: MessageID, of app: AppID, done: @escaping @Sendable (Int) -> Void) {
    done(0)
  }
}
