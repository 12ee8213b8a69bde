import BorealisBase
import PushTesting

extension TestReceiver.Request {
  var events: [JSONValue] { (try? parseJSON(body))?.array ?? [] }
  var eventIDs: [String] { events.compactMap { $0["event_id"]?.string } }
}

extension TestReceiver {
  /// IDs of all events so far.
  var eventIDs: [String] { requests.flatMap(\.eventIDs) }
}
