import BorealisBase
import Synchronization

/// Decides which calls are traced, and remembers the traces of pushes while they are under way. Only where
/// tracing is set up is there one. Safe to use from any thread.
package final class Tracer: Sendable {
  private struct Pushes: Sendable {
    /// Those of which spans are recorded, and those whose contexts are only passed on: of these there may be
    /// many more, and none of the others must be forgotten for them.
    var (recorded, passed) = (FollowedPushes(), FollowedPushes())

    subscript(push: MessageID) -> ActiveSpan? { (recorded[push] ?? passed[push])?.span }
  }

  /// The most traces that a request with events of several pushes names.
  private static let mostLinks = 31

  /// Exports the spans.
  package let exporter: SpanExporter
  /// Of 2^53 calls.
  private let share: UInt64
  private let pushes = Mutex(Pushes())
  private let hasPushes = Atomic(false)

  /// `share` is that of the calls without `traceparent` that are traced, from 0 to 1.
  package init(share: Double, _ exporter: SpanExporter) {
    self.share = UInt64(min(1, max(0, share)) * 0x1p53)
    self.exporter = exporter
  }

  /// Begins the span of a call. Its caller decides whether it is recorded, if `traceparent` says so. Nil for
  /// a call that belongs to no trace.
  package func begin(_ request: HTTPRequest) -> ActiveSpan? {
    if let caller = TraceContext(request.headers) {
      return caller.isSampled
        ? ActiveSpan(.server, under: caller, exporter) : ActiveSpan(passing: caller)
    }
    guard share > 0, UInt64.random(in: 0..<1 << 53) < share else { return nil }
    return ActiveSpan(.server, exporter)
  }

  /// The trace of a caller whose call is refused by its header, for the log. Nothing is recorded.
  package func name(_ request: HTTPRequest) -> ActiveSpan? {
    TraceContext(request.headers).map { ActiveSpan(passing: $0) }
  }

  // MARK: Pushes

  /// Remembers the span of a push that was accepted, for the requests that follow from it.
  package func follow(_ push: MessageID, of app: AppID, _ span: ActiveSpan) {
    pushes.withLock { pushes in
      if span.isRecorded {
        pushes.recorded.add(push, of: app, span)
      } else {
        pushes.passed.add(push, of: app, span)
      }
    }
    hasPushes.store(true, ordering: .relaxed)
  }

  /// Whether spans are recorded of a push.
  package func records(_ push: MessageID) -> Bool {
    hasPushes.load(ordering: .relaxed) && pushes.withLock { $0.recorded[push] != nil }
  }

  /// Begins the span of a request that brings a push to devices; `sent` is when it was sent, nil for now. Nil
  /// if none is recorded, also when the push has had as many as it may have.
  package func begin(sending push: MessageID, at sent: Timestamp? = nil) -> ActiveSpan? {
    guard hasPushes.load(ordering: .relaxed) else { return nil }
    let span = pushes.withLock { $0.recorded.claimSpan(\.sendsLeft, of: push) }
    return span.map {
      ActiveSpan(.client, under: $0.context, since: sent.map { exporter.moment(of: $0) }, exporter)
    }
  }

  /// Begins the span of a callback about some pushes, under that of the first one of which spans are
  /// recorded, with links to the others. If there is none, or none has a span left, the context of the first
  /// one is passed on. Nil if none is remembered.
  package func begin(notifying ids: @autoclosure () -> [MessageID]) -> ActiveSpan? {
    guard hasPushes.load(ordering: .relaxed) else { return nil }
    let ids = ids()
    let (known, parent) = pushes.withLock { pushes -> ([ActiveSpan], ActiveSpan?) in
      var parent: ActiveSpan?
      for id in ids where parent == nil { parent = pushes.recorded.claimSpan(\.callbacksLeft, of: id) }
      return (ids.compactMap { pushes[$0] }, parent)
    }
    guard let parent else {
      return (known.first { $0.isRecorded } ?? known.first).map { ActiveSpan(passing: $0.context) }
    }
    var links: [TraceContext] = []
    for span in known where links.count < Self.mostLinks && span.isRecorded {
      guard span.context != parent.context, !links.contains(span.context) else { continue }
      links.append(span.context)
    }
    return ActiveSpan(.client, under: parent.context, links: links, exporter)
  }
}
