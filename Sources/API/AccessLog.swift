import BorealisBase
import Core
import HTTP
import Storage

/// Logs each answered request: as a line, and in the log of requests of its app. The line is a warning if the
/// server failed, else at level debug, also if it could not take the request for a while, which the log tells
/// once. Never a body, a query or a header other than the request's ID.
package struct AccessLog: Sendable {
  let log: Log
  let time: any TimeSource
  let requests: RequestLog?
  /// The span of the request; nil if it belongs to no trace.
  var trace: ActiveSpan?
  /// When the request arrived, on the monotonic clock.
  let start: UInt64

  /// Starts with a request that arrived now.
  package init(_ log: Log, _ time: any TimeSource, _ requests: RequestLog? = nil) {
    (self.log, self.time, self.requests) = (log, time, requests)
    start = time.monotonic()
  }

  /// Logs an answer; `path` is the pattern of its route. The span of a call is recorded only with `mayCall`,
  /// if its caller may make it: others could leave no place for spans that somebody wants.
  package func answered(
    _ method: String, _ path: String, _ status: Int, _ requestID: String, _ app: App?, mayCall: Bool = false
  ) {
    func values() -> KeyValuePairs<String, LogValue> {
      [
        "id": .text(requestID), "method": .text(method), "path": .text(path),
        "status": .number(Int64(status)), "app": .text(app?.key.text ?? "-"),
        "us": .number(Int64(clamping: (time.monotonic() &- start) / 1000)),
      ]
    }
    if status >= 500, status != 503 {
      log.warning("request failed", values(), trace: trace?.traceID)
    } else {
      log.debug("request", values(), trace: trace?.traceID)
    }
    guard mayCall, let trace else { return }
    var attributes = [
      SpanAttribute("http.request.method", method), SpanAttribute("http.route", path),
      SpanAttribute("http.response.status_code", status), SpanAttribute("borealis.request_id", requestID),
    ]
    if let app { attributes.append(SpanAttribute("borealis.app_key", app.key.text)) }
    trace.end("\(method) \(path)", attributes, isError: status >= 500)
  }

  /// Notes an answer to an app's server in the log of the app's requests.
  func note(_ caller: NotedCaller, _ method: String, _ path: String, _ status: Int, _ fault: AnswerFault?) {
    guard let requests, let app = caller.app else { return }
    let isRefused = status >= 400 || fault != nil
    let kind: APIRequestKind = isRefused ? caller.isKnown ? .refused : .unauthenticated : .successful
    guard requests.logs(kind) else { return }
    let call = APICall(
      kind: kind, method: Self.methods.contains(method) ? method : "-", route: path, status: status,
      code: fault?.code ?? 0, message: fault?.text ?? "", address: caller.address, key: caller.key?.id)
    requests.note(call, of: app)
  }

  /// Others are not kept: anybody could fill the log with them.
  private static let methods: Set<String> = ["GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"]
}

/// Who made a call, as the log of requests has it.
struct NotedCaller {
  /// The app that it names; nil for none, whose calls are not in the log.
  let app: App?
  /// Whether it came with a valid secret of the app.
  var isKnown = true
  /// The API key that it came with, if one.
  var key: APIKey?
  let address: IPAddress?
}

/// The error of an answer, as the log of requests has it.
struct AnswerFault: Equatable {
  /// Bytes of a message that are kept.
  private static let mostBytes = 200

  let code: Int
  /// The message without values of the request, which may name a device or a person.
  let text: String

  /// The error of a request with a target, whose values are left out as well; `pattern` is that of its route.
  init(code: Int, message: String, target: HTTPTarget? = nil, pattern: String = "-") {
    self.code = code
    // Of an unknown path every part may be a name.
    guard pattern != "-" else {
      text = String(message.prefix { $0 != ":" })
      return
    }
    let known = Set(pattern.split(separator: "/").map(String.init))
    let values = (target?.path ?? []).filter { !known.contains($0) } + (target?.query ?? []).map(\.value)
    text = Self.cut(Self.withoutQuotations(message), values: Set(values))
  }

  /// Leaves out what is in quotation marks.
  private static func withoutQuotations(_ message: String) -> String {
    (["'", "\""] as [Character]).reduce(message) { text, mark in
      guard let start = text.indices.first(where: { begins(mark, at: $0, in: text) }),
        let end = text.indices.last(where: { ends(mark, at: $0, in: text) }), start < end
      else { return text }
      return text[...start] + "…" + text[end...]
    }
  }

  /// Whether a quotation ends.
  private static func ends(_ mark: Character, at index: String.Index, in text: String) -> Bool {
    let next = text.index(after: index)
    return text[index] == mark && (next == text.endIndex || !text[next].isLetter)
  }

  /// Whether a quotation begins: a mark within a word is an apostrophe.
  private static func begins(_ mark: Character, at index: String.Index, in text: String) -> Bool {
    text[index] == mark && (index == text.startIndex || !text[text.index(before: index)].isLetter)
  }

  /// Leaves out words with values of the request or with IDs of devices, and what is too long.
  private static func cut(_ message: String, values: Set<String>) -> String {
    let words = message.split(separator: " ", omittingEmptySubsequences: false).map { word in
      hasID(word) || values.contains { $0.utf8.count > 2 && word.contains($0) } ? "…" : word
    }
    var text = words.joined(separator: " ")
    if text.utf8.count > mostBytes {
      while text.utf8.count > mostBytes - 3 { text.unicodeScalars.removeLast() }
      text += "…"
    }
    return text
  }

  /// Whether a word may hold an ID of a device or a push token: 16 hexadecimal digits in a row.
  private static func hasID(_ word: Substring) -> Bool {
    var run = 0
    for byte in word.utf8 {
      switch byte {
      case 48...57, 65...70, 97...102: run += 1
      default: run = 0
      }
      if run >= 16 { return true }
    }
    return false
  }
}
