import BorealisBase
import Testing

@testable import Console

@Suite struct PartsTests {
  @Test func `What is interpolated is escaped, pieces are not`() {
    let evil = "<script>alert('x')</script>&\""
    let piece: HTML = "<b>\(evil)</b>"
    #expect(piece.text == "<b>&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;&quot;</b>")
    let whole: HTML =
      "<p title=\"\(evil)\">\(piece)\(7)\([1, 2], { "<i>\($0)</i>" })\(nil as String?, { "<u>\($0)</u>" })</p>"
    #expect(
      whole.text
        == "<p title=\"&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;&quot;\">\(piece.text)7<i>1</i><i>2</i></p>"
    )
  }

  @Test(arguments: [
    (nil, Language.english), ("zh-CN,zh;q=0.9,en;q=0.8", .chinese), ("en-US,zh;q=0.9", .english),
    ("fr, zh-TW;q=0.5", .chinese), ("fr", .english), ("", .english),
  ])
  func `The browser's first language that the console speaks is taken`(header: String?, language: Language) {
    #expect(Language(accepting: header) == language)
  }

  @Test(arguments: [
    (0, 0, nil), (0, 3, "0%"), (3, 3, "100%"), (4, 3, "100%"), (1, 2, "50%"), (2, 3, "66.7%"),
    (1, 1000, "0.1%"), (1, 1_000_000, "0.1%"), (999_999, 1_000_000, "99.9%"), (-1, 5, nil),
  ])
  func `A share is not rounded to nothing or to all`(part: Int, whole: Int, text: String?) {
    #expect(Counted.share(part, of: whole) == text)
  }

  @Test func `Values take the places of braces in both languages`() {
    let phrase = Phrase("{} of {}", "{}/{}").with("<1>", "2")
    #expect(phrase[.english] == "<1> of 2" && phrase[.chinese] == "<1>/2")
    #expect(Phrase("a {}", "b").with("x")[.chinese] == "b")
  }

  @Test(arguments: [
    ("short", false), ("password12345", false), ("aaaaaaaaaaaa", false), ("zoe-2026-zoe", false),
    ("correct horse battery", true), ("一二三四五六七八九十", true), (String(repeating: "ab1 x", count: 41), false),
  ])
  func `Passwords are long and not the first that one would try`(password: String, isFine: Bool) {
    #expect((PasswordRule.problem(password, email: "zoe-2026@example.com") == nil) == isFine)
  }

  @Test(arguments: [
    ("a@b.co", true), ("a@b", false), ("a b@c.de", false), ("@b.co", false), ("a@@b.co", false),
    ("a@.co", false),
    ("<x>@b.co", false), ("zoë@example.com", true),
  ])
  func addresses(text: String, isFine: Bool) { #expect(EmailAddress.isPlausible(text) == isFine) }

  @Test func `A form gives the push object that an app server would send`() throws {
    var form = PushForm()
    (form.audience, form.names, form.allTags, form.noTags) = (.tag, "a, b\nc，d", "vip", "muted")
    (form.title, form.text, form.hours) = ("Hi", "There", 2)
    form.platforms = [.android, .ios]
    #expect(
      form.json["audience"] == ["tag": ["a", "b", "c", "d"], "tag_and": ["vip"], "tag_not": ["muted"]])
    #expect(form.json["platform"] == ["ios", "android"])
    #expect(form.json["notification"]?["ios"]?["alert"] == ["title": "Hi", "body": "There"])
    #expect(form.json["options"] == ["time_to_live": 7200])
    (form.kind, form.audience, form.platforms) = (.message, .everybody, [.android])
    #expect(form.json["audience"] == "all" && form.json["notification"] == nil)
    #expect(form.json["message"] == ["msg_content": "There", "title": "Hi"])
    #expect(form.json["options"] == ["time_to_live": 7200])
  }

  @Test func `Samples keep quotes together for the shell`() {
    let samples = PushSamples(address: "http://h", key: "k", body: #"{"a":"it's"}"#)
    #expect(samples.curl == #"curl -u k:$MASTER_SECRET http://h/v3/push -d '{"a":"it'\''s"}'"#)
    #expect(samples.request.json == "{\n  \"a\": \"it's\"\n}")
    #expect(samples.settings == "export BOREALIS_URL=http://h\nexport APP_KEY=k\nexport MASTER_SECRET=…")
  }
}
