import BorealisBase
import Core

/// Logs one line for each answered request: a warning if the server failed, else at level debug, also if it
/// could not take the request for a while, which the log tells once. Never a body, a query or a header other
/// than the request's ID.
package struct AccessLog: Sendable {
  let log: Log
  let time: any TimeSource
  /// When the request arrived, on the monotonic clock.
  let start: UInt64

  /// Starts with a request that arrived now.
  package init(_ log: Log, _ time: any TimeSource) {
    self.log = log
    self.time = time
    start = time.monotonic()
  }

  /// Logs an answer; `path` is the pattern of its route.
  package func answered(_ method: String, _ path: String, _ status: Int, _ requestID: String, _ app: App?) {
    func values() -> KeyValuePairs<String, LogValue> {
      [
        "id": .text(requestID), "method": .text(method), "path": .text(path),
        "status": .number(Int64(status)), "app": .text(app?.key.text ?? "-"),
        "us": .number(Int64(clamping: (time.monotonic() &- start) / 1000)),
      ]
    }
    if status >= 500, status != 503 {
      log.warning("request failed", values())
    } else {
      log.debug("request", values())
    }
  }
}
