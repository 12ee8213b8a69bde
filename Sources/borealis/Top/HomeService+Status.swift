import API
import BorealisBase
import Channels
import Core
import Model

extension HomeService {
  /// Apps of a snapshot: so many with the most pushes since the start, and so many with the longest queues.
  private static let appsOfEach = 500

  /// What the server counts now. Costs about twice as much as a scrape of `/metrics`.
  var status: ServerSnapshot {
    let (apps, time) = (router.apps.all, SystemTime())
    var queued: [AppID: Int] = [:]
    let loads = channels.compactMap { channel -> ServerSnapshot.Load? in
      var sum = (open: 0, inFlight: 0, later: 0)
      for queue in (channel as? any QueuedChannel)?.openQueues ?? [] {
        let counts = queue.counts
        sum = (sum.open + counts.open, sum.inFlight + counts.inFlight, sum.later + counts.later)
        queued[queue.app.id, default: 0] += counts.open
      }
      let services = apps.flatMap { channel.status(of: $0) }.filter(\.hasCredential)
      guard sum.open > 0 || !services.isEmpty else { return nil }
      return ServerSnapshot.Load(
        name: channel.info.name,
        counts: [
          "pushes": sum.open, "in_flight": sum.inFlight, "retrying": sum.later,
          "stopped": services.count { $0.problem != nil },
          "unreachable": services.count { if case .unreachable = $0.health { true } else { false } },
        ])
    }
    let figures = apps.map { app in
      let waiting = app.directory.waitingCounts
      return ServerSnapshot.Load(
        name: app.name, appKey: app.key.text,
        counts: [
          "pushes": app.acceptedCount, "online": app.directory.onlineCount, "waiting": waiting.listed,
          "broadcasts": waiting.broadcasts, "queued": queued[app.id] ?? 0,
        ])
    }
    return ServerSnapshot(
      version: Program.version, time: time.now().milliseconds, clock: time.monotonic(), obstacle: obstacle,
      metrics: ServerSnapshot.values(of: gateway.metrics.render()), channels: loads,
      apps: Self.selection(of: figures))
  }

  private static func selection(of apps: [ServerSnapshot.Load]) -> [ServerSnapshot.Load] {
    guard apps.count > 2 * appsOfEach else { return apps }
    let byPushes = apps.sorted { $0["pushes"] > $1["pushes"] }
    let others = byPushes.dropFirst(appsOfEach).sorted { $0["queued"] > $1["queued"] }
    return Array(byPushes.prefix(appsOfEach) + others.prefix(appsOfEach))
  }
}
