import BorealisBase
import Core
import HTTP
import Storage

/// What keeps people from pushing to many devices alone: the app's settings for it.
struct BrakePages: Controller {
  let router: Router

  private static let path = "/console/apps/{app}/settings/approval"

  static let routes: [Route<BrakePages>] = [
    Route(.app(.admin), "GET", path) { await $0.show($1) },
    Route(.app(.admin), "POST", path) { await $0.change($1) },
    Route(.app(.admin), "POST", "\(path)/undo") { await $0.changeUndo($1) },
    Route(.app(.admin), "POST", "\(path)/approve", again: .showsPageAbove) { await $0.approve($1) },
    Route(.app(.admin), "POST", "\(path)/reject", again: .showsPageAbove) { await $0.reject($1) },
  ]

  private func address(_ app: App) -> String { "/console/apps/\(app.key.text)/settings/approval" }

  // MARK: The page

  private func show(_ call: PageCall, _ problem: FieldProblem? = nil) async -> HTTPResponse {
    guard let app = call.app else { return call.missing }
    guard case .success(let asked) = await router.apps.askedBrakes(of: app) else { return call.unavailable }
    let content: HTML = """
      \(asked, { looser(call, app, $0.asked, $0.name) })
      \(approval(call, app, problem))
      \(undo(call, app, problem))
      """
    return call.show(
      SettingsPart.approval.layout(call, nil, content), status: problem == nil ? 200 : 422)
  }

  private func approval(_ call: PageCall, _ app: App, _ problem: FieldProblem?) -> HTML {
    let brakes = app.brakes
    let about: HTML = "<p>\(call(Words.approvalText))</p><p>\(call(Words.approvalTighter))</p>"
    return Forms.part(
      call(Words.approvalTitle), about: about,
      """
      <form method="post" action="\(address(app))">\(Forms.token(call))
      \(Forms.field(
        call(Words.approvalAbove), "above", value: call.text("above") ?? String(brakes.approvalAbove),
        hint: call(Words.approvalAboveHint), inputMode: "numeric", problem: problem?.text(at: "above", call)))
      \(Forms.box(
        "servers", call(Words.approvalOfServers), hint: call(Words.approvalOfServersHint),
        isChosen: brakes.includesServers))
      <button>\(call(Words.save))</button></form>
      """)
  }

  private func undo(_ call: PageCall, _ app: App, _ problem: FieldProblem?) -> HTML {
    let most = String(Approvals.longestUndo)
    return Forms.part(
      call(Words.undoTitle), about: "<p>\(call(Words.undoText))</p>",
      """
      <form method="post" action="\(address(app))/undo">\(Forms.token(call))
      \(Forms.field(
        call(Words.undoSeconds), "seconds", value: call.text("seconds") ?? String(app.brakes.undoSeconds),
        hint: call(Words.undoSecondsHint.with(most)), inputMode: "numeric",
        problem: problem?.text(at: "seconds", call)))
      <button class="plain">\(call(Words.save))</button></form>
      """)
  }

  /// The change that waits for a second admin.
  private func looser(_ call: PageCall, _ app: App, _ asked: AskedBrakesRow, _ name: String) -> HTML {
    let isOwn = asked.person == call.visitor?.person.id
    let seen: [(name: String, value: String)] = [
      ("above", String(asked.approvalAbove)), ("servers", asked.includesServers ? "1" : "0"),
      ("person", String(asked.person.rawValue)), ("at", String(asked.at.milliseconds)),
    ]
    let approve: HTML =
      isOwn
      ? .none
      : Forms.sure(
        call, Words.approveChange, "\(address(app))/approve", Words.approveChangeText, sending: seen)
    let reject = Forms.sure(
      call, isOwn ? Words.withdrawChange : Words.rejectChange, "\(address(app))/reject",
      Words.rejectChangeText)
    let who = name.isEmpty ? call(Words.somebody) : name
    return Forms.part(
      call(Words.looserTitle), about: "<p>\(call(Words.approvalAsked))</p>",
      """
      <p>\(call(Words.looserText.with(who, call(Self.phrase(asked)))))
      <span class="quiet">\(call.moment(asked.at))</span></p>
      <p class="row">\(approve)\(reject)</p>
      """)
  }

  private static func phrase(_ asked: AskedBrakesRow) -> Phrase {
    guard asked.approvalAbove > 0 else { return Words.noApproval }
    let count = Counted.grouped(asked.approvalAbove)
    return (asked.includesServers ? Words.aboveDevicesAll : Words.aboveDevices).with(count)
  }

  // MARK: Changes

  /// What the audit log says of it.
  private static func text(above devices: Int, ofServers: Bool) -> String {
    devices == 0 ? "off" : "above \(devices) devices, app servers \(ofServers ? "too" : "exempt")"
  }

  private func change(_ call: PageCall) async -> HTTPResponse {
    guard let app = call.app, let visitor = call.visitor else { return call.missing }
    guard let devices = Int(call.field("above")), (0...BrakesRow.highest).contains(devices) else {
      let most = Counted.grouped(BrakesRow.highest)
      return await show(call, FieldProblem(Words.approvalInvalid.with(most), at: "above"))
    }
    let ofServers = call.text("servers") != nil
    let target = Self.text(above: devices, ofServers: ofServers)
    let result = await router.apps.setApproval(
      above: devices, ofServers: ofServers, of: app, by: visitor.person.id, approvals: router.approvals
    ) { call.entry($0, target, by: visitor, app: app.id) }
    if case .success(.asked) = result { return call.redirect(to: address(app), notice: .approvalAsked) }
    return call.answer(result, at: address(app), .saved)
  }

  private func changeUndo(_ call: PageCall) async -> HTTPResponse {
    guard let app = call.app, let visitor = call.visitor else { return call.missing }
    guard let seconds = Int64(call.field("seconds")), (0...Approvals.longestUndo).contains(seconds) else {
      let most = String(Approvals.longestUndo)
      return await show(call, FieldProblem(Words.undoInvalid.with(most), at: "seconds"))
    }
    let entry = call.entry("app.undo", "\(seconds) s", by: visitor, app: app.id)
    let result = await router.apps.setUndo(seconds, of: app, noting: entry)
    guard case .success = result else { return call.unavailable }
    return call.redirect(to: address(app), notice: .saved)
  }

  private func approve(_ call: PageCall) async -> HTTPResponse {
    guard let app = call.app, let visitor = call.visitor else { return call.missing }
    guard let above = Int(call.field("above")), let person = Int64(call.field("person")),
      let at = Int64(call.field("at"))
    else { return call.redirect(to: address(app), notice: .changedSince) }
    let seen = AskedBrakesRow(
      approvalAbove: above, includesServers: call.field("servers") == "1", person: PersonID(person),
      at: Timestamp(milliseconds: at))
    let target = Self.text(above: above, ofServers: seen.includesServers)
    let entry = call.entry("brakes.approve", target, by: visitor, app: app.id)
    let result = await router.apps.approveBrakes(seen, of: app, by: visitor.person.id, noting: entry)
    return call.answer(result, at: address(app), .saved)
  }

  private func reject(_ call: PageCall) async -> HTTPResponse {
    guard let app = call.app, let visitor = call.visitor else { return call.missing }
    let entry = call.entry("brakes.reject", "", by: visitor, app: app.id)
    let result = await router.apps.rejectBrakes(of: app, by: visitor.person.id, noting: entry)
    return call.answer(result, at: address(app), .saved)
  }
}
