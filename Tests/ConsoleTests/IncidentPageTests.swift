import BorealisBase
import Core
import Model
import PushTesting
import Storage
import Testing

@testable import Console

/// The list of incidents, and who gets mail about them.
@Suite struct IncidentPageTests {
  @Test func `Incidents are listed with begin, end and the pushes meanwhile`() async throws {
    let world = try ConsoleWorld()
    let app = try await world.app(of: .standard)
    let viewer = try await world.member(.viewer, of: .standard, name: "vic")
    let path = "/console/apps/\(app.key.text)/incidents"
    #expect(await viewer.open(path).text.contains("There were no incidents."))
    let now = world.console.people.time.now()
    try await world.store.change { transaction throws(StorageError) in
      for minute in 0..<51 {
        let begin = now.adding(seconds: Int64(minute - 100) * 60)
        try transaction.incidents.begin(
          TroubleIdentity(.stopped, of: .apns), Phrase("stopped <\(minute)>", "停止 <\(minute)>"), of: app.id,
          at: begin)
        guard minute < 50 else { continue }
        let id = try transaction.incidents.list(app: app.id, before: .max, limit: 1).first?.id ?? 0
        try transaction.incidents.setEnd(begin.adding(seconds: 30), of: id)
        try transaction.incidents.settle(id)
      }
    }
    let page = await viewer.open(path).text
    #expect(page.contains("stopped &lt;50&gt;") && page.contains("not over yet"))
    #expect(page.contains("stopped &lt;1&gt;") && !page.contains("stopped &lt;0&gt;"))
    let older = try #require(page.firstMatch(of: /href="([^"]*before=\d+)"/)?.1)
    let last = await viewer.open(String(older)).text
    #expect(last.contains("stopped &lt;0&gt;") && !last.contains("not over yet"))
    #expect(await viewer.open("/console/apps/\(app.key.text)").text.contains("href=\"\(path)\""))
  }

  @Test func `Mail about incidents is chosen where mail is sent`() async throws {
    let unmailed = try await ConsoleWorld().owner().open("/console/me").text
    #expect(!unmailed.contains("incident_mail"))
    let world = try ConsoleWorld(sendsMail: true)
    let owner = try await world.owner()
    func isOn() async -> Bool {
      await owner.open("/console/me").text.contains(#"aria-describedby="incident_mail-hint" checked"#)
    }
    #expect(!(await isOn()))
    _ = await owner.submit("/console/me/profile", ["name": "Zoe", "language": "en", "incident_mail": "1"])
    #expect(await isOn())
    _ = await owner.submit("/console/me/profile", ["name": "Zoe", "language": "en"])
    #expect(!(await isOn()))
  }
}
