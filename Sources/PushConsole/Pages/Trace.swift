import PushBase
import PushRouter

/// What became of a push, for people.
enum Trace {
  static func isOpen(_ report: PushReport) -> Bool { !report.targets.pending.isEmpty }

  static func html(_ call: PageCall, _ report: PushReport) -> HTML {
    let state: HTML =
      isOpen(report)
      ? "<span class=\"state open\">\(call(Words.stateOpen))</span>"
      : "<span class=\"state over\">\(call(Words.complete))</span>"
    return """
      <div class="row"><h2>\(call(Words.result))</h2>\(state)</div>
      \(funnel(call, report))
      \(ways(call, report))
      \(ends(call, report))
      \(failures(call, report))
      """
  }

  // MARK: The funnel

  private static func funnel(_ call: PageCall, _ report: PushReport) -> HTML {
    let targets = report.targets
    let own = report.ownIOS.union(report.ownOthers)
    let steps: [(Phrase, Int)] = [
      (Words.targets, targets.all.count), (Words.handedOver, own.union(report.apple).sent.count),
      (Words.delivered, targets.delivered.count), (Words.shown, targets.shown.count),
      (Words.tapped, targets.tapped.count),
    ]
    return """
      <ol class="funnel">\(steps, { bar(call($0.0), $0.1, of: targets.all.count) })</ol>
      """
  }

  private static func bar(_ name: String, _ count: Int, of total: Int) -> HTML {
    """
    <li><span>\(name)</span><progress max="\(max(total, 1))" value="\(count)">\(count)</progress>\
    <strong>\(count)</strong><span class="quiet">\(percent(count, of: total))</span></li>

    """
  }

  private static func percent(_ count: Int, of total: Int) -> String {
    guard total > 0 else { return "" }
    // A share that is not quite nothing or everything does not read as if it were.
    let share = Int((Double(count) * 100 / Double(total)).rounded())
    if count > 0, share == 0 { return "<1 %" }
    if count < total, share == 100 { return ">99 %" }
    return "\(share) %"
  }

  // MARK: By channel

  private static func ways(_ call: PageCall, _ report: PushReport) -> HTML {
    let (own, apple) = (report.ownIOS.union(report.ownOthers), report.apple)
    let rows: [(Phrase, PushFunnel, Int)] = [
      (Words.byOwn, own, report.targets.acknowledged.count), (Words.byApple, apple, apple.sent.count),
    ].filter { !$0.1.isEmpty }
    guard !rows.isEmpty else { return .none }
    let heads = [Words.meantFor, Words.handedOver, Words.delivered, Words.shown, Words.tapped]
    let note: HTML = apple.isEmpty ? .none : "<p class=\"hint\">\(call(Words.appleNote))</p>"
    return """
      <table class="numbers"><thead><tr><th>\(call(Words.way))</th>\(heads, { "<th class=\"number\">\(call($0))</th>" })</tr></thead>
      <tbody>\(rows, { way(call, call($0.0), $0.1, delivered: $0.2) })</tbody></table>\(note)
      """
  }

  private static func way(
    _ call: PageCall, _ name: String, _ funnel: PushFunnel, delivered: Int
  ) -> HTML {
    let heads = [Words.meantFor, Words.handedOver, Words.delivered, Words.shown, Words.tapped]
    let counts = [
      funnel.target.count, funnel.sent.count, delivered, funnel.shown.count, funnel.tapped.count,
    ]
    return """
      <tr><th scope="row">\(name)</th>\
      \(zip(heads, counts), { "<td class=\"number\" data-label=\"\(call($0.0))\">\($0.1)</td>" })</tr>

      """
  }

  // MARK: Where each target stands

  /// Each target is in one of these: their sum is the number of targets.
  private static func ends(_ call: PageCall, _ report: PushReport) -> HTML {
    let targets = report.targets
    let parts: [(name: Phrase, mark: String, count: Int)] = [
      (Words.delivered, "done", targets.delivered.count), (Words.pending, "open", targets.pending.count),
      (Words.stateExpired, "over", targets.expired.count),
      (Words.stateRecalled, "back", targets.recalled.count), (Words.failed, "failed", targets.failedCount),
    ]
    let total = targets.all.count
    var offset = 0
    let pieces = parts.map { part -> HTML in
      defer { offset += part.count }
      return "<rect class=\"\(part.mark)\" x=\"\(offset)\" y=\"0\" width=\"\(part.count)\" height=\"1\"/>"
    }
    return """
      <h3>\(call(Words.eachTarget))</h3>
      <svg class="share" viewBox="0 0 \(max(total, 1)) 1" preserveAspectRatio="none" aria-hidden="true">\(pieces, { $0 })</svg>
      <p class="sum">\(parts, { sum(call($0.name), $0.mark, $0.count) })<span>= <strong>\(total)</strong> \(call(Words.targets))</span></p>
      """
  }

  private static func sum(_ name: String, _ mark: String, _ count: Int) -> HTML {
    "<span class=\"key \(mark)\">\(name) <strong>\(count)</strong></span> "
  }

  private static func failures(_ call: PageCall, _ report: PushReport) -> HTML {
    let reasons = report.targets.failed.mapValues(\.count).sorted { ($1.value, $0.key) < ($0.value, $1.key) }
    guard !reasons.isEmpty else { return .none }
    return """
      <h3>\(call(Words.failedBecause))</h3>
      <ul class="plain reasons">\(reasons, { reason(call, $0.key, $0.value) })</ul>
      """
  }

  private static func reason(_ call: PageCall, _ reason: String, _ count: Int) -> HTML {
    let text: HTML = FailureWords.phrase(reason).map { "<span>\(call($0))</span>" } ?? .none
    return "<li><strong>\(count)</strong> <code>\(reason)</code> \(text)</li>"
  }
}

/// Why a push did not reach a device, in short.
enum FailureWords {
  private static let phrases: [String: Phrase] = [
    "QueueFull": Words.lossQueueFull, "Replaced": Words.lossReplaced, "NoChannel": Words.lossNoChannel,
    "Unknown": Words.lossUnknown, "NoToken": Words.lossNoToken, "NoCredential": Words.lossNoCredential,
    "BadDeviceToken": Words.lossBadToken, "Unregistered": Words.lossUnregistered,
    "ExpiredToken": Words.lossUnregistered, "DeviceTokenNotForTopic": Words.lossOtherTopic,
    "PayloadTooLarge": Words.lossTooLarge,
  ]

  static func phrase(_ reason: String) -> Phrase? { phrases[reason] }
}
