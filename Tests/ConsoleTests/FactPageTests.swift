import BorealisBase
import Core
import PushTesting
import Storage
import Testing

@testable import Console

/// Facts of devices in the console: which ones an app asks for, and what devices report.
@Suite struct FactPageTests {
  @Test func `Facts are off until an admin selects them`() async throws {
    let world = try ConsoleWorld()
    let account = try await world.account("some")
    let app = try await world.app(of: account)
    let admin = try await world.member(.admin, of: account, name: "ada")
    let sender = try await world.member(.sender, of: account, name: "sam")
    let path = "/console/apps/\(app.key.text)/settings/facts"
    let page = await admin.open(path).text
    for fact in DeviceFact.allCases {
      #expect(page.contains("name=\"\(fact.name)\"") && page.contains(HTML.escape(fact.explanation.english)))
    }
    #expect(!page.contains(" checked"))
    _ = await sender.open("/console/")
    #expect(await sender.submit(path, ["model": "1"]).status == 403)
    #expect(app.facts.isEmpty)

    let saved = await admin.submit(path, ["model": "1", "opted_out": "1"]).text
    #expect(saved.contains("Saved.") && saved.split(separator: " checked").count == 3)
    #expect(app.facts == [DeviceFactSet(.model), DeviceFactSet(.optedOut)])
    _ = await admin.submit(path, ["model": "1", "opted_out": "1"])
    let audit = await admin.open("/console/accounts/\(account.rawValue)/audit").text
    #expect(audit.split(separator: "title=\"app.facts\"").count == 2, "what changes nothing is not noted")
    #expect(audit.contains("model, opted_out"))
    _ = await admin.open(path)
    #expect(await !admin.submit(path).text.contains(" checked"))
    #expect(app.facts.isEmpty)
  }

  @Test func `Pages show what devices report`() async throws {
    let world = try ConsoleWorld()
    let account = try await world.account("some")
    let app = try await world.app(of: account)
    let viewer = try await world.member(.viewer, of: account, name: "vera")
    let (base, router) = ("/console/apps/\(app.key.text)", world.router)
    let devices = [try await router.newDevice(in: app), try await router.newDevice(in: app)]
    #expect(await !viewer.open(base).text.contains("Notification permission"))
    #expect(await !viewer.open("\(base)/devices/\(devices[0].id.text)").text.contains("Facts of devices"))

    let wanted: DeviceFactSet = [DeviceFactSet(.model), DeviceFactSet(.notificationPermission)]
    _ = await awaitCallback { router.apps.setFacts(wanted, of: app, noting: .test, done: $0) }
    let reported: [DeviceFact: String] = [.model: "<Pixel>", .notificationPermission: "off", .language: "de"]
    let result = await awaitCallback {
      router.facts.set(reported, of: devices[0].number, in: app, reply: $0)
    }
    #expect((try? result.get()) != nil)
    let page = await viewer.open("\(base)/devices/\(devices[0].id.text)").text
    #expect(page.contains("<dt>Device model</dt><dd>&lt;Pixel&gt;</dd>"))
    #expect(page.contains("<dt>Notification permission</dt><dd>off</dd>") && !page.contains("Language</dt>"))
    let other = await viewer.open("\(base)/devices/\(devices[1].id.text)").text
    #expect(other.contains("<dt>Device model</dt><dd><span class=\"quiet\">not reported</span></dd>"))
    let overview = await viewer.open(base).text
    for (name, count) in [("on", 0), ("off", 1), ("not asked yet", 0), ("unknown", 1)] {
      #expect(overview.contains("<dt>\(name)</dt><dd>\(count)</dd>"), "\(name)")
    }
  }
}
