import BorealisBase
import Testing

@testable import Model

/// Templates: texts with variables, and push objects that name one.
@Suite struct TemplateTests {
  @Test(arguments: [
    ("plain", "plain"), ("{a}", "1"), ("x{a}y{b}z", "x1y2z"), ("{c|none}", "none"), ("{a|none}", "1"),
    ("{c|}", ""), ("{{a}}", "{a}"), ("{{", "{"), ("}}", "}"), ("}", "}"), ("}}}", "}}"), ("{{{a}}}", "{1}"),
    ("{c|a b|c}", "a b|c"), ("{a}{a}", "11"), ("{a}\u{301}", "1\u{301}"), ("é{b}ü", "é2ü"), ("", ""),
    ("{\"k\"", "!"), ("{", "!"), ("{}", "!"), ("{a", "!"), ("{a b}", "!"), ("{a{b}}", "!"), ("{a|{b}}", "!"),
    ("{é}", "!"), ("{|x}", "!"), ("{a\u{301}}", "!"),
  ])
  func `Variables are filled in, and braces escaped`(text: String, expected: String) {
    let template = TemplateText(text)
    #expect(template.map { $0.filled(["a": "1", "b": "2"]) } ?? "!" == expected)
  }

  /// Any text can be said: with its braces doubled it is a template of itself.
  @Test func `A text with doubled braces says itself`() {
    let pieces = ["{", "}", "a", "|", "é", "\u{301}", " ", "{a}", "}}", "{{"]
    var random = SystemRandomNumberGenerator()
    for _ in 0..<3000 {
      let text = (0..<Int.random(in: 0...8, using: &random)).map { _ in
        pieces.randomElement(using: &random) ?? ""
      }
      .joined()
      var doubled = String.UnicodeScalarView()
      for scalar in text.unicodeScalars {
        doubled.append(scalar)
        if scalar == "{" || scalar == "}" { doubled.append(scalar) }
      }
      let said = TemplateText(String(doubled))?.filled(["a": "1"])
      #expect(said.map { Array($0.utf8) } == Array(text.utf8), "\(text)")
    }
  }

  /// A value is never read as a template.
  @Test func `Values stand as they are`() {
    #expect(TemplateText("{a}-{b}")?.filled(["a": "{b}", "b": "{{"]) == "{b}-{{")
  }

