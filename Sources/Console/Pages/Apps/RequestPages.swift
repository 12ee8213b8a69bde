import BorealisBase
import Core
import HTTP
import Model
import Storage

/// The log of requests of an app's servers.
struct RequestPages: Controller {
  let router: Router

  static let routes: [Route<RequestPages>] = [
    Route(.app(.admin), "GET", "/console/apps/{app}/settings/requests") { await $0.showRequests($1) }
  ]

  /// Rows on a page.
  private static let listed = 50

  private func showRequests(_ call: PageCall) async -> HTTPResponse {
    guard let app = call.app else { return call.missing }
    let form = RequestForm(call.target)
    let before = form.before ?? .newest
    let result = await router.requestLog.list(of: app, form.filter, before: before, limit: Self.listed)
    let keys = await awaitCallback { router.apps.keys(of: app, found: $0) }
    guard case .success(let list) = result, case .success(let keys) = keys else { return call.unavailable }
    return call.show(
      SettingsPart.requests.layout(
        call, nil,
        """
        <p class="lead quiet">\(call(about))</p>
        \(filters(call, app, form, keys))
        <section class="card">\(rows(call, list.rows, form, keys))\(rest(call, app, form, list.next))</section>
        """))
  }

  private var about: Phrase {
    switch router.requestLog.extent {
    case .all: Words.requestsText
    case .refused: Words.requestsRefusedText
    case .off: Words.requestsOffText
    }
  }

  // MARK: The filter

  private func filters(_ call: PageCall, _ app: App, _ form: RequestForm, _ keys: [APIKeyRow]) -> HTML {
    let path = "/console/apps/\(app.key.text)/settings/requests"
    let any = (value: "", text: call(Words.anything))
    let results = [any] + RequestForm.results.map { (value: $0.value, text: call($0.phrase)) }
    let credentials =
      [any, (value: "0", text: call(Words.masterSecret))]
      + keys.reversed().map { (value: String($0.id), text: name(call, $0)) }
    let reset: HTML =
      form.isEmpty ? .none : "<a class=\"button plain\" href=\"\(path)\">\(call(Words.resetFilter))</a>"
    return """
      <form class="card filters" method="get" action="\(path)">
      <div>\(Forms.choice(call(Words.requestResult), "result", results, chosen: form.result))</div>
      <div>\(Forms.field(call(Words.requestCode), "code", value: form.code, isRequired: false, inputMode: "numeric"))</div>
      <div>\(Forms.field(call(Words.requestAddress), "address", value: form.address, isRequired: false))</div>
      <div>\(Forms.choice(call(Words.requestKey), "key", credentials, chosen: form.key))</div>
      <div class="wide row"><button>\(call(Words.search))</button>\(reset)</div>
      </form>
      """
  }

  private func name(_ call: PageCall, _ key: APIKeyRow) -> String {
    key.revokedAt == nil ? key.grant.name : call(Words.revokedKey.with(key.grant.name))
  }

  // MARK: The list

  private func rows(
    _ call: PageCall, _ rows: [APIRequestRow], _ form: RequestForm, _ keys: [APIKeyRow]
  ) -> HTML {
    guard !rows.isEmpty else {
      let text = form.isEmpty ? Words.noRequests : Words.noRequestMatches
      return "<p class=\"quiet\">\(call(text))</p>"
    }
    let names = Dictionary(uniqueKeysWithValues: keys.map { ($0.id, name(call, $0)) })
    let days = call.byDay(rows) { $0.firstAt }
    func day(_ name: String, _ rows: [APIRequestRow]) -> HTML {
      """
      <tbody><tr class="day"><th scope="rowgroup" colspan="6">\(name)</th></tr>
      \(rows, { row(call, $0, names) })
      </tbody>
      """
    }
    return """
      <table class="requests"><thead><tr><th>\(call(Words.time))</th><th>\(call(Words.requestCall))</th>
      <th>\(call(Words.answer))</th><th>\(call(Words.requestAddress))</th><th>\(call(Words.requestKey))</th>
      <th class="number">\(call(Words.requestCount))</th></tr></thead>
      \(days, { day($0.name, $0.entries) })</table>
      """
  }

