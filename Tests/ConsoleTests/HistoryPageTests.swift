import API
import BorealisBase
import Core
import HTTP
import Model
import PushTesting
import Storage
import Testing

@testable import Console

@Suite struct HistoryPageTests {
  private static let clock = ManualClock()

  /// Accepts a push as the API does.
  @discardableResult
  private static func push(
    _ world: ConsoleWorld, _ app: App, _ text: String, audience: String = "\"all\"",
    part: String = "notification", _ change: (inout AcceptRequest) -> Void = { _ in }
  ) async throws -> MessageID {
    let content =
      part == "message" ? "{\"msg_content\":\"\(text)\"}" : "{\"android\":{\"alert\":\"\(text)\"}}"
    let body = Array(
      "{\"platform\":\"all\",\"cid\":\"x\",\"audience\":\(audience),\"\(part)\":\(content)}".utf8)
    var request = AcceptRequest(try PushRequest.parse(try parseJSON(body)))
    request.push.cid = nil
    request.object = body
    change(&request)
    let asked = request
    let result = await awaitCallback { done in
      world.router.acceptance.accept(asked, for: app) { done($0) }
    }
    return try result.get().id
  }

  private static func world() async throws -> (ConsoleWorld, App, Browser, RegistrationID) {
    let world = try ConsoleWorld()
    let browser = try await world.owner()
    let app = try await world.app(of: .standard)
    return (world, app, browser, try await world.device(in: app))
  }

  /// Registers a device that is always the same one: the registration before is replaced.
  private static func register(_ world: ConsoleWorld, _ app: App) async throws -> RegistrationID {
    let result = await awaitCallback { done in
      world.router.registrations.register(
        in: app, platform: .android, fingerprint: [1, 2, 3], tokens: [], appVersion: ""
      ) { done($0) }
    }
    return try result.get().id
  }

  // MARK: The list

  @Test func `Filters find what they name`() async throws {
    let (world, app, browser, device) = try await Self.world()
    let ids = [
      "all": try await Self.push(world, app, "Aurora tonight"),
      "one": try await Self.push(
        world, app, "Only \\\"you\\\"", audience: "{\"registration_id\":[\"\(device.text)\"]}",
        part: "message"),
      "batch": try await Self.push(world, app, "Batch") { $0.isBatch = true },
      "person": try await Self.push(world, app, "By hand") { $0.sender = .person(PersonID(1)) },
    ]
    let base = "/console/apps/\(app.key.text)/pushes"
    for (query, wanted) in [
      ("", ["all", "one", "batch", "person"]), ("?q=aurora", ["all"]), ("?q=%22YOU%22", ["one"]),
      ("?q=alert", []), ("?kind=message", ["one"]), ("?audience=registration", ["one"]),
      ("?audience=everybody&kind=notification", ["all", "batch", "person"]), ("?sender=batch", ["batch"]),
      ("?sender=console", ["person"]), ("?sender=api", ["all", "one"]), ("?sender=schedule", []),
      ("?state=open", ["all", "one", "batch", "person"]), ("?state=recalled", []),
      ("?from=2020-01-01&to=2999-12-31", ["all", "one", "batch", "person"]), ("?from=2999-01-01", []),
      ("?to=2020-01-01", []), ("?from=nonsense", ["all", "one", "batch", "person"]),
    ] as [(String, [String])] {
      let page = await browser.open(base + query)
      #expect(page.status == 200, "\(query)")
      let found = ids.filter { page.text.contains("/pushes/\($0.value.text)\"") }.keys.sorted()
      #expect(found == wanted.sorted(), "\(query)")
    }
    let sender = "<span title=\"Zoe\">Zoe</span> <span class=\"quiet\">Console</span>"
    #expect(await browser.open("\(base)?sender=console").text.contains(sender))
    let id = try #require(ids["all"])
    let direct = await browser.call("GET", "\(base)?q=\(id.text)")
    #expect(direct.headers["location"] == "\(base)/\(id.text)")
    #expect(await browser.open("\(base)?q=999999999999").text.contains("No push matches."))
  }

