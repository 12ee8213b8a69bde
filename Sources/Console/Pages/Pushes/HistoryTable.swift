import BorealisBase
import Core
import Model
import Storage

/// A list of pushes, the newest first, by day. On a phone each is a card of three lines.
struct HistoryTable: Sendable {
  let call: PageCall
  let app: App
  let counts: [MessageID: PushCounts]
  /// Without those who sent them.
  var isBrief = false

  func html(_ pushes: [PushSummary]) -> HTML {
    let days = call.byDay(pushes) { $0.createdAt }
    let by: HTML = isBrief ? .none : "<th class=\"by\">\(call(Words.sentBy))</th>"
    return """
      <div class="pushes"><table class="history"><thead><tr><th>\(call(Words.content))</th>
      <th class="to">\(call(Words.audience))</th>\(by)<th class="how">\(call(Words.state))</th>
      <th class="number">\(call(Words.delivered))</th><th class="number">\(call(Words.tapped))</th>
      <th class="number at">\(call(Words.time))</th></tr></thead>
      \(days, { day($0.name, $0.entries) })</table></div>
      """
  }

  private func day(_ name: String, _ pushes: [PushSummary]) -> HTML {
    """
    <tbody><tr class="day"><th scope="rowgroup">\(name)</th></tr>
    \(pushes, { row($0) })
    </tbody>
    """
  }

  private func row(_ push: PushSummary) -> HTML {
    let state = push.state(at: call.now, counts[push.id])
    let by: HTML = isBrief ? .none : "<td class=\"by\">\(sender(push))</td>"
    return """
      <tr class="push"><td class="content"><a href="/console/apps/\(app.key.text)/pushes/\(push.id.text)">\(content(push))</a></td>
      <td class="to">\(AudienceText.cell(push, call))</td>\(by)
      <td class="how">\(call.state(state.mark, state.phrase))</td>
      \(delivered(push, counts[push.id]))\(tapped(push, counts[push.id]))
      <td class="number at">\(call.clock(push.createdAt))</td></tr>

      """
  }

  /// The title over the text; one of them alone, or a word for neither.
  private func content(_ push: PushSummary) -> HTML {
    let excerpt = PushExcerpt(push.content)
    let kind = PushNames.kinds(push.traits, call)
    let pill: HTML = kind == call(Words.notification) ? .none : " <span class=\"pill\">\(kind)</span>"
    guard !excerpt.title.isEmpty, !excerpt.text.isEmpty else {
      return "<strong>\(excerpt.line(call))</strong>\(pill)"
    }
    return """
      <strong>\(String(excerpt.title.prefix(80)))</strong>\(pill) <span class="quiet">\(String(excerpt.text.prefix(160)))\(
        if: excerpt.isEncrypted, " · \(call(Words.encrypted))")</span>
      """
  }

  private func sender(_ push: PushSummary) -> HTML {
    let kind = PushNames.sender(push.sender, nil, push.traits, call)
    guard let name = push.senderName else { return "<span>\(kind)</span>" }
    return "<span title=\"\(name)\">\(name)</span> <span class=\"quiet\">\(kind)</span>"
  }

  /// How many have it, and which share of its targets that is; besides, for how many a channel's service only
  /// accepted it.
  private func delivered(_ push: PushSummary, _ counts: PushCounts?) -> HTML {
    let accepted = counts?.onlyAccepted ?? 0
    let accepting = accepted > 0 ? call(Words.acceptedCount.with(Counted.grouped(accepted))) : nil
    guard let counts, counts.delivered > 0 || accepted == 0 else {
      return number(Words.delivered, nil, accepting)
    }
    let share = Self.share(counts.delivered, of: Int(push.targetCount))
    return number(Words.delivered, counts.delivered, accepting ?? share)
  }

  /// How many tapped it, and which share that is of those of whom it is known that they have it.
  private func tapped(_ push: PushSummary, _ counts: PushCounts?) -> HTML {
    number(Words.tapped, counts?.tapped, counts.flatMap { Self.share($0.tapped, of: $0.delivered) })
  }

  /// A share says nothing more of one device.
  private static func share(_ part: Int, of whole: Int) -> String? {
    whole > 1 ? Counted.share(part, of: whole) : nil
  }

  private func number(_ name: Phrase, _ count: Int?, _ note: String?) -> HTML {
    """
    <td class="number" data-label="\(call(name))">\(count.map { Counted.grouped($0) } ?? "–")\(
      note, { " <span class=\"quiet\">\($0)</span>" })</td>
    """
  }
}
