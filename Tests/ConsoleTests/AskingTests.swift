import BorealisBase
import BorealisCrypto
import Core
import HTTP
import Model
import PushTesting
import Storage
import Testing

@testable import Console

/// What removes, revokes or resets something asks first. Every page that a test of the console opens is
/// checked (`SentForm.check`); here are all pages, so that each form is among them.
@Suite struct AskingTests {
  /// Addresses that no form of these pages has: those of scripts and of older versions, and the check of a
  /// credential that can be checked, which tests of credentials see.
  private static let withoutForm: Set<String> = [
    "/console/apps/{app}/push/audience", "/console/apps/{app}/segments/count",
    "/console/apps/{app}/settings/credentials/{channel}/{id}/check",
    "/console/apps/{app}/settings/{channel}/{form}",
    "/console/apps/{app}/settings/{channel}/{id}/remove", "/console/apps/{app}/settings/{channel}/{id}/pause",
    "/console/apps/{app}/settings/{channel}/{id}/resume", "/console/apps/{app}/settings/{channel}/{id}/check",
  ]

  /// The routes of the forms on all pages that a person can open.
  private func routes(_ browser: Browser, _ estate: Estate) async -> (all: Set<String>, asking: Set<String>) {
    var (all, asking): (Set<String>, Set<String>) = ([], [])
    _ = await browser.open("/console/")
    var pages = [("/console/me/totp/new", await browser.submit("/console/me/totp/new").text)]
    for page in ConsoleRegistry.pages where page.method == "GET" && page.access != .open {
      let path = estate.path(of: page)
      pages.append((path, await browser.open(path).text))
    }
    for (path, text) in pages {
      for form in SentForm.all(in: text) {
        guard let route = estate.world.console.route("POST", form.action.isEmpty ? path : form.action) else {
          Issue.record("\(path) has a form to \(form.action), which is not a page")
          continue
        }
        all.insert(route)
        if form.isAskedFor { asking.insert(route) }
      }
    }
    return (all, asking)
  }

  /// Gives the app two secrets, Getui's API, callbacks with two secrets and encryption; pauses its credential
  /// and turns TOTP on.
  private func setUp(_ estate: Estate, _ boss: Browser) async throws {
    let settings = "/console/apps/\(estate.app.key.text)/settings"
    _ = await boss.open("/console/me")
    for path in ["rotate", "getui", "callbacks/secret"] {
      if path == "callbacks/secret" {
        _ = await boss.submit("\(settings)/callbacks", ["url": "https://a.example/", "type-1": "1"])
      }
      #expect(await boss.submit("\(settings)/\(path)").status == 200, "\(path)")
    }
    let owned = ["name": "Other", "email": "olga@example.com", "plan": PlanRow.unlimited]
    #expect(await boss.submit("/console/operator/accounts", owned).status == 200)
    #expect(
      await boss.submit("\(settings)/credentials/apns/\(estate.credential.rawValue)/pause").status == 200)
    // An A/B test that runs.
    for _ in 0..<2 { _ = try await estate.world.device(in: estate.app) }
    let object = #"{"platform":"all","audience":{"abtest":["\#(estate.abTest)"]}}"#
    let push = try PushRequest.parse(
      try parseJSON(Array(object.utf8)), rules: estate.app.pushRules(PushRules()))
    let router = estate.world.router
    _ = try await awaitCallback {
      router.acceptance.accept(AcceptRequest(push), for: estate.app, reply: $0)
    }.get()
    // The push has a canary that waits.
    let id = try #require(MessageID(decimal: Array(estate.push.utf8)))
    try await estate.world.store.change { transaction throws(StorageError) in
      try transaction.canaries.insert(
        CanaryRow(
          id, app: estate.app.id, Canary(), rest: CanaryRow.Rest(body: [], members: [], count: 1),
          sender: .api,
          at: ManualClock().now()))
    }
    let (person, device, app) = (estate.person, estate.device, estate.app)
    _ = try await estate.world.router.newDevice(
      in: app, platform: .ios, environment: .sandbox, token: [UInt8](repeating: 1, count: 32))
    #expect(await boss.submit("\(settings)/seal", ["seal": "on"]).status == 200)
    try await estate.world.store.change { transaction throws(StorageError) in
      try transaction.people.setTOTP(of: person, sealed: [1], step: 0)
    }
    let number = try #require(app.directory.find(device))
    let alias = await awaitCallback {
      estate.world.router.registrations.change(
        DeviceChange(alias: .set("ann")), of: number, in: app, reply: $0)
    }
    _ = try alias.get()
  }

  @Test(arguments: [false, true]) func `Every form that takes something away asks first`(sendsMail: Bool)
    async throws
  {
    let keys = try SealingKeys(text: SealingKeys.makeLine())
    let world = try ConsoleWorld(sendsMail: sendsMail, secretKeys: SecretKeySource { _ in .success(keys) })
    let boss = try await world.owner()
    let tenant = try await Estate.make(world, "tenant")
    let estate = try await Estate(world, account: .standard, owner: boss, email: "zoe@example.com")
    // A second session, which the first can end.
    let login = ["email": "zoe@example.com", "password": ConsoleWorld.password]
    _ = await Browser(world).submit("/console/login", login)
    var (all, asking) = await routes(boss, estate)
    try await setUp(estate, boss)
    #expect(
      await boss.submit("/console/operator/accounts/\(tenant.account.rawValue)/off").status == 200)
    let later = await routes(boss, estate)
    all.formUnion(later.all)
    asking.formUnion(later.asking)
    for page in ConsoleRegistry.pages where page.method == "POST" && page.access != .open {
      let isMail = page.pattern.hasSuffix("/mail")
      guard !Self.withoutForm.contains(page.pattern), sendsMail || !isMail else { continue }
      #expect(all.contains(page.pattern), "no page with the form of \(page.pattern) was seen")
    }
    // The forms whose kind this is about are really seen asking.
    for route in [
      "/console/operator/people/{id}/end", "/console/me/sessions/{session}/end",
      "/console/me/sessions/end-others",
      "/console/accounts/{account}/invitations/{id}/withdraw",
      "/console/apps/{app}/pushes/{msg_id}/recall", "/console/apps/{app}/settings/seal",
    ] { #expect(asking.contains(route), "\(route)") }
  }
}