  /// One of two targets has it, and the time is over for the other: neither delivered nor expired says that.
  @Test func `A push to several that is over is called complete`() async throws {
    let (world, app, browser, device) = try await Self.world()
    _ = try await world.device(in: app)
    let number = try #require(app.directory.find(device))
    let several = try await Self.push(world, app, "To both")
    let one = try await Self.push(
      world, app, "To one", audience: "{\"registration_id\":[\"\(device.text)\"]}")
    let back = try await Self.push(world, app, "Recalled")
    await awaitCallback { done in
      world.router.deliveries.recall(back, in: app) { _ in done(()) }
    }
    world.router.deliveries.acknowledge([several, one], by: number, in: app)
    // The other one's time is over.
    _ = try await world.store.change { transaction throws(StorageError) in
      try transaction.deliveries.settle([Settlement(id: several, status: .expired, at: Self.clock.now())])
    }
    world.router.tick()
    _ = try await world.store.change { _ throws(StorageError) in 0 }
    let base = "/console/apps/\(app.key.text)/pushes"
    for (state, wanted) in [
      ("delivered", [one]), ("expired", []), ("failed", []), ("complete", [several]), ("recalled", [back]),
      ("open", []), ("", [several, one, back]),
    ] as [(String, [MessageID])] {
      let page = await browser.open("\(base)?state=\(state)").text
      for id in [several, one, back] {
        #expect(page.contains("/pushes/\(id.text)\"") == wanted.contains(id), "\(state)")
      }
    }
    let file = String(decoding: await browser.call("GET", base + ".csv").body, as: UTF8.self)
    let states = file.split(separator: "\r\n" as Character).dropFirst().map { line in
      String(line.split(separator: ",", omittingEmptySubsequences: false).dropFirst(7).first ?? "")
    }
    #expect(states == ["recalled", "delivered", "complete"])
  }

  @Test func `A target that was replaced keeps its name in the file`() async throws {
    let (world, app, browser, _) = try await Self.world()
    let old = try await Self.register(world, app)
    let id = try await Self.push(world, app, "Before")
    _ = try await Self.register(world, app)
    let file = await browser.call("GET", "/console/apps/\(app.key.text)/pushes/\(id.text)/targets.csv")
    let text = String(decoding: file.body, as: UTF8.self)
    #expect(text.contains("\(old.text),android,"))
  }

  @Test func `Pages follow each other without a gap, in the file too`() async throws {
    let (world, app, browser, _) = try await Self.world()
    var ids: [String] = []
    for number in 0..<300 { ids.append(try await Self.push(world, app, "Push \(number)").text) }
    let base = "/console/apps/\(app.key.text)/pushes"
    var (seen, next): ([String], String?) = ([], base + "?kind=notification")
    while let address = next {
      let text = await browser.open(address).text
      seen += text.split(separator: "\(base)/").dropFirst().map { String($0.prefix { $0 != "\"" }) }
      next = text.firstRange(of: "\" rel=\"next\"").flatMap { end in
        let before = text[..<end.lowerBound]
        return before.lastIndex(of: "\"").map {
          base + before[before.index(after: $0)...].replacing("&amp;", with: "&")
        }
      }
      try await Self.push(world, app, "Meanwhile")
    }
    #expect(seen == ids.reversed())
    let file = await browser.call("GET", base + ".csv?q=push")
    let lines = String(decoding: file.body, as: UTF8.self).split(separator: "\r\n" as Character)
    #expect(lines.count == 301 && lines[1].hasPrefix("\(ids[299]),"))
    #expect(file.headers["content-type"]?.hasPrefix("text/csv") == true)
    #expect(file.headers["content-disposition"]?.hasSuffix(".csv\"") == true)
  }

