import BorealisBase
import Core
import Model
import Storage

/// The first targets of a push, undelivered ones first, each with a link to the reason.
struct TargetsTable: Sendable {
  /// Rows on a page; the file has them all.
  static let most = 50

  private struct Target: Sendable {
    let number: RegistrationNumber
    let state: Phrase
    let mark: StateMark
    var reason = ""
  }

  let call: PageCall
  let push: FoundPush
  private let targets: [Target]
  private let count: Int

  init(_ call: PageCall, _ push: FoundPush, _ report: PushReport) {
    (self.call, self.push, count) = (call, push, report.targets.all.count)
    let sets = report.targets
    let failed = sets.failed.sorted { $0.key < $1.key }.map {
      (targets: $0.value, state: Words.stateFailed, mark: StateMark.failed, reason: $0.key)
    }
    let groups =
      failed + [
        (sets.pending, Words.statePending, .open, ""), (sets.expired, Words.stateExpired, .over, ""),
        (sets.recalled, Words.stateRecalled, .over, ""),
        (sets.onlyAccepted, Words.stateAccepted, .accepted, ""),
        (sets.received, Words.stateDelivered, .done, ""),
      ]
    var found: [Target] = []
    for group in groups where found.count < Self.most {
      found += group.targets.members(limit: Self.most - found.count).map {
        Target(number: $0, state: group.state, mark: group.mark, reason: group.reason)
      }
    }
    targets = found
  }

  var numbers: [RegistrationNumber] { targets.map(\.number) }

  /// The table; `aliases` are those of its targets that have one.
  func html(_ aliases: [RegistrationNumber: String]) -> HTML {
    let heads = [Words.deviceName, Words.alias, Words.platform, Words.connection, Words.state]
    let note = Words.firstTargets.with(Counted.grouped(targets.count), Counted.grouped(count))
    return """
      <h2>\(call(Words.whoStandsWhere))</h2>
      <table class="targets"><thead><tr>\(heads, { "<th>\(call($0))</th>" })<th><span class="visually-hidden">\(call(Words.whyShort))</span></th></tr></thead>
      <tbody>\(targets, { row($0, aliases[$0.number]) })</tbody></table>
      \(if: count > targets.count, "<p class=\"hint\">\(call(note))</p>")
      """
  }

  private func row(_ target: Target, _ alias: String?) -> HTML {
    let reason: HTML = target.reason.isEmpty ? .none : "<code>\(target.reason)</code>"
    let state: HTML = """
      <td>\(call.state(target.mark, target.state)) \(reason)</td>
      """
    guard let identity = push.app.directory.identity(target.number) else {
      return
        "<tr><td class=\"quiet\">\(call(Words.replaced))</td><td></td><td></td><td></td>\(state)<td></td></tr>\n"
    }
    let id = identity.id.text
    let isOnline = push.app.directory.presence(target.number)?.isOnline == true
    return """
      <tr><td><a href="/console/apps/\(push.app.key.text)/devices/\(id)"><code>\(id)</code></a></td>
      <td>\(alias ?? "")</td><td>\(call(identity.platform.phrase))</td>
      <td>\(call(isOnline ? Words.online : Words.offline))</td>\(state)
      <td><a href="\(push.path)/why?registration_id=\(id)">\(call(Words.whyShort))</a></td></tr>

      """
  }
}

extension ResultPages {
  /// The trace of a push, and its first targets.
  func traceParts(
    _ call: PageCall, _ push: FoundPush, _ report: PushReport
  ) async -> (trace: HTML, targets: HTML) {
    let trace = Trace(
      call: call, push: push, report: report, channels: router.channels)
    let table = TargetsTable(call, push, report)
    let result = await router.registrations.aliases(of: table.numbers, in: push.app)
    return (trace.html, table.html((try? result.get()) ?? [:]))
  }

  /// From how many a push would be recalled now.
  func recallText(_ call: PageCall, _ report: PushReport) -> String {
    let delivered = Counted.grouped(report.targets.delivered.count)
    let waiting = Counted.devices(report.targets.pending.count)
    let text = report.targets.onlyAccepted.isEmpty ? Words.recallFrom : Words.recallFromAccepted
    return call(text.with(each: waiting, Phrase(verbatim: delivered)))
  }

  /// Asks as `Forms.sure` does; it says from how many the push is recalled, and the script keeps that true.
  func recallForm(_ call: PageCall, _ push: FoundPush, _ report: PushReport) -> HTML {
    """
    <details class="sure" data-while-open><summary class="danger">\(call(Words.recall))</summary>
    <form method="post" action="\(push.path)/recall">\(Forms.token(call))
    <p data-recall-text>\(recallText(call, report))</p>
    <button class="danger">\(call(Words.recall))</button></form></details>
    """
  }
}
