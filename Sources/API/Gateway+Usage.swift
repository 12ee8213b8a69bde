import BorealisBase
import Core

/// What an app has used of one of its budgets.
package struct APIUse: Sendable, Equatable {
  /// Which API: `push`, `device`, `schedule`, `report` or `file`.
  package let api: String
  /// Calls in the current minute.
  package let used: Int
  /// Calls allowed per minute.
  package let quota: Int
}

extension Gateway {
  /// What an app has used of its calls in this minute.
  package func use(of app: App) -> [APIUse] {
    let (plan, now) = (app.plan, time.monotonic())
    let apis: [API] = [.push, .device, .schedule, .report, .file]
    return apis.compactMap { api in
      guard let quota = quota(api, plan), let rate = rates[api] else { return nil }
      return APIUse(api: "\(api)", used: rate.used(by: app.id.rawValue, at: now), quota: quota)
    }
  }
}
