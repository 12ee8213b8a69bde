import BorealisBase
import Core
import HTTP
import Storage

/// The pushes that are being written: whose they are, and what happens to them when a session ends.
struct DraftDesk: Sendable {
  let router: Router
  let people: People
  /// Drafts of pushes, and forms of people whose session had ended, with separate limits.
  let written = PushDrafts(mostDrafts: 2048, mostBytes: 16 << 20, ownDrafts: 16, ownBytes: 1 << 20)
  let held = PushDrafts(mostDrafts: 256, mostBytes: 2 << 20, ownDrafts: 4, ownBytes: 256 << 10)

  /// The visitor's draft that the address names, nil if there is none.
  func draft(_ id: String, of call: PageCall) async -> PushDrafts.Draft? {
    guard let visitor = call.visitor, let app = call.app else { return nil }
    if let draft = written.draft(id) {
      return draft.owner == .person(visitor.person.id) && draft.app == app.key ? draft : nil
    }
    guard let old = held.draft(id), case .browser(let cookie) = old.owner, old.app == app.key else {
      return nil
    }
    // Only for the person who was logged in with that browser before: somebody else may use it now.
    let signer = await people.browsers()
    guard signer?.name(in: cookie, for: visitor.person.email) != nil else { return nil }
    held.remove(id)
    var draft = PushDrafts.Draft(owner: .person(visitor.person.id), app: app.key, form: old.form)
    draft.isHeld = true
    written.save(draft, id)
    return draft
  }

  /// The address of the form filled in anew: with an earlier push, or with a schedule that is to be changed.
  func open(_ form: PushForm, of visitor: Visitor, in app: App, schedule: String? = nil) -> String {
    var draft = PushDrafts.Draft(owner: .person(visitor.person.id), app: app.key, form: form)
    draft.schedule = schedule
    let id = PushDrafts.newID()
    written.save(draft, id)
    return "/console/apps/\(app.key.text)/push?draft=\(id)"
  }

  /// Keeps what somebody wrote whose session has ended, in a browser that somebody has logged in with; gives
  /// the address where it is found again.
  func hold(_ call: PageCall, for page: Page) async -> String? {
    guard page.pattern == PushPages.confirmPath, call.request.body.count <= 64 << 10,
      call.request.headers["content-type"]?.hasPrefix("application/x-www-form-urlencoded") == true,
      let browser = call.request.headers.cookie(PageCall.browserCookie), browser.utf8.count <= 200,
      let key = call.capture("app").flatMap({ AppKey($0) }), router.apps.loaded(key) != nil,
      call.request.isFromOurPages
    else { return nil }
    // Invented cookies of visitors without a login would take everybody's memory.
    guard await people.browsers()?.isOurs(browser) == true, let call = call.readingForm(of: page) else {
      return nil
    }
    let id = PushDrafts.isID(call.field("draft")) ? call.field("draft") : PushDrafts.newID()
    // A number of its own: the one in the form may name an older draft of the person.
    let number = written.draft(id) == nil ? id : PushDrafts.newID()
    held.save(PushDrafts.Draft(owner: .browser(browser), app: key, form: PushForm(call)), number)
    return "/console/apps/\(key.text)/push?draft=\(number)"
  }
}
