import BorealisBase
import Core
import Testing

/// What is checked of a form before its channel sees it.
@Suite struct CredentialFormTests {
  private static let form = CredentialForm(
    "f", title: Phrase("t", "t"), text: Phrase("", ""),
    fields: [
      CredentialField("file", Phrase("", ""), .file(accept: ".json")),
      CredentialField("line", Phrase("", "")),
      CredentialField("more", Phrase("", ""), .lines, isRequired: false),
      CredentialField("kind", Phrase("", ""), .choice([.init("a", Phrase("A", "A"))])),
    ])

  @Test(arguments: [
    ([:] as [String: [UInt8]], nil as String?), (["file": []], "file"), (["line": []], "line"),
    (["line": Array("  ".utf8)], "line"), (["line": Array("a\nb".utf8)], "line"), (["line": [0xFF]], "line"),
    (["line": [UInt8](repeating: 120, count: CredentialField.longestLine + 1)], "line"),
    (["file": [0xFF, 0]], nil), (["more": [0xFF]], "more"),
    (["more": [UInt8](repeating: 120, count: 9000)], nil), (["kind": Array("b".utf8)], "kind"),
    (["kind": Array("a".utf8)], nil), (["other": [0xFF]], nil),
  ])
  func `The first field that is wrong is named`(fields: [String: [UInt8]], field: String?) {
    let right = ["file": [1] as [UInt8], "line": Array("x".utf8)]
    let problem = Self.form.problem(in: CredentialInput("f", fields: right.merging(fields) { $1 }))
    #expect(problem?.field == field)
    #expect(problem.map { !$0.phrase.chinese.isEmpty && !$0.reason.hasSuffix(".") } ?? true)
  }

  @Test func `Texts are read without white space, secrets as they were typed`() {
    let input = CredentialInput("f", fields: ["a": Array(" x ".utf8), "b": [], "c": [0xFF]])
    #expect(input.text("a") == "x" && input.secret("a") == " x ")
    #expect(input.text("b") == nil && input.secret("b") == "")
    #expect(input.text("c") == nil && input.secret("c") == nil && input.text("d") == nil)
  }

  @Test(arguments: [
    (-1, "has expired"), (0, "has expired"), (3600, "expires today"), (86_400, "expires in one day"),
    (86_400 * 23 + 50_000, "expires in 24 days"),
  ])
  func `Ends are told in days`(seconds: Int64, text: String) {
    let now = Timestamp(milliseconds: 1_800_000_000_000)
    let phrase = Phrase.ending(now.adding(seconds: seconds), at: now)
    #expect(phrase.english == text && phrase.chinese != text)
  }
}
