import BorealisBase
import HTTP
import Storage

/// The filter of the audit log, as in the page's address.
struct AuditForm: Sendable, Equatable {
  /// The first and the last day, `YYYY-MM-DD` by the server's clock.
  var from = ""
  var to = ""
  var who = ""
  var action = ""
  /// The key of an app.
  var app = ""
  /// Where the page before ended.
  var before: Int64?

  init(_ target: HTTPTarget) {
    func text(_ name: String) -> String { String((target[name] ?? "").prefix(100)).withoutOuterWhitespace }
    (from, to, who, action, app) = (text("from"), text("to"), text("who"), text("action"), text("app"))
    before = target["before"].flatMap { Int64($0) }
  }

  /// Whether there is any filter.
  var isEmpty: Bool { [from, to, who, action, app].allSatisfy(\.isEmpty) }

  /// What is looked for; an app by one of these rows. Days and apps that do not exist are ignored.
  func filter(_ apps: [AppRow], in zone: any Zone) -> AuditFilter {
    var filter = AuditFilter()
    (filter.from, filter.end) = (zone.start(of: from), zone.start(of: to, after: 1))
    (filter.who, filter.action) = (who, action)
    filter.app = apps.first { $0.key.text == app }?.id
    return filter
  }

  /// The query of an address that asks for the same, from another place on.
  func query(before place: Int64?) -> String {
    AddressText.query([
      ("who", who), ("action", action), ("app", app), ("from", from), ("to", to),
      ("before", place.map { String($0) } ?? ""),
    ])
  }
}