  private static func template(_ json: String) throws -> PushTemplate {
    try PushTemplate.parse(try #require(parsed(json).object))
  }

  private static func outcome(_ json: String) throws -> (code: Int, message: String) {
    let object = try #require(parsed(json).object)
    do throws(APIError) {
      _ = try PushTemplate.parse(object)
      return (0, "")
    } catch {
      return (error.code, error.message)
    }
  }

  @Test(arguments: [
    (#"{"alert":"a"}"#, 0, ""), (#"{}"#, 1002, "alert"), (#"{"alert":""}"#, 1002, "alert"),
    (#"{"alert":1}"#, 1003, "alert must be a string"), (#"{"alert":"a","sound":"b"}"#, 1009, "sound"),
    (#"{"alert":"{"}"#, 1003, "alert has a brace"),
    (#"{"alert":"a","title":"{ x }"}"#, 1003, "title has a brace"),
    (#"{"alert":"a","extras":{"k":["{"]}}"#, 1003, "extras has a brace"),
    (#"{"alert":"a","languages":{"de":{"alert":"{"}}}"#, 1003, "languages.de.alert has a brace"),
    (#"{"alert":"a","languages":{"de":{}}}"#, 1003, "languages.de has no text"),
    (#"{"alert":"a","languages":{"d":{"alert":"b"}}}"#, 1003, "'d'"),
    (#"{"alert":"a","languages":{"de":{"alert":"b"},"De":{"alert":"b"}}}"#, 1003, "twice"),
    (#"{"alert":"a","languages":{"de":{"languages":{"fr":{"alert":"b"}}}}}"#, 1009, "languages.de.languages"),
  ])
  func `What is wrong is named`(json: String, code: Int, complaint: String) throws {
    let found = try Self.outcome(json)
    #expect(found.code == code && found.message.contains(complaint), "\(found.message)")
  }

  @Test func `A template is bounded`() throws {
    func variables(_ names: [String]) -> String { names.map { "{\($0)}" }.joined() }
    #expect(try Self.outcome(#"{"alert":"\#(variables((0..<50).map { "v\($0)" }))"}"#).code == 0)
    #expect(try Self.outcome(#"{"alert":"\#(variables((0..<51).map { "v\($0)" }))"}"#).code == 1003)
    #expect(try Self.outcome(#"{"alert":"\#(variables(Array(repeating: "v", count: 201)))"}"#).code == 1003)
    #expect(try Self.outcome(#"{"alert":"\#(String(repeating: "a", count: 16_384))"}"#).code == 1005)
  }

  @Test func `Variables are required unless every text has something else to say`() throws {
    let template = try Self.template(
      #"""
      {"title":"{a} {b|x}","alert":"{c|y}","extras":{"k":"{d}","l":{"m":["{e|}"]}},
      "languages":{"de":{"alert":"{b} {f|z}"}}}
      """#)
    #expect(template.variables.map(\.name) == ["a", "b", "c", "d", "e", "f"])
    #expect(template.variables.filter(\.isRequired).map(\.name) == ["a", "b", "d"])
    #expect(template.missing(in: ["a": "", "d": "1"]) == ["b"])
    #expect(try PushTemplate.parse(template.json) == template)
    let said = template.said(with: ["a": "1", "b": "2", "d": "3"])
    #expect(said.map { $0.language?.text } == [nil, "de"])
    #expect(said[0].texts.title == "1 2" && said[0].texts.alert == "y")
    #expect(said[1].texts.title == "1 2" && said[1].texts.alert == "2 z")
  }

  // MARK: In a push object

  private static let rules: PushRules = {
    var rules = PushRules.withAPNs
    let object =
      (try? parsed(
        #"""
        {"title":"T {n}","alert":"A {n|none}","extras":{"k":"{n}"},"languages":{"de":{"alert":"D {n}"}}}
        """#))?.object
    let template = object.flatMap { try? PushTemplate.parse($0) }
    rules.template = { $0 == 7 ? template : nil }
    return rules
  }()

  private static func request(_ members: String) throws -> PushRequest {
    try PushRequest.parse(parsed(push(members)), rules: rules)
  }

  @Test func `A push says what its template says`() throws {
    let request = try Self.request(
      #""template":{"id":"7","values":{"n":5}},"notification":{"ios":{"sound":"s"},"android":{"alert":"mine"}}"#
    )
    #expect(request.template == 7)
    let android = try parseJSON(request.content.deviceJSON(platform: .android))
    #expect(android["notification"] == ["alert": "A 5", "title": "T 5", "extras": ["k": "5"]])
    let ios = try parseJSON(request.content.deviceJSON(platform: .ios))
    #expect(ios["notification"]?["alert"] == ["body": "A 5", "title": "T 5"])
    #expect(ios["notification"]?["sound"] == "s")
    let german = try #require(request.translations.first)
    let said = try parseJSON(german.content.deviceJSON(platform: .android))
    #expect(said["notification"] == ["alert": "D 5", "title": "T 5", "extras": ["k": "5"]])
    // The resolved object says the same without the template.
    let resolved = try #require(request.resolved)
    var again = try PushRequest.parse(parseJSON(resolved), rules: .withAPNs)
    again.translations = request.translations
    #expect(again.content == request.content && again.template == nil)
  }

  @Test(arguments: [
    (#""template":{"id":7,"values":{"n":"5"}}"#, 0, ""),
    (#""template":null,"notification":{"alert":"x"}"#, 0, ""),
    (#""template":{"id":"7"}"#, 1002, "template.values.n"),
    (#""template":{"id":"7","values":{"n":null}}"#, 1002, "template.values.n"),
    (#""template":{"id":"8","values":{"n":"5"}}"#, 1003, "no such template"),
    (#""template":{"id":"x"}"#, 1003, "no such template"),
    (#""template":{"values":{"n":"5"}}"#, 1002, "template.id"),
    (#""template":{"id":"7","values":{"n":[]}}"#, 1002, "template.values.n"),
    (#""template":{"id":"7","values":{"n":{}}}"#, 1003, "template.values.n must be"),
    (#""template":{"id":"7","colour":1}"#, 1009, "template.colour"),
    (#""template":"7""#, 1003, "template must be"),
    (
      #""template":{"id":"7","values":{"n":"5"}},"languages":{"fr":{"alert":"x"}}"#, 1003,
      "does not go with template"
    ),
  ])
  func `What is wrong with its use is named`(members: String, code: Int, complaint: String) throws {
    let found = try ModelTests.outcome(push(members), rules: Self.rules)
    #expect(found.code == code && found.message.contains(complaint), "\(found.message)")
  }

  @Test func `Values that the template does not have are named as ignored`() throws {
    let request = try Self.request(#""template":{"id":"7","values":{"n":"5","m":"6"}}"#)
    #expect(request.ignored == ["template.values.m"])
    let long = String(repeating: "a", count: 1001)
    #expect(throws: APIError.self) { try Self.request(#""template":{"id":"7","values":{"n":"\#(long)"}}"#) }
    // An app group has no templates.
    #expect(throws: APIError.self) {
      try PushRequest.parse(parsed(push(#""template":{"id":"7","values":{"n":"5"}}"#)), rules: .withAPNs)
    }
  }
}
