import PushBase
import PushHTTP
import PushWebSocket
import Synchronization

/// Counts the handshakes of WebSocket that are refused, and says why in the log, once a second at most: a browser hides it from its
/// page, and the cause is often a proxy in between. Safe to use from any thread.
final class DoorRefusals: Sendable {
  private typealias Refusal = WebSocketHandshake.Refusal

  /// Characters of a header field that are shown.
  private static let shown = 200

  private let counters: [Refusal: Counter]
  private let time: any TimeSource
  private let log: Log
  /// Second of the latest line.
  private let latest = Atomic<Int64>(.min)

  init(_ metrics: Metrics, time: any TimeSource, log: Log) {
    self.time = time
    self.log = log
    var counters: [Refusal: Counter] = [:]
    for refusal in Refusal.allCases {
      counters[refusal] = metrics.counter(
        "borealis_device_websocket_refusals_total", "Handshakes of WebSocket refused, by reason",
        labels: "reason=\"\(refusal.rawValue)\"")
    }
    self.counters = counters
  }

  func note(_ refusal: WebSocketHandshake.Refusal, _ request: HTTPRequest, from client: IPAddress?) {
    counters[refusal]?.add()
    let now = time.now().seconds
    guard latest.exchange(now, ordering: .relaxed) != now else { return }
    func field(_ name: String) -> LogValue { .text(String((request.headers[name] ?? "").prefix(Self.shown))) }
    log.warning(
      "device over WebSocket refused",
      [
        "reason": .text(refusal.rawValue), "origin": field("origin"), "host": field("host"),
        "client": .text(client?.text ?? ""),
      ])
  }
}
