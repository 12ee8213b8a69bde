import PushBase
import PushDomain
import PushStorage

/// Events on their way into the database, gathered by destination: a row for up to a hundred, never one for each.
struct EventBatches {
  /// The most events of one request.
  static let limit = 100

  private struct Destination: Hashable {
    let app: AppID
    let url: String?
  }

  private var events: [Destination: [CallbackEvent]] = [:]

  /// Adds an event of a push, with what the push wants told.
  mutating func add(_ event: CallbackEvent, of app: AppID, _ row: PushCallbackRow) {
    var event = event
    event.sendno = row.sendno
    event.params = row.params
    add(event, of: app, to: row.url)
  }

  /// Adds an event for an address, nil for the app's own.
  mutating func add(_ event: CallbackEvent, of app: AppID, to url: String?) {
    events[Destination(app: app, url: url), default: []].append(event)
  }

  /// Whether there is nothing to store.
  var isEmpty: Bool { events.isEmpty }

  /// Stores all.
  func store(at now: Timestamp, in transaction: WriteTransaction) throws(StorageError) {
    for (destination, events) in events {
      let address = destination.url.flatMap { CallbackAddress($0) }
      var start = 0
      while start < events.count {
        let end = min(start + Self.limit, events.count)
        try transaction.insertCallbackBatch(
          app: destination.app, to: address, events: end - start,
          body: CallbackEvent.body(events[start..<end]), at: now)
        start = end
      }
    }
  }
}