  /// Whoever opens the file at a browser does not see the answer's fields.
  @Test func `A file that is cut says where the rest is`() async throws {
    let (world, app, browser, _) = try await Self.world()
    let count = HistoryPages.exportRows + 1
    let now = Self.clock.now()
    _ = try await world.store.change { transaction throws(StorageError) in
      for number in 1...count {
        try transaction.pushes.insert(
          PushRow(
            id: MessageID(UInt64(number)), app: app.id, createdAt: now, expiresAt: now, sendno: 0,
            platforms: .all, target: RegistrationNumber(0), targets: nil, targetCount: 1, content: []))
      }
    }
    let path = "/console/apps/\(app.key.text)/pushes"
    let most = Counted.grouped(HistoryPages.exportRows)
    #expect(await browser.open(path).text.contains("at most \(most) lines"))
    func lines(_ file: HTTPResponse) -> [Substring] {
      String(decoding: file.body, as: UTF8.self).split(separator: "\r\n" as Character)
    }
    let first = lines(await browser.call("GET", path + ".csv"))
    #expect(first.count == count + 1)
    let last = String(try #require(first.last))
    #expect(last.hasPrefix("Truncated here. The rest: http://console.example\(path).csv?before="))
    let rest = try #require(last.firstRange(of: "/console/"))
    let file = await browser.call("GET", String(last[rest.lowerBound...]))
    #expect(lines(file).count == 2 && file.headers["link"] == nil)
    #expect(file.headers["content-disposition"]?.contains("pushes-\(app.key.text)-2.csv") == true)
  }

  @Test func `A long list of targets has its parts on the page`() {
    let targets = NumberSet((0..<25).map { RegistrationNumber($0 * 3) })
    typealias PartLink = TargetList.PartLink
    #expect(
      TargetList.parts(of: targets, limit: 10) == [
        PartLink(first: 11, last: 20, after: RegistrationNumber(27)),
        PartLink(first: 21, last: 25, after: RegistrationNumber(57)),
      ])
    #expect(TargetList.parts(of: targets, limit: 25).isEmpty)
  }

  // MARK: One push

