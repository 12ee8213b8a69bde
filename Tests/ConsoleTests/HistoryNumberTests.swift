import API
import BorealisBase
import Core
import HTTP
import Model
import PushTesting
import Storage
import Testing

@testable import Console

/// What lists say of pushes in numbers, and of times.
@Suite struct HistoryNumberTests {
  @Test func `History and its file say how many have a push and tapped it`() async throws {
    let world = try ConsoleWorld(time: SystemTime())
    let owner = try await world.owner()
    let app = try await world.app(of: .standard)
    var numbers: [RegistrationNumber] = []
    for _ in 0..<3 {
      let id = try await world.device(in: app)
      numbers.append(try #require(app.directory.find(id)))
    }
    let request = AcceptRequest(
      try PushRequest.parse(
        try parseJSON(Array(#"{"platform":"all","audience":"all","notification":{"alert":"x"}}"#.utf8))))
    let accepted = await awaitCallback { done in
      world.router.acceptance.accept(request, for: app) { done($0) }
    }
    let push = try accepted.get().id
    await world.acknowledge(push, by: numbers[0], in: app)
    await world.acknowledge(push, by: numbers[1], in: app)
    let path = "/console/apps/\(app.key.text)"
    for page in [await owner.open("\(path)/pushes").text, await owner.open(path).text] {
      #expect(page.contains("data-label=\"Delivered\">2 <span class=\"quiet\">66.7%</span></td>"))
      #expect(page.contains("data-label=\"Tapped\">0 <span class=\"quiet\">0%</span></td>"))
      #expect(page.ranges(of: "<tr class=\"day\">").count == 1 && page.contains(">Today · "))
    }
    // Services accept; on the direct connection a device confirms.
    let result = await owner.open("\(path)/pushes/\(push.text)").text
    let row = result.firstMatch(of: /<th scope="row">Direct connection<\/th>(.*?)<\/tr>/)?.output.1 ?? ""
    #expect(row.contains("data-label=\"Sent\">") && row.contains("data-label=\"Accepted\">–</td>"), "\(row)")
    let file = await owner.call("GET", "\(path)/pushes.csv")
    let lines = String(decoding: file.body.dropFirst(3), as: UTF8.self).split(separator: "\r\n").map {
      $0.split(separator: ",", omittingEmptySubsequences: false)
    }
    try #require(lines.count == 2)
    let line = Dictionary(uniqueKeysWithValues: zip(lines[0].map(String.init), lines[1].map(String.init)))
    #expect(line["Delivered"] == "2" && line["Tapped"] == "0" && line["Targets"] == "3")
    // The same clock as on the pages, with its offset.
    let sent = try #require(line["Sent"])
    let zone = world.router.zone
    let time = try #require(LocalTime(String(sent.prefix(19)).replacing("T", with: " ")))
    #expect(abs(zone.moment(of: time).milliseconds - push.time.milliseconds) < 1000)
    #expect(sent.hasSuffix(ZoneText.name(zone, at: push.time).dropFirst(3)))
  }

  @Test(arguments: [
    (28_800, "1970-01-01T08:00:00+08:00"), (-12_600, "1969-12-31T20:30:00-03:30"),
    (0, "1970-01-01T00:00:00+00:00"),
  ])
  func `A moment has its offset`(seconds: Int64, text: String) {
    let zone = FixedZone(secondsEast: seconds)
    #expect(ZoneText.moment(Timestamp(milliseconds: 0), in: zone) == text)
  }

  @Test func `A title that is cut says so`() async throws {
    let world = try ConsoleWorld()
    let owner = try await world.owner()
    let app = try await world.app(of: .standard)
    _ = try await world.device(in: app)
    _ = await owner.open("/console/")
    for (length, shown) in [
      (80, String(repeating: "x", count: 80)), (81, String(repeating: "x", count: 79) + "…"),
    ] {
      let text = String(repeating: "x", count: length)
      let body = #"{"platform":"all","audience":"all","notification":{"alert":"\#(text)"}}"#
      let request = AcceptRequest(try PushRequest.parse(try parseJSON(Array(body.utf8))))
      let accepted = await awaitCallback { done in
        world.router.acceptance.accept(request, for: app) { done($0) }
      }
      let push = try accepted.get().id
      #expect(
        await owner.open("/console/apps/\(app.key.text)/pushes/\(push.text)").text.contains(
          "<h1>\(shown)</h1>"))
    }
  }
}
