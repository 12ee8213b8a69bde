import BorealisBase

/// Pushes whose content waits for a key, and when to request the key again. Milliseconds are those of the
/// caller's clock.
struct HeldPushes: Sendable {
  /// Milliseconds until a key is first requested again; doubles each time.
  static let firstWait: UInt64 = 5000
  /// The longest such time.
  static let longestWait: UInt64 = 600_000

  /// The least time for which a push waits, in milliseconds: for two answers, also if it is not kept at all.
  static let leastWait: UInt64 = 6000

  private struct Held: Sendable {
    let push: DevicePush
    let end: UInt64
  }

  private struct Wait: Sendable {
    var pushes: [Held] = []
    /// Nil while an answer is awaited.
    var askAgain: UInt64?
    var pause = HeldPushes.firstWait
    var isReported = false
  }

  private var waits: [ContentKeyID: Wait] = [:]

  /// How many there are.
  var count: Int { waits.values.reduce(0) { $0 + $1.pushes.count } }

  /// When the next push has waited for as long as it is kept.
  var end: UInt64? { waits.values.lazy.flatMap { $0.pushes.lazy.map(\.end) }.min() }

  /// When a key is to be asked for next.
  var deadline: UInt64? { waits.values.lazy.compactMap(\.askAgain).min() }

  /// Holds a push for so many milliseconds, or a little longer; true if its key is to be asked for now.
  mutating func hold(_ push: DevicePush, for key: ContentKeyID, at now: UInt64, life: UInt64) -> Bool {
    let isNew = waits[key] == nil
    waits[key, default: Wait()].pushes.append(Held(push: push, end: now &+ max(life, Self.leastWait)))
    return isNew
  }

  /// The pushes that have waited for as long as they are kept, each with the key that did not come: they wait
  /// no longer.
  mutating func ended(at now: UInt64) -> [(id: MessageID, key: ContentKeyID)] {
    var ended: [(id: MessageID, key: ContentKeyID)] = []
    for (key, wait) in waits where wait.pushes.contains(where: { $0.end <= now }) {
      ended += wait.pushes.filter { $0.end <= now }.map { ($0.push.messageID, key) }
      waits[key]?.pushes.removeAll { $0.end <= now }
      if waits[key]?.pushes.isEmpty == true { waits[key] = nil }
    }
    return ended.sorted { $0.id < $1.id }
  }

  /// A key did not come; true if the app is to learn of it: once, and not for a passing reason.
  mutating func notFound(_ key: ContentKeyID, at now: UInt64, isFinal: Bool) -> Bool {
    guard var wait = waits[key] else { return false }
    wait.askAgain = now &+ wait.pause
    wait.pause = min(2 * wait.pause, Self.longestWait)
    defer { waits[key] = wait }
    guard isFinal, !wait.isReported else { return false }
    wait.isReported = true
    return true
  }

  /// The keys to request now; all of them when a session begins.
  mutating func due(at now: UInt64, isNewSession: Bool = false) -> [ContentKeyID] {
    let due = waits.filter { isNewSession || ($0.value.askAgain.map { $0 <= now } ?? false) }.keys
    for key in due { waits[key]?.askAgain = nil }
    return due.sorted { $0.rawValue < $1.rawValue }
  }

  /// The pushes that waited for a key, in the order in which they came.
  mutating func release(_ key: ContentKeyID) -> [DevicePush] {
    waits.removeValue(forKey: key)?.pushes.map(\.push) ?? []
  }

  /// The pushes that are held.
  var ids: [MessageID] { waits.values.flatMap { $0.pushes.map(\.push.messageID) } }

  /// A push was recalled, or is left to another channel; true if it was held.
  mutating func remove(_ id: MessageID) -> Bool {
    for key in Array(waits.keys) {
      guard let index = waits[key]?.pushes.firstIndex(where: { $0.push.messageID == id }) else { continue }
      waits[key]?.pushes.remove(at: index)
      if waits[key]?.pushes.isEmpty == true { waits[key] = nil }
      return true
    }
    return false
  }
}
