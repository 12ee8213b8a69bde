import BorealisBase
import Model
import Storage
import Synchronization

/// The metrics of targets by outcome on each channel, and of its services' reachability.
package final class ChannelCounts: DeliveryObserver {
  private struct Key: Hashable {
    let channel: ChannelID
    let result: String
  }

  private unowned let channels: PluggedChannels
  private unowned let apps: Apps
  private let counts = Mutex<[Key: Int]>([:])

  /// Counts what passes a router's journal from now on, and shows it.
  package init(of router: Router, in metrics: Metrics) {
    channels = router.channels
    apps = router.apps
    router.journal.add(self)
    metrics.computed("borealis_channel_targets_total", isCounter: true) { [unowned self] in values }
    metrics.computed("borealis_channel_reachable") { [unowned self] in reachability }
  }

  private var values: [(labels: String, value: Double)] {
    counts.withLock { counts in
      counts.map { key, count in
        (#"channel="\#(channels.info(key.channel).name)",result="\#(key.result)""#, Double(count))
      }
    }.sorted { $0.labels < $1.labels }
  }

  /// A value for each app and service whose connections were tried.
  private var reachability: [(labels: String, value: Double)] {
    let names = Dictionary(channels.infos.map { ($0.id, $0.name) }) { first, _ in first }
    return apps.all.flatMap { app in
      channels.status(of: app).compactMap { status in
        guard status.hasCredential, status.health != .unused, let name = names[status.channel] else {
          return nil
        }
        let isReachable = if case .unreachable = status.health { 0.0 } else { 1.0 }
        return (#"app="\#(app.key.text)",channel="\#(name)",service="\#(status.service)""#, isReachable)
      }
    }.sorted { $0.labels < $1.labels }
  }

  /// Counts.
  package func stored(_ events: [DeliveryEvent], in transaction: WriteTransaction) throws(StorageError) {
    transaction.whenCommitted { [self] in count(events) }
  }

  private func count(_ events: [DeliveryEvent]) {
    counts.withLock { counts in
      for event in events {
        switch event.what {
        case .delivered(let numbers, let channel), .proven(let numbers, let channel):
          counts[Key(channel: channel, result: "delivered"), default: 0] += numbers.count
        case .refused(let numbers, let channel, let reason):
          let result =
            switch reason {
            case ChannelEnd.expired: "expired"
            case ChannelEnd.withdrawn: "recalled"
            default: "failed"
            }
          counts[Key(channel: channel, result: result), default: 0] += numbers.count
        case .arrived(let numbers, let channel):
          counts[Key(channel: channel, result: "arrived"), default: 0] += numbers.count
        case .denied(let numbers, let channel, _):
          counts[Key(channel: channel, result: "denied"), default: 0] += numbers.count
        case .ended(.delivered, _?): counts[Key(channel: .passthrough, result: "delivered"), default: 0] += 1
        case .ended, .confirmed, .shown, .tapped: break
        }
      }
    }
  }
}
