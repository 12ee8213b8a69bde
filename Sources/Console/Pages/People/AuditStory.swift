import BorealisBase
import Core
import Model
import Storage

/// What was done, told in a line each, by day.
struct AuditStory: Sendable {
  let call: PageCall
  /// The apps that the entries are about, deleted ones too.
  let apps: [AppID: AppName]
  /// The apps that have pages.
  var open: Set<AppKey> = []
  /// Whether it is part of a page, under a heading of its own.
  var isPart = false
  /// Whether only some entries were looked for.
  var isFiltered = false

  func html(_ entries: [(id: Int64, entry: AuditRow)]) -> HTML {
    guard !entries.isEmpty else {
      return "<p class=\"quiet\">\(call(isFiltered ? Words.noEntryMatches : Words.nothingDone))</p>"
    }
    let days = call.byDay(entries.map(\.entry)) { $0.at }
    func day(_ name: String, _ entries: [AuditRow]) -> HTML {
      let level = isPart ? 3 : 2
      return """
        <h\(level) class="day">\(name)</h\(level)>
        <ol class="story">\(entries, { item($0) })</ol>

        """
    }
    return "\(days, { day($0.name, $0.entries) })"
  }

  /// Names are chosen freely; what tells people apart is the address.
  private func item(_ entry: AuditRow) -> HTML {
    let person = Person(entry.who)
    return """
      <li>\(call.clock(entry.at)) <p><strong>\(person.name)</strong>
      <span title="\(entry.action)">\(call(AuditWords.phrase(entry.action)))</span>\(target(entry))\(app(entry))</p>
      <span class="quiet">\(addressText(person.address)) \(entry.address)</span></li>

      """
  }

  /// The app, if it still has pages.
  private func place(_ entry: AuditRow) -> String? {
    entry.app.flatMap { apps[$0] }.flatMap { open.contains($0.key) ? "/console/apps/\($0.key.text)" : nil }
  }

  /// What it was done to: a push and a device as a link.
  private func target(_ entry: AuditRow) -> HTML {
    guard !entry.target.isEmpty else { return .none }
    let colon = call(Words.colon)
    guard let place = place(entry), let folder = folder(entry) else { return "\(colon)\(entry.target)" }
    return "\(colon)<a href=\"\(place)/\(folder)/\(entry.target)\">\(entry.target)</a>"
  }

  /// What is done to pushes that have no number yet.
  private static let ofWaiting: Set<String> = [
    "push.approve", "push.ask", "push.expire", "push.reject", "push.submit", "push.undo", "push.withdraw",
  ]

  private func folder(_ entry: AuditRow) -> String? {
    if entry.action.hasPrefix("push."), MessageID(decimal: Array(entry.target.utf8)) != nil {
      return "pushes"
    }
    if Self.ofWaiting.contains(entry.action) { return "waiting" }
    return entry.action == "device.alias" && RegistrationID(entry.target) != nil ? "devices" : nil
  }

  private func app(_ entry: AuditRow) -> HTML {
    guard let app = entry.app.flatMap({ apps[$0] }) else { return .none }
    let name: HTML = place(entry).map { "<a href=\"\($0)\">\(app.name)</a>" } ?? "\(app.name)"
    return " · \(name) \(app.key.mark)"
  }
}

/// Who did something: the name and the email address, as an entry has them.
private struct Person {
  let name, address: String

  init(_ who: String) {
    guard let start = who.lastIndex(of: "<"), who.hasSuffix(">") else {
      (name, address) = (who, "")
      return
    }
    name = who[..<start].withoutOuterWhitespace
    address = String(who[start...].dropFirst().dropLast())
  }
}
