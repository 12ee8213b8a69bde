import PushBase
import PushRouter

/// What an app has used of one of its budgets.
public struct APIUse: Sendable, Equatable {
  /// Which API: `push`, `device`, `schedule`, `report` or `file`.
  public let api: String
  /// Calls in the current minute.
  public let used: Int
  /// Calls allowed per minute.
  public let quota: Int
}

extension Gateway {
  /// What an app has used of its calls in this minute.
  public func use(of app: App) -> [APIUse] {
    let (plan, now) = (app.plan, time.monotonic())
    let apis: [API] = [.push, .device, .schedule, .report, .file]
    return apis.compactMap { api in
      guard let quota = quota(api, plan), let rate = rates[api] else { return nil }
      return APIUse(api: "\(api)", used: rate.used(by: app.id.rawValue, at: now), quota: quota)
    }
  }
}
