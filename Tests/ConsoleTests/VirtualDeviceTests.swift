import API
import BorealisBase
import Core
import HTTP
import Model
import Storage
import Testing

@testable import Console

@Suite struct VirtualDeviceTests {
  @Test func `Whoever sees the app may open a device, and senders get a form`() async throws {
    let world = try ConsoleWorld()
    let account = try await world.account("some")
    let app = try await world.app(of: account)
    let path = "/console/apps/\(app.key.text)/virtual"
    for (role, hasForm) in [(Role.viewer, false), (.sender, true), (.owner, true)] {
      let browser = try await world.member(role, of: account, name: "\(role)")
      let page = await browser.open(path)
      #expect(page.status == 200 && page.text.contains("data-app-key=\"\(app.key.text)\""))
      #expect(page.text.contains("data-device-send") == hasForm)
      #expect(page.text.contains("data-words=\"{&quot;fresh&quot;:&quot;Not started&quot;"))
      for name in ["borealis.js", "virtual.js"] {
        let address = Assets.path(name)
        #expect(page.text.contains("<script src=\"\(address)\" defer></script>"))
        #expect(
          await browser.call("GET", address).headers["content-type"]?.hasPrefix("text/javascript") == true)
      }
    }
  }

  @Test func `Any site may take the files for its pages, and browsers ask whether they have changed`()
    async throws
  {
    let world = try ConsoleWorld()
    let browser = Browser(world)
    for name in ["borealis.js", "borealis-worker.js"] {
      let file = await browser.call("GET", "/web/\(name)")
      #expect(file.status == 200 && file.body.count > 10_000)
      #expect(file.headers["content-type"]?.hasPrefix("text/javascript") == true)
      #expect(file.headers["access-control-allow-origin"] == "*")
      #expect(file.headers["service-worker-allowed"] == "/")
      let tag = try #require(file.headers["etag"])
      let again = await browser.call("GET", "/web/\(name)", headers: [("if-none-match", tag)])
      #expect(again.status == 304 && again.body.isEmpty && again.headers["etag"] == tag)
    }
    let package = await browser.call("GET", "/sdk/web/borealis-\(WebPackage.version).tgz")
    #expect(package.body == WebPackage.archive && package.headers["content-type"] == "application/gzip")
    let module = await browser.call("GET", "/sdk/web/index.js")
    #expect(module.headers["content-type"]?.hasPrefix("text/javascript") == true)
    #expect(module.headers["access-control-allow-origin"] == "*")
    #expect(await browser.call("GET", "/web/virtual.js").status == 404)
    #expect(!WebConsole.serves("/webhooks"))
  }

  @Test(arguments: [(Platform.android, "android"), (.ios, "ios")])
  func `Its form sends a notification to the one device`(platform: Platform, name: String) async throws {
    let world = try ConsoleWorld()
    let owner = try await world.owner()
    let app = try await world.app(of: .standard)
    let device = try await world.device(in: app, platform: platform)
    let other = try await world.device(in: app, platform: platform)
    let base = "/console/apps/\(app.key.text)"
    _ = await owner.open("\(base)/virtual")
    var fields = [
      "registration_id": device.text, "platform": name, "title": "T<1>", "text": "Hello",
      "cid": PushPages.newCID(app),
    ]
    let sent = await owner.post("\(base)/virtual/push", fields)
    let location = try #require(sent.headers["location"])
    #expect(location.hasPrefix("\(base)/pushes/"))
    let page = await owner.open(location).text
    #expect(page.contains("T&lt;1&gt; · Hello") && page.contains("Console: Zoe"))
    // It is kept as any other push: to be sent again, and as code.
    #expect(page.contains("\(location)/again") && page.contains("/v3/push") && page.contains("urlopen"))
    // Sent twice under one name it goes once.
    #expect(await owner.post("\(base)/virtual/push", fields).headers["location"] == location)
    let waiting = [device, other].map { app.directory.find($0).map { app.directory.pendingCount(for: $0) } }
    #expect(waiting == [1, 0])
    #expect(await owner.open("/console/accounts/1/audit").text.contains("title=\"push.send\""))
    fields["cid"] = PushPages.newCID(app)
    for nobody in ["", "nobody"] {
      fields["registration_id"] = nobody
      #expect(await owner.post("\(base)/virtual/push", fields).status == 422)
    }
  }

  @Test func `Its pushes count as others of the app do`() async throws {
    var limits = GatewayLimits()
    limits.pushCallsPerMinute = 1
    let world = try ConsoleWorld(limits: limits)
    let owner = try await world.owner()
    let app = try await world.app(of: .standard)
    let device = try await world.device(in: app)
    let path = "/console/apps/\(app.key.text)/virtual"
    #expect(await owner.open(path).text.contains("name=\"cid\" value=\"\(app.key.text)-"))
    func send(_ cid: String) async -> Int {
      await owner.post(path + "/push", ["registration_id": device.text, "text": "x", "cid": cid]).status
    }
    #expect(await send("") == 403)
    #expect(await send(PushPages.newCID(app)) == 303)
    #expect(await send(PushPages.newCID(app)) == 429)
  }

  @Test func `Every phrase of the script is in both languages, once`() {
    let names = Words.virtualDeviceScript.map(\.name)
    #expect(Set(names).count == names.count)
    for (name, phrase) in Words.virtualDeviceScript {
      #expect(!phrase.english.isEmpty && !phrase.chinese.isEmpty, "\(name)")
      let blanks = [phrase.english, phrase.chinese].map { $0.ranges(of: "{}").count }
      #expect(blanks[0] == blanks[1], "\(name)")
    }
  }
}