  @Test func `A push's page adds up, and its targets can be taken away as a file`() async throws {
    let (world, app, browser, device) = try await Self.world()
    let other = try await world.device(in: app)
    let id = try await Self.push(world, app, "=1+1")
    let number = try #require(app.directory.find(device))
    let path = "/console/apps/\(app.key.text)/pushes/\(id.text)"
    let open = await browser.open(path).text
    #expect(open.contains("App server") && open.contains("data-while-open") && open.contains("\(path)/again"))
    #expect(open.contains("Pending <strong>2</strong>") && open.contains("= 2 targets"))
    #expect(open.contains("action=\"\(path)/why\"") && open.contains("name=\"registration_id\""))
    await world.acknowledge(id, by: number, in: app)
    let text = await browser.open(path).text
    #expect(text.contains("Delivered <strong>1</strong>") && text.contains("Pending <strong>1</strong>"))
    let file = await browser.call("GET", path + "/targets.csv")
    let lines = String(decoding: file.body, as: UTF8.self).split(separator: "\r\n" as Character).dropFirst()
    #expect(
      Set(lines) == [
        "\(device.text),android,delivered,,Direct connection,,",
        "\(other.text),android,Pending,,Direct connection,,",
      ])
    #expect(file.headers["link"] == nil)
    let back = await browser.submit(path + "/recall")
    #expect(back.text.contains("Recalled") || back.text.contains("recalled <strong>1</strong>"))
    #expect(!back.text.contains("data-while-open"))
    let list = await browser.call("GET", "/console/apps/\(app.key.text)/pushes.csv")
    #expect(String(decoding: list.body, as: UTF8.self).contains(",'=1+1\r\n"))
  }

  /// Connections of a node that does not answer.
  private final class SilentNode: DeviceGateway {
    func send(_ message: HomeMessage, to loop: UInt16) {}
    func sendToAll(_ message: HomeMessage) {}
    func confirmRecall(_ id: MessageID, of app: AppID, done: @escaping @Sendable (Int) -> Void) { done(1) }
  }

  @Test(arguments: [false, true])
  func `A recall that a node has not confirmed says so`(isSilent: Bool) async throws {
    let (world, app, browser, _) = try await Self.world()
    if isSilent { world.router.add(SilentNode()) }
    let id = try await Self.push(world, app, "back")
    let page = await browser.submit("/console/apps/\(app.key.text)/pushes/\(id.text)/recall")
    #expect(page.status == 200)
    #expect(page.text.contains("has not confirmed it yet") == isSilent)
  }

  @Test func `A push's page names fields of the request that have no effect`() async throws {
    let (world, app, browser, _) = try await Self.world()
    let object =
      #"{"platform":"all","audience":"all","notification":{"alert":"x"},"options":{"mkt_enable":true}}"#
    let id = try await Self.push(world, app, "x") { $0.object = Array(object.utf8) }
    let page = await browser.open("/console/apps/\(app.key.text)/pushes/\(id.text)")
    #expect(page.text.contains("Ignored fields of the request:") && page.text.contains("options.mkt_enable"))
  }

  @Test func `Sending again makes another push of the same object`() async throws {
    let (world, app, browser, device) = try await Self.world()
    let audience = "{\"registration_id\":[\"\(device.text)\"]}"
    let id = try await Self.push(world, app, "Once more", audience: audience)
    let base = "/console/apps/\(app.key.text)"
    let page = await browser.open("\(base)/pushes/\(id.text)/again")
    #expect(page.status == 200 && page.text.contains("Target devices: 1"))
    func hidden(_ name: String) throws -> String {
      let start = try #require(page.text.firstRange(of: "name=\"\(name)\" value=\""))
      return String(page.text[start.upperBound...].prefix { $0 != "\"" }).replacing("&quot;", with: "\"")
    }
    let fields = ["body": try hidden("body"), "cid": try hidden("cid")]
    #expect(fields["body"]?.contains("\"cid\"") == false && fields["body"]?.contains("Once more") == true)
    let location = try #require(await browser.post("\(base)/push", fields).headers["location"])
    #expect(location != "\(base)/pushes/\(id.text)")
    let sent = await browser.open(location).text
    #expect(sent.contains("Once more") && sent.contains("Console: Zoe"))
    let number = try #require(app.directory.find(device))
    #expect(app.directory.pendingCount(for: number) == 2)
    // To nobody it is not sent, and the page says so.
    let old = try await Self.register(world, app)
    let gone = try await Self.push(
      world, app, "Gone", audience: "{\"registration_id\":[\"\(old.text)\"]}")
    _ = try await Self.register(world, app)
    let refused = await browser.open("\(base)/pushes/\(gone.text)/again")
    #expect(refused.status == 422 && refused.text.contains("cannot be sent again right now"))
    let viewer = try await world.member(.viewer, of: .standard, name: "vic")
    #expect(await viewer.open("\(base)/pushes/\(id.text)/again").status == 403)
    #expect(await !viewer.open("\(base)/pushes/\(id.text)").text.contains("/again"))
  }

  // MARK: Charts

  @Test func `Charts show what was counted`() async throws {
    let (world, app, browser, _) = try await Self.world()
    let hour = world.router.zone.local(Self.clock.now()).count / 3600
    _ = try await world.store.change { transaction throws(StorageError) in
      for past in 0..<50 as Range<Int64> {
        var row = StatisticsRow()
        (row.pushes, row.acknowledged, row.accepted[.apns], row.online) = (2, 30, 10, 500 + Int(past))
        row.latencies = [UInt32](repeating: 0, count: LatencySteps.count)
        row.latencies[10] = 5
        try transaction.statistics.add(app: app.id, hour: hour - past, row)
        try transaction.statistics.add(app: AppID(99), hour: hour - past, row)
      }
    }
    let path = "/console/apps/\(app.key.text)/charts"
    for (range, pushes, deliveries, periods, online) in [
      ("", 48, 960, 24, 523), ("?range=7d", 100, 2000, 168, 549), ("?range=30d", 100, 2000, 30, 549),
      ("?range=90d", 100, 2000, 90, 549),
    ] {
      let text = await browser.open(path + range).text
      #expect(text.contains("Pushes created. Total: \(pushes)."), "\(range)")
      let total = "Total: \(Counted.grouped(deliveries))."
      #expect(text.contains("accepted by APNs") && text.contains(total), "\(range)")
      #expect(text.contains("Highest: \(online)."), "\(range)")
      #expect(text.contains("p50 45 ms, p99 45 ms."), "\(range)")
      #expect(text.contains("UTC+08:00"), "\(range)")
      // The day before was counted, the weeks before were not.
      #expect(text.ranges(of: "class=\"line before\"").count == (range.isEmpty ? 3 : 0), "\(range)")
      #expect(text.split(separator: "class=\"slot\"").count - 1 == 4 * periods, "\(range)")
    }
    let empty = try await world.app(of: .standard)
    #expect(await browser.open("/console/apps/\(empty.key.text)/charts").text.contains("p50 no data"))
  }
}
