import API
import BorealisBase
import Core
import HTTP
import Model
import PushTesting
import Storage
import Testing

@testable import Console

/// Pushes that wait for a second person or can be undone, and the settings for both.
@Suite(.timeLimit(.minutes(2))) struct ApprovalPageTests {
  /// An app with three devices, pushes to more than two of which need approval, with two senders and two
  /// admins.
  private struct Scene {
    let world: ConsoleWorld
    let owner, admin, sam, sue: Browser
    let app: App
    let devices: [RegistrationID]
    var base: String { "/console/apps/\(app.key.text)" }

    init(above: Int = 2, undo: Int64 = 0, includesServers: Bool = false) async throws {
      world = try ConsoleWorld(time: SystemTime())
      owner = try await world.owner()
      app = try await world.app(of: .standard)
      var devices: [RegistrationID] = []
      for _ in 0..<3 { devices.append(try await world.device(in: app)) }
      self.devices = devices
      admin = try await world.member(.admin, of: .standard, name: "ada")
      sam = try await world.member(.sender, of: .standard, name: "sam")
      sue = try await world.member(.sender, of: .standard, name: "sue")
      for browser in [owner, admin, sam, sue] { _ = await browser.open("/console/") }
      let app = app
      let row = try await world.store.change { transaction throws(StorageError) in
        _ = try transaction.apps.setBrakes(
          app: app.id,
          BrakesRow(approvalAbove: above, includesServers: includesServers, undoSeconds: undo))
        return try transaction.apps.find(key: app.key)
      }
      if let row { world.router.apps.learn([row]) }
    }

    /// Fills the form in and answers the question; returns the page after it.
    func send(
      by browser: Browser, _ more: [String: String] = [:]
    ) async -> (status: Int, text: String, question: String) {
      let fields = ["kind": "notification", "android": "1", "audience": "everybody", "text": "Half price"]
      let question = await browser.submit("\(base)/push/confirm", fields.merging(more) { $1 })
      guard question.status == 200 else { return (question.status, question.text, question.text) }
      let end = await browser.submit("\(base)/push", Self.hidden(in: question.text))
      return (end.status, end.text, question.text)
    }

    /// The fields that a form brings along.
    static func hidden(in page: String) -> [String: String] {
      var fields: [String: String] = [:]
      for match in page.matches(of: /<input type="hidden" name="([a-z]+)" value="([^"]*)">/) {
        fields[String(match.1)] = String(match.2).replacing("&quot;", with: "\"").replacing(
          "&amp;", with: "&")
      }
      return fields
    }

    /// The address of what waits, from its page.
    static func address(in page: String) -> String? {
      page.firstMatch(of: /action="(\/console\/apps\/[0-9a-f]+\/waiting\/[0-9a-f-]+)\/stop"/).map {
        String($0.1)
      }
    }

    var deliveries: [Int] {
      devices.map { id in
        app.directory.find(id).map {
          app.directory.pending(
            for: $0, after: MessageID(0), at: UInt32(clamping: SystemTime().now().seconds), limit: 100
          ).ids.count
        } ?? -1
      }
    }

    /// Fires what is due, and waits until it has.
    func fire() async throws {
      for _ in 0..<200 where deliveries.contains(0) {
        world.console.gateway.tick()
        try await Task.sleep(for: .milliseconds(20))
      }
    }

    /// Lets some ticks pass, each with all that it asks of the database.
    func wait() async throws {
      for _ in 0..<10 {
        world.console.gateway.tick()
        for _ in 0..<3 { try await world.settle() }
      }
    }

    func log() async -> String {
      await owner.open("/console/accounts/\(AccountID.standard.rawValue)/audit").text
    }
  }

  // MARK: Approval

  @Test func `A large push waits, and goes when another person approves it`() async throws {
    let scene = try await Scene()
    let sent = await scene.send(by: scene.sam)
    #expect(sent.question.contains("A push to more than 2 devices waits until another person approves it."))
    #expect(sent.question.contains(">Ask for approval</button>"))
    #expect(sent.status == 200 && sent.text.contains("another person has to approve it"))
    let path = try #require(Scene.address(in: sent.text))
    try await scene.wait()
    #expect(scene.deliveries == [0, 0, 0])

    // The sender sees no button to approve, and a form that was made up is refused.
    #expect(!sent.text.contains("\(path)/approve"))
    let mark = Scene.hidden(in: await scene.sue.open(path).text)["seen"] ?? ""
    let own = await scene.sam.submit("\(path)/approve", ["seen": mark])
    #expect(own.text.contains("Another person has to approve what you asked for."))
    try await scene.wait()
    #expect(scene.deliveries == [0, 0, 0])

    let list = await scene.sue.open("\(scene.base)/waiting")
    #expect(list.text.contains(path) && list.text.contains("sam") && list.text.contains(">3</td>"))
    let page = await scene.sue.open(path)
    #expect(page.text.contains("Half price") && page.text.contains("<dd>Everyone</dd>"))
    let changed = await scene.sue.submit("\(path)/approve", ["seen": "other"])
    #expect(changed.text.contains("It was changed after you opened the page."))
    let approved = await scene.sue.submit("\(path)/approve", ["seen": mark])
    #expect(approved.status == 200 && approved.text.contains("Approved by sue."))
    try await scene.fire()
    #expect(scene.deliveries == [1, 1, 1])
    // From now on its address leads to the push.
    #expect(await scene.sam.open(path).text.contains("msg_id <code>"))
    #expect(await scene.owner.submit("\(path)/approve", ["seen": mark]).text.contains("Too late"))
    try await scene.wait()
    #expect(scene.deliveries == [1, 1, 1])
    #expect(await scene.sue.open("\(scene.base)/waiting").text.contains("Nothing waits for approval."))
    let log = await scene.log()
    for words in ["asked for the approval of a push", "approved a push", "sent a push"] {
      #expect(log.contains(words), "\(words)")
    }
  }

  @Test func `A rejected push, and one that is withdrawn, reach nobody`() async throws {
    let scene = try await Scene()
    for (browser, words) in [(scene.sue, "Rejected by sue."), (scene.sam, "Stopped by sam.")] {
      let path = try #require(Scene.address(in: await scene.send(by: scene.sam).text))
      let stopped = await browser.submit("\(path)/stop")
      #expect(stopped.status == 200 && stopped.text.contains(words))
      #expect(stopped.text.contains("\(path)/edit\""))
      let edit = await scene.sam.open("\(path)/edit")
      #expect(edit.status == 200 && edit.text.contains(">Half price</textarea>"))
      #expect(await scene.sue.submit("\(path)/approve", ["seen": "x"]).text.contains("Too late"))
    }
    try await scene.wait()
    #expect(scene.deliveries == [0, 0, 0])
  }

  @Test func `A small push goes at once, and the form twice sends once`() async throws {
    let scene = try await Scene()
    let few = [
      "audience": "registration", "names": scene.devices.prefix(2).map(\.text).joined(separator: ","),
    ]
    let sent = await scene.send(by: scene.sam, few)
    #expect(sent.text.contains("msg_id <code>") && scene.deliveries == [1, 1, 0])
    #expect(!sent.question.contains("Ask for approval"))
    let question = await scene.sam.submit(
      "\(scene.base)/push/confirm",
      ["kind": "notification", "android": "1", "audience": "everybody", "text": "x"])
    let fields = Scene.hidden(in: question.text)
    for _ in 0..<2 { _ = await scene.sam.submit("\(scene.base)/push", fields) }
    let waiting = try await awaitCallback {
      scene.world.router.approvals.list(of: scene.app, reply: $0)
    }.get()
    #expect(waiting.count == 1)
  }

  @Test func `A scheduled push to many waits, and cannot be turned on`() async throws {
    let scene = try await Scene()
    let time = scene.world.router.zone.local(SystemTime().now().adding(seconds: 86_400)).text
    let at = String(time.replacing(" ", with: "T").dropLast(3))
    let sent = await scene.send(by: scene.sam, ["when": "once", "at": at])
    let path = try #require(Scene.address(in: sent.text))
    let id = try #require(path.split(separator: "/").last)
    let planned = await scene.sam.open("\(scene.base)/planned")
    #expect(planned.text.contains(">Waiting for approval</span>"))
    let page = await scene.sam.open("\(scene.base)/planned/\(id)")
    #expect(page.text.contains("href=\"\(path)\"") && !page.text.contains("/enabled\""))
    _ = await scene.sam.submit("\(scene.base)/planned/\(id)/enabled", ["enabled": "on"])
    let row = try await awaitCallback {
      scene.world.router.schedules.find(String(id), in: scene.app, reply: $0)
    }.get()
    #expect(!row.isEnabled && row.approval.state == .waiting)
    let mark = Scene.hidden(in: await scene.sue.open(path).text)["seen"] ?? ""
    #expect(await scene.sue.submit("\(path)/approve", ["seen": mark]).text.contains("Approved by sue."))
    #expect(await scene.sam.open("\(scene.base)/planned").text.contains(">active<"))
  }

  @Test func `Other forms of the console do not get around it`() async throws {
    let scene = try await Scene(above: 2)
    let first = await scene.send(
      by: scene.sam, ["audience": "registration", "names": scene.devices[0].text])
    let id = try #require(first.text.firstMatch(of: /msg_id <code>([0-9]+)</)?.1)
    // A form that was made up, for everybody.
    let body = #"{"platform":"all","audience":"all","notification":{"alert":"x"}}"#
    let made = await scene.sam.submit(
      "\(scene.base)/push", ["body": body, "cid": "\(scene.app.key.text)-made"])
    #expect(Scene.address(in: made.text) != nil)
    let again = await scene.sam.open("\(scene.base)/pushes/\(id)/again")
    #expect(again.status == 200)
    try await scene.wait()
    #expect(scene.deliveries == [1, 0, 0])
  }

  // MARK: Undo

  @Test func `A push can be undone, and then reaches nobody`() async throws {
    let scene = try await Scene(above: 0, undo: 60)
    let sent = await scene.send(by: scene.sam)
    #expect(sent.question.contains("you can undo it for 60 seconds"))
    let path = try #require(Scene.address(in: sent.text))
    #expect(sent.text.contains(">Undo</button>") && sent.text.contains("by itself"))
    let response = await scene.sam.call("GET", path)
    let refresh = try #require(response.headers["refresh"].flatMap { Int($0) })
    #expect((55...63).contains(refresh))
    let undone = await scene.sam.submit("\(path)/stop", ["undo": "on"])
    #expect(undone.text.contains("Stopped by sam.") && undone.text.contains("Edit and send"))
    try await scene.wait()
    #expect(scene.deliveries == [0, 0, 0])
    #expect(await scene.log().contains("undid a push before it went"))
  }

  @Test func `A push that nobody undoes goes by itself`() async throws {
    let scene = try await Scene(above: 0, undo: 1)
    let path = try #require(Scene.address(in: await scene.send(by: scene.sam).text))
    try await scene.fire()
    #expect(scene.deliveries == [1, 1, 1])
    #expect(await scene.sam.open(path).text.contains("msg_id <code>"))
    #expect(await scene.sam.submit("\(path)/stop", ["undo": "on"]).text.contains("Too late"))
  }

  @Test func `What is wrong with a push shows before it waits`() async throws {
    let scene = try await Scene(above: 0, undo: 10)
    let body = #"{"platform":"all","audience":{"alias":["nobody"]},"notification":{"alert":"x"}}"#
    let sent = await scene.sam.submit(
      "\(scene.base)/push", ["body": body, "cid": "\(scene.app.key.text)-a"])
    #expect(sent.status == 422)
  }

  // MARK: Settings

  @Test func `Settings become tighter at once and looser with a second admin`() async throws {
    let scene = try await Scene(above: 0)
    let path = "\(scene.base)/settings/approval"
    for text in ["", "-1", "x", "1000000001"] {
      #expect(await scene.admin.submit(path, ["above": text]).status == 422, "\(text)")
    }
    for text in ["", "-1", "61"] {
      #expect(await scene.admin.submit("\(path)/undo", ["seconds": text]).status == 422, "\(text)")
    }
    #expect(await scene.admin.submit("\(path)/undo", ["seconds": "10"]).text.contains("value=\"10\""))
    #expect(await scene.admin.submit(path, ["above": "2", "servers": "1"]).text.contains("Saved"))
    #expect(scene.app.brakes == BrakesRow(approvalAbove: 2, includesServers: true, undoSeconds: 10))
    #expect(await scene.sam.open("\(scene.base)/push").text.contains("\(scene.base)/waiting\""))

    let asked = await scene.admin.submit(path, ["above": "0"])
    #expect(asked.text.contains("Another admin has to approve this change."))
    #expect(!asked.text.contains("\(path)/approve") && asked.text.contains("Withdraw change"))
    var fields = Scene.hidden(in: await scene.owner.open(path).text)
    // The number of a form is of one session.
    fields["once"] = nil
    #expect(await scene.admin.submit("\(path)/approve", fields).text.contains("Another person"))
    #expect(scene.app.brakes.approvalAbove == 2)
    #expect(await scene.sam.post("\(path)/approve", fields).status == 403)
    #expect(await scene.owner.submit("\(path)/approve", fields).text.contains("Saved"))
    #expect(scene.app.brakes.approvalAbove == 0)
    let log = await scene.log()
    for words in [
      "changed when a push needs approval", "asked for looser rules for large pushes",
      "approved looser rules for large pushes", "changed the time to undo a push",
    ] { #expect(log.contains(words), "\(words)") }
  }

  @Test func `A looser setting that is rejected changes nothing`() async throws {
    let scene = try await Scene(above: 2)
    let path = "\(scene.base)/settings/approval"
    _ = await scene.admin.submit(path, ["above": "5"])
    let page = await scene.owner.submit("\(path)/reject")
    #expect(page.text.contains("Saved") && !page.text.contains("\(path)/approve"))
    #expect(scene.app.brakes.approvalAbove == 2)
  }
}
