import BorealisBase
import Testing

@testable import Model

/// What an A/B test may be, and the pushes that name one.
@Suite struct ABTestDesignTests {
  private static let two = #""contents":[{"alert":"a"},{"title":"T","alert":"b"}]"#
  private static let rest = #""share":20,"after":3600,"audience":"all""#

  private static func parse(_ members: String) throws(APIError) -> ABTestDesign {
    guard let object = (try? parseJSON(Array("{\(members)}".utf8)))?.object else { throw .internalError }
    return try ABTestDesign.parse(object, rules: PushRules())
  }

  private static func fault(_ members: String) -> String {
    do throws(APIError) {
      _ = try parse(members)
      return "valid"
    } catch {
      return "\(error.code) \(error.message)"
    }
  }

  @Test func `A test is read, written and read again`() throws {
    for more in ["", #","confidence":99"#] {
      let text = "\(Self.two),\(Self.rest)\(more)"
      let design = try Self.parse(text)
      #expect(design.contents.count == 2 && design.share == 20 && design.seconds == 3600)
      #expect(design.confidence == (more.isEmpty ? nil : 99) && design.audience == .all)
      #expect(ABTestDesign(recorded: design.stored) == design)
    }
    let named = try Self.parse(#"\#(Self.two),"share":1,"after":60,"audience":{"segment":["7"],"tag":["x"]}"#)
    #expect(named.segment == 7 && ABTestDesign(recorded: named.stored) == named)
    #expect(ABTestDesign(recorded: Array("[]".utf8)) == nil)
    #expect(
      try Self.parse(#""contents":[{"alert":"{{a"},{"alert":"b"}],\#(Self.rest)"#).texts[0].alert == "{a")
  }

  private static let faults = [
    (#""contents":[{"alert":"a"}],\#(rest)"#, "1003 contents must be an array of 2 to 4 contents"),
    (
      #""contents":[{"alert":"a"},{"alert":"b"},{"alert":"c"},{"alert":"d"},{"alert":"e"}],\#(rest)"#,
      "1003 contents must be"
    ),
    (rest, "1002 Missing parameter: contents"),
    (#""contents":[{"alert":"a"},{"title":"b"}],\#(rest)"#, "1002 contents[1]: Missing parameter: alert"),
    (#""contents":[{"alert":"a"},{"alert":"a"}],\#(rest)"#, "1003 contents[1] says the same as contents[0]"),
    (#""contents":[{"alert":"a"},{"alert":"{x}"}],\#(rest)"#, "1003 contents[1] has the variable 'x'"),
    (#""contents":[{"alert":"a"},7],\#(rest)"#, "1003 contents[1] must be a JSON object"),
    (#"\#(two),"share":101,"after":60,"audience":"all""#, "1003 share must be between 1 and 100"),
    (#"\#(two),"share":0,"after":60,"audience":"all""#, "1002 Missing parameter: share"),
    (#"\#(two),"share":9,"after":59,"audience":"all""#, "1003 after must be between 60 and 604800"),
    (#"\#(two),"share":9,"after":604801,"audience":"all""#, "1003 after must be between"),
    (#"\#(two),"share":9,"audience":"all""#, "1002 Missing parameter: after"),
    (#"\#(two),\#(rest),"confidence":50"#, "1003 confidence must be one of 90, 95, 99"),
    (#"\#(two),"share":9,"after":60"#, "1002 Missing parameter: audience"),
    (#"\#(two),"share":9,"after":60,"audience":{"abtest":["1"]}"#, "1003 audience names an A/B test"),
    (#"\#(two),"share":9,"after":60,"audience":{"live_activity_id":"l"}"#, "1003 audience names an A/B test"),
    (#"\#(two),"share":9,"after":60,"audience":{"file":{"file_id":"f"}}"#, "1003 audience.file"),
    (#"\#(two),\#(rest),"winner":1"#, "1009 winner is not supported"),
  ]

  @Test(arguments: Self.faults)
  func `What is wrong is named`(_ members: String, _ fault: String) {
    #expect(Self.fault(members).hasPrefix(fault), "\(Self.fault(members))")
  }

  // MARK: Pushes

  private static func push(_ members: String, audience: String = #"{"abtest":["5"]}"#) throws(APIError)
    -> PushRequest
  {
    var rules = PushRules()
    let design = try parse("\(two),\(rest)")
    rules.abTest = { $0 == 5 ? design : nil }
    guard let json = try? parseJSON(Array(#"{"platform":"all","audience":\#(audience)\#(members)}"#.utf8))
    else { throw .internalError }
    return try PushRequest.parse(json, rules: rules)
  }

  @Test func `A push to a test is one for each content, for the test's audience`() throws {
    let push = try Self.push(#","cid":"c","notification":{"alert":"-","ios":{"sound":"s"}}"#)
    let test = try #require(push.abTest)
    #expect(push.audience == .all && test.id == 5 && test.contents.count == 2)
    #expect(test.contents.map(\.cid) == ["c", nil] && test.contents[0].content == push.content)
    let said = test.contents.map { content in
      content.resolved.flatMap { try? parseJSON($0) }?["notification"]
    }
    #expect(said[0]?["alert"] == "a" && said[1]?["alert"] == "b" && said[0]?["ios"]?["sound"] == "s")
    #expect(said[0]?["android"] == nil && said[1]?["android"]?["title"] == "T")
    let kept = try parseJSON(test.object)
    #expect(kept["notification"]?["alert"] == "-" && kept["audience"] == ["abtest": ["5"]])
    // Without any text of its own.
    #expect(try Self.push("").abTest?.contents.count == 2)
  }

  @Test func `Only what is kept of a push names the test`() throws {
    let object: JSONValue = ["audience": ["abtest": ["5"]]]
    let audience = try #require(Audience(recorded: object))
    #expect(audience.filter?.abTest == 5 && audience.filter?.isEmpty == false)
    var writer = JSONWriter()
    writer.beginObject()
    audience.write(to: &writer)
    writer.endObject()
    #expect(try parseJSON(writer.bytes) == object)
  }

  @Test(arguments: [
    ("", #"{"abtest":["6"]}"#, "there is no such A/B test"),
    ("", #"{"abtest":["x"]}"#, "which is not the ID of an A/B test"),
    ("", #"{"abtest":["5","6"]}"#, "at most 1"),
    ("", #"{"abtest":["5"],"tag":["a"]}"#, "audience.abtest does not go with other conditions"),
    (#","languages":{"de":{"alert":"x"}}"#, #"{"abtest":["5"]}"#, "languages does not go with"),
    (#","options":{"override_msg_id":7}"#, #"{"abtest":["5"]}"#, "options.override_msg_id does not go with"),
    (#","options":{"big_push_duration":7}"#, #"{"abtest":["5"]}"#, "options.big_push_duration does not go"),
  ])
  func `What does not go with a test is refused`(_ members: String, _ audience: String, _ fault: String) {
    do throws(APIError) {
      _ = try Self.push(members, audience: audience)
      Issue.record("accepted")
    } catch {
      #expect(error.code == 1003 && error.message.contains(fault), "\(error.message)")
    }
  }
}
