import BorealisBase

/// Pushes whose traces are remembered, the newest ones. When there are too many, those of the app that has
/// the most make room, so that a busy app costs the others nothing.
struct FollowedPushes: Sendable {
  /// What is known of a push.
  struct Entry: Sendable {
    let span: ActiveSpan
    /// Spans that there may still be of requests to services. A push to many devices must not leave no place
    /// for others, nor use up the spans of its callbacks.
    var sendsLeft = 80
    /// Spans that there may still be of callbacks.
    var callbacksLeft = 20
  }

  /// The most that are remembered. Each takes less than a kilobyte.
  private static let most = 10_000

  private var entries: [MessageID: Entry] = [:]
  /// The pushes of each app, the oldest first; never empty.
  private var order: [AppID: FIFO<MessageID>] = [:]

  subscript(push: MessageID) -> Entry? { entries[push] }

  /// Remembers a push, unless it is known.
  mutating func add(_ push: MessageID, of app: AppID, _ span: ActiveSpan) {
    guard entries[push] == nil else { return }
    if entries.count >= Self.most { forgetOne(for: app) }
    entries[push] = Entry(span: span)
    order[app, default: FIFO()].append(push)
  }

  /// Claims one of the spans that there may be of a push; nil if none is left, or the push is not remembered.
  mutating func claimSpan(_ left: WritableKeyPath<Entry, Int>, of push: MessageID) -> ActiveSpan? {
    guard let entry = entries[push], entry[keyPath: left] > 0 else { return nil }
    entries[push]?[keyPath: left] -= 1
    return entry.span
  }

  private mutating func forgetOne(for app: AppID) {
    // An app with its share makes room itself. The others are looked at only for one with less.
    let own = order[app]?.count ?? 0
    let largest =
      own * order.count >= entries.count ? app : order.max { $0.value.count < $1.value.count }?.key
    guard let largest, let oldest = order[largest]?.popFirst() else { return }
    entries[oldest] = nil
    if order[largest]?.isEmpty == true { order[largest] = nil }
  }
}
