import BorealisBase

/// What is counted of the push service of browsers.
package final class AutopushMetrics: Sendable {
  private static let statuses = [201, 204, 400, 401, 403, 404, 405, 410, 413, 429, 503]

  /// Answers to app servers, by status.
  let answers: [Int: Counter]

  /// Registers the metrics.
  package init(_ metrics: Metrics) {
    answers = Dictionary(
      uniqueKeysWithValues: Self.statuses.map {
        ($0, metrics.counter("borealis_autopush_answers_total", labels: "status=\"\($0)\""))
      })
  }
}
