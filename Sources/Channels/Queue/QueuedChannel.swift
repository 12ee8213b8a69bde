import BorealisBase
import Core

/// A channel that has a queue for each app.
package protocol QueuedChannel: ServiceChannel {
  /// The queue of an app, which is made if there is none.
  func queue(of app: App) -> ChannelQueue
  /// The queues that were made, in no order.
  var openQueues: [ChannelQueue] { get }
}

/// What the queue does.
extension QueuedChannel {
  /// Queues a push that was committed.
  package func deliver(_ push: ChannelPush) { queue(of: push.app).deliver(push) }

  /// Devices that have not acknowledged a push in time get it over the channel.
  package func takeOver(_ id: MessageID, of app: App) { queue(of: app).takeOver(id) }

  /// Whether the app's queue has room for them.
  package func mayTakeOver(in app: App) -> Bool { queue(of: app).mayTakeOver }
}
