import BorealisBase
import Model
import Storage

extension CallbackEvent {
  /// A stored body without the events of shown notifications, which only Getui's format has; empty if nothing
  /// is left, nil if there are none.
  static func withoutShown(_ body: [UInt8]) -> [UInt8]? {
    let mark = "\"event\":\"shown\"".utf8
    // Bodies are sent as they are stored, and few hold one: only these are read.
    guard body.firstRange(of: mark) != nil, let events = (try? parseJSON(body))?.array else { return nil }
    let others = events.filter { $0["event"] != "shown" }
    guard others.count < events.count else { return nil }
    return others.isEmpty ? [] : JSONWriter.serialize(.array(others))
  }
}

extension CallbackEvent {
  /// The pushes that the events of a stored body are about, each once, in order.
  static func pushes(in body: [UInt8]) -> [MessageID] {
    var pushes: [MessageID] = []
    for event in (try? parseJSON(body))?.array ?? [] {
      guard let id = event["msg_id"]?.string.flatMap({ MessageID(decimal: Array($0.utf8)) }),
        !pushes.contains(id)
      else { continue }
      pushes.append(id)
    }
    return pushes
  }
}

/// Events to store, grouped by destination: one row for up to a hundred events.
struct EventBatches {
  /// The most events of one request.
  static let limit = 100

  private struct Destination: Hashable {
    let app: AppID
    let url: String?
  }

  private var events: [Destination: [CallbackEvent]] = [:]
  private let format: (AppID) -> CallbackFormat

  /// `format` returns the format of callbacks to an app's own URL.
  init(format: @escaping (AppID) -> CallbackFormat) { self.format = format }

  /// Adds an event of a push, with the push's callback settings.
  mutating func add(_ event: CallbackEvent, of app: AppID, _ row: PushCallbackRow) {
    var event = event
    event.sendno = row.sendno
    event.params = row.params
    let isGetui = row.url == nil && format(app) == .getui
    guard isGetui ? GetuiReceipt(event) != nil : event.type != .shown else { return }
    add(event, of: app, to: row.url)
  }

  /// Adds an event for a URL, nil for the app's own.
  mutating func add(_ event: CallbackEvent, of app: AppID, to url: String?) {
    events[Destination(app: app, url: url), default: []].append(event)
  }

  /// Whether there is nothing to store.
  var isEmpty: Bool { events.isEmpty }

  /// A row to store: the body of a request and its destination.
  struct Written: Sendable {
    fileprivate let app: AppID
    fileprivate let address: CallbackAddress?
    fileprivate let count: Int
    fileprivate let body: [UInt8]

    /// Stores it.
    func store(at now: Timestamp, in transaction: WriteTransaction) throws(StorageError) {
      try transaction.callbacks.insertBatch(
        app: app, to: address, events: count, body: body, at: now,
        until: now.adding(seconds: CallbackEvent.lifetime))
    }
  }

  /// Encodes the bodies; with many events, too slow for the writer's thread.
  func written() -> [Written] {
    var written: [Written] = []
    for (destination, events) in events {
      let address = destination.url.flatMap { CallbackAddress($0) }
      for start in stride(from: 0, to: events.count, by: Self.limit) {
        let some = events[start..<min(start + Self.limit, events.count)]
        written.append(
          Written(app: destination.app, address: address, count: some.count, body: CallbackEvent.body(some)))
      }
    }
    return written
  }

  /// Stores all.
  func store(at now: Timestamp, in transaction: WriteTransaction) throws(StorageError) {
    for one in written() { try one.store(at: now, in: transaction) }
  }
}
