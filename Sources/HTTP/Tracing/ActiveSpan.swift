import BorealisBase
import Synchronization

/// A span that has ended.
struct TraceSpan: Sendable {
  /// Who does the work, by the numbers of OTLP.
  enum Kind: Int, Sendable {
    case `internal` = 1
    case server = 2
    case client = 3
  }

  let name: String
  let kind: Kind
  let context: TraceContext
  /// The span that it belongs to; 0 for the first one of a trace.
  let parent: UInt64
  /// Moments of `TimeSource.monotonic`.
  let began, ended: UInt64
  let attributes: [SpanAttribute]
  /// Spans of other traces that it also works for.
  let links: [TraceContext]
  let isError: Bool
}

/// A fact about a span, under a name. Never a secret, a token, a name of a person or the content of a push.
package struct SpanAttribute: Sendable, Equatable {
  enum Value: Sendable, Equatable {
    case text(String)
    case number(Int64)
    case flag(Bool)
    case texts([String])
  }

  let name: String
  let value: Value

  /// A text.
  package init(_ name: String, _ text: String) { (self.name, value) = (name, .text(text)) }

  /// A number.
  package init(_ name: String, _ number: some BinaryInteger) {
    (self.name, value) = (name, .number(Int64(clamping: number)))
  }

  /// True or false.
  package init(_ name: String, isTrue: Bool) { (self.name, value) = (name, .flag(isTrue)) }

  /// Several texts.
  package init(_ name: String, _ texts: [String]) { (self.name, value) = (name, .texts(texts)) }
}

/// Work under way that belongs to a trace. Its context goes to whatever follows from the work, also where
/// spans are not recorded. Safe to use from any thread.
package final class ActiveSpan: Sendable {
  private struct State: Sendable {
    var pushes: [String] = []
    var pushCount = 0
    var childrenLeft = ActiveSpan.mostChildren
  }

  /// The most pushes that a span names.
  private static let mostPushes = 16
  /// The most spans of this process under one: a call with a thousand pushes must not leave no place for
  /// others.
  private static let mostChildren = 100

  /// The place in the trace of what follows from the work.
  package let context: TraceContext
  private let parent: UInt64
  private let kind: TraceSpan.Kind
  private let began: UInt64
  private let links: [TraceContext]
  /// Nil if the span is not recorded.
  private let exporter: SpanExporter?
  private let state = Mutex(State())

  /// Begins the first span of a trace.
  init(_ kind: TraceSpan.Kind, _ exporter: SpanExporter) {
    let trace = TraceContext.TraceID(high: Self.newID(), low: Self.newID())
    context = TraceContext(trace: trace, span: Self.newID(), isSampled: true)
    (parent, self.kind, links) = (0, kind, [])
    self.exporter = exporter
    began = exporter.time.monotonic()
  }

  /// Begins a span under another one; it began at a moment of `TimeSource.monotonic`, or does now.
  init(
    _ kind: TraceSpan.Kind, under other: TraceContext, links: [TraceContext] = [], since began: UInt64? = nil,
    _ exporter: SpanExporter
  ) {
    context = TraceContext(trace: other.trace, span: Self.newID(), isSampled: true, state: other.state)
    (parent, self.kind, self.links) = (other.span, kind, links)
    self.exporter = exporter
    self.began = began ?? exporter.time.monotonic()
  }

  /// Passes a context on without recording anything.
  init(passing context: TraceContext) {
    self.context = context
    (parent, kind, began, links, exporter) = (0, .internal, 0, [], nil)
  }

  private static func newID() -> UInt64 { UInt64.random(in: 1...UInt64.max) }

  /// The trace, for the log.
  package var traceID: String { context.trace.text }

  /// Whether it is recorded.
  var isRecorded: Bool { exporter != nil }

  /// Begins a span of this process under this one. One with many of them records no more, and only passes its
  /// context on.
  package func child() -> ActiveSpan {
    guard let exporter else { return self }
    let isRecorded = state.withLock { state in
      guard state.childrenLeft > 0 else { return false }
      state.childrenLeft -= 1
      return true
    }
    return isRecorded ? ActiveSpan(.internal, under: context, exporter) : ActiveSpan(passing: context)
  }

  /// Names a push that the work has made; of many, only the first 16 by their IDs.
  package func add(_ push: MessageID) {
    guard exporter != nil else { return }
    state.withLock { state in
      state.pushCount += 1
      if state.pushes.count < Self.mostPushes { state.pushes.append(push.text) }
    }
  }

  /// Whether a push was named.
  package var hasPushes: Bool { state.withLock { $0.pushCount > 0 } }

  /// Keys must be unique in a span.
  private var pushAttributes: [SpanAttribute] {
    let (pushes, count) = state.withLock { ($0.pushes, $0.pushCount) }
    return switch count {
    case 0: []
    case 1: [SpanAttribute("borealis.msg_id", pushes[0])]
    default: [SpanAttribute("borealis.msg_ids", pushes), SpanAttribute("borealis.pushes", count)]
    }
  }

  /// Ends the work, once.
  package func end(_ name: String, _ attributes: [SpanAttribute], isError: Bool = false) {
    guard let exporter else { return }
    exporter.add(
      TraceSpan(
        name: name, kind: kind, context: context, parent: parent, began: began,
        ended: exporter.time.monotonic(), attributes: attributes + pushAttributes, links: links,
        isError: isError))
  }

  /// Ends a request to another server; `isRefused` says that a successful answer was a refusal nevertheless.
  package func end(
    _ name: String, _ attributes: [SpanAttribute], _ answer: HTTPAnswer, isRefused: Bool = false
  ) {
    let said: SpanAttribute =
      answer.status > 0
      ? SpanAttribute("http.response.status_code", answer.status)
      : SpanAttribute("error.type", answer.wasSent ? "no_answer" : "not_sent")
    end(name, attributes + [said], isError: isRefused || !answer.isSuccess)
  }
}