  private func row(_ call: PageCall, _ row: APIRequestRow, _ names: [Int64: String]) -> HTML {
    let made = row.call
    let mark: StateMark =
      switch made.kind {
      case _ where made.status >= 500: .failed
      case .successful: .done
      case .refused: .warn
      case .unauthenticated: .over
      }
    let code = made.code == 0 ? "" : " · \(made.code)"
    let path: HTML =
      made.route == "-"
      ? "\(made.method) \(call(Words.unknownPath))" : "<code>\(made.method) \(made.route)</code>"
    let until: HTML = row.lastAt.seconds == row.firstAt.seconds ? .none : " – \(clock(call, row.lastAt))"
    let key: HTML =
      switch made.kind {
      case .unauthenticated: "<span class=\"quiet\">\(call(Words.requestUnauthenticated))</span>"
      default: "\(made.key.map { names[$0] ?? "#\($0)" } ?? call(Words.masterSecret))"
      }
    let address: HTML =
      made.address.map { "<code>\($0.text)</code>" }
      ?? "<span class=\"quiet\">\(call(Words.severalAddresses))</span>"
    return """
      <tr><td class="when">\(clock(call, row.firstAt))\(until)</td><td>\(path)</td>
      <td>\(mark.html("\(made.status)\(code)"))\(if: !made.message.isEmpty, " <code class=\"quiet\">\(made.message)</code>")</td>
      <td>\(address)</td><td>\(key)</td>
      <td class="number" data-label="\(call(Words.requestCount))">\(Counted.grouped(row.count))</td></tr>

      """
  }

  /// The time of day with seconds, by which a call is found in another server's log.
  private func clock(_ call: PageCall, _ time: Timestamp) -> HTML {
    "<time datetime=\"\(Log.iso8601(time.milliseconds))\">\(String(call.zone.local(time).text.dropFirst(11)))</time>"
  }

  private func rest(_ call: PageCall, _ app: App, _ form: RequestForm, _ next: APIRequestPlace?) -> HTML {
    let path = "/console/apps/\(app.key.text)/settings/requests"
    return call.paging(
      newest: form.before == nil ? nil : path + form.query(before: nil),
      older: next.map { path + form.query(before: $0) })
  }
}

/// The filter of the log of requests, as in the page's address.
struct RequestForm: Sendable, Equatable {
  var result = ""
  var code = ""
  var address = ""
  var key = ""
  /// Where the page before ended.
  var before: APIRequestPlace?

  init(_ target: HTTPTarget) {
    func text(_ name: String) -> String { String((target[name] ?? "").prefix(60)).withoutOuterWhitespace }
    (result, code, address, key) = (text("result"), text("code"), text("address"), text("key"))
    before = target["before"].flatMap { APIRequestPlace($0) }
  }

  static let results: [(value: String, phrase: Phrase)] = [
    ("successful", Words.requestSuccessful), ("refused", Words.requestRefused),
    ("unauthenticated", Words.requestUnauthenticated), ("failed", Words.requestFailed),
  ]

  /// Whether there is any filter.
  var isEmpty: Bool { [result, code, address, key].allSatisfy(\.isEmpty) && before == nil }

  /// What is looked for. What is not a number matches nothing.
  var filter: APIRequestFilter {
    var filter = APIRequestFilter()
    switch result {
    case "successful": filter.kinds = [.successful]
    case "refused": (filter.kinds, filter.statuses) = ([.refused, .unauthenticated], 0...499)
    case "unauthenticated": filter.kinds = [.unauthenticated]
    case "failed": filter.statuses = 500...999
    default: break
    }
    if !code.isEmpty { filter.code = Int(code).flatMap { $0 >= 0 ? $0 : nil } ?? .max }
    if !key.isEmpty {
      filter.key = Int64(key).flatMap { $0 >= 0 ? $0 : nil } ?? .max
      // Unauthenticated calls have no key either.
      filter.kinds.remove(.unauthenticated)
    }
    filter.address = address
    return filter
  }

  /// The query of an address that asks for the same, from another place on.
  func query(before place: APIRequestPlace?) -> String {
    AddressText.query([
      ("result", result), ("code", code), ("address", address), ("key", key), ("before", place?.text ?? ""),
    ])
  }
}
