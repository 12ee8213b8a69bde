import BorealisBase
import HTTP
import Synchronization

/// Counts rejected WebSocket handshakes and logs the reason, at most once a second: browsers hide it from the
/// page, and the cause is often a proxy. Safe to use from any thread.
final class HandshakeRejections: Sendable {
  private typealias Refusal = WebSocketHandshake.Refusal

  /// Characters of a header field that are logged.
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
        "borealis_device_websocket_refusals_total", labels: "reason=\"\(refusal.rawValue)\"")
    }
    self.counters = counters
  }

  /// Records a rejected handshake.
  func record(_ refusal: WebSocketHandshake.Refusal, _ request: HTTPRequest, from client: IPAddress?) {
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
