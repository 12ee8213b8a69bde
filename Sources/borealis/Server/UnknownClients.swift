import BorealisBase
import HTTP
import Synchronization

/// Says in the log, at most once a minute, that the header of a trusted proxy does not say who its client is:
/// then all of its clients share their limits, and none is in an allowed network. Safe to use from any
/// thread.
final class UnknownClients: Sendable {
  /// Characters of the header that are logged.
  private static let shown = 200

  private let time: any TimeSource
  private let log: Log
  /// Minute of the latest line.
  private let latest = Atomic<Int64>(.min)

  init(time: any TimeSource, log: Log) {
    self.time = time
    self.log = log
  }

  /// A proxy has passed a request on whose client cannot be told.
  func note(_ request: HTTPRequest, from proxy: IPAddress) {
    let now = time.now().seconds / 60
    guard latest.exchange(now, ordering: .relaxed) != now else { return }
    let field = request.headers.values("x-forwarded-for").joined(separator: ", ")
    log.warning(
      "X-Forwarded-For of a trusted proxy is not understood; the client's address is unknown",
      ["proxy": .text(proxy.text), "field": .text(String(field.prefix(Self.shown)))])
  }
}
