import BorealisBase
import Channels
import Core
import HTTP
import Model
import PushTesting
import Storage
import Testing

@testable import Console

/// Chinese pages are in Chinese: English sentences are in code and in quotations alone.
@Suite struct ChineseTests {
  /// Text of a page outside of code: what is read, and what is read out.
  private static func texts(_ page: String) -> [String] {
    var text = page
    for element in [
      /(?s)<script.*?<\/script>/, /(?s)<pre.*?<\/pre>/, /(?s)<code.*?<\/code>/,
      /(?s)<textarea.*?<\/textarea>/,
    ] {
      text = text.replacing(element, with: " ")
    }
    // The documentation says what is not translated yet.
    text = text.replacing(/(?s)<(\w+)[^>]* lang="en"[^>]*>.*?<\/\1>/, with: " ")
    let spoken = text.matches(of: /(?:title|alt|placeholder|aria-label|data-manual|data-done)="([^"]*)"/)
      .map { String($0.output.1) }
    // Elements within a line do not end a sentence.
    text = text.replacing(/<\/?(?:strong|span|a|b|em|time|label)(?: [^>]*)?>/, with: "")
    return spoken + text.replacing(/<[^>]*>/, with: "\n").split(separator: "\n").map(String.init)
  }

  /// The first four English words in a row, two of them in small letters; names are shorter, or in capitals.
  private static func sentence(in text: String) -> String? {
    let plain = text.replacing(/“[^”]*”/, with: "").replacing("&#39;", with: "'")
      .replacing(/&\w+;/, with: "，")
    for match in plain.matches(of: /[A-Za-z][A-Za-z'’-]*(?:,? [A-Za-z][A-Za-z'’-]*){3,}/) {
      let words = match.output.split(separator: " ")
      let small = words.count { $0.allSatisfy { $0.isLowercase || $0 == "," } }
      if small >= 2 { return String(match.output) }
    }
    return nil
  }

  @Test(arguments: [
    ("<p>苹果应答 403</p>", false), ("<p>Wait: the server continues automatically.</p>", true),
    ("<p><code>curl -u key and some more</code></p>", false), ("<p>应答：“the key is not known”</p>", false),
    ("<img alt=\"a phone with a notification\">", true), ("<p>Quick App Live Activity</p>", false),
    ("<p>the <strong>key</strong> has expired</p>", true),
  ])
  func `A sentence is found wherever it is read`(page: String, isEnglish: Bool) {
    #expect(Self.texts(page).contains { Self.sentence(in: $0) != nil } == isEnglish)
  }

  /// An installation where much goes wrong: the credential is paused, callbacks fail, and a push was refused.
  private static func scene() async throws -> Estate {
    let world = try ConsoleWorld()
    let zoe = try await world.owner()
    let estate = try await Estate(world, account: .standard, owner: zoe, email: "zoe@example.com")
    _ = await zoe.open("/console/me")
    _ = await zoe.submit("/console/me/profile", ["name": "Zoe", "language": "zh"])
    let (app, credential, batch) = (estate.app.id, estate.credential, estate.batch)
    try await world.store.change { transaction throws(StorageError) in
      let now = ManualClock().now()
      _ = try transaction.credentials.pause(
        app: app, id: credential, reason: "Apple answered 403 without a reason", at: now)
      let attempt = CallbackAttemptRow(
        at: now, milliseconds: 5, status: 0, error: "the name x.example cannot be looked up")
      try transaction.callbacks.noteAttempt(batch: batch, attempt, next: now.adding(seconds: 600))
      for action in ["credential.pause", "push.recall", "app.delete"] {
        try transaction.audit.add(
          AuditRow(
            at: now, account: .standard, app: app, person: estate.person, who: "Zoe <zoe@example.com>",
            action: action, target: "x", address: ""))
      }
    }
    return estate
  }

  private func look(at page: String, _ name: String) {
    for text in Self.texts(page) {
      if let sentence = Self.sentence(in: text) { Issue.record("\(name): \(sentence)") }
      // A comma or a colon behind a Chinese word is a Chinese one.
      if text.contains(/\p{Han}[,:](?: |$)/) { Issue.record("\(name): \(text)") }
    }
  }

  @Test func `No page has an English sentence`() async throws {
    let estate = try await Self.scene()
    var seen = 0
    for page in ConsoleRegistry.pages where page.method == "GET" && !page.pattern.contains("/assets/") {
      let answer = await estate.owner.open(estate.path(of: page))
      guard answer.text.contains("<html lang=\"zh-CN\"") else { continue }
      look(at: answer.text, page.pattern)
      seen += 1
    }
    #expect(seen > 30)
  }

  /// Those that end the session or what the other forms are about come last, or not at all.
  @Test func `No answer to a form has an English sentence`() async throws {
    let estate = try await Self.scene()
    let isLast = /delete|remove|off|retire|end$|role/
    let forms = ConsoleRegistry.pages.filter {
      $0.method == "POST" && !$0.pattern.contains(/log|\/me\/(?:profile|sessions)/)
    }
    let first = forms.filter { !$0.pattern.contains(isLast) }
    var seen = 0
    for page in first + forms.filter({ $0.pattern.contains(isLast) }) {
      for fields in [[:], estate.fields] {
        let answer = await estate.owner.submit(estate.path(of: page), fields)
        guard answer.text.contains("<html lang=\"zh-CN\"") else { continue }
        look(at: answer.text, page.pattern)
        seen += 1
      }
    }
    #expect(seen > 60)
  }

  /// Texts that need more than a visit to be shown.
  @Test func `No text about a push or an action has an English sentence`() {
    let causes = (WhyCause.general + WhyCause.ofAPNs).flatMap { [$0.text, $0.remedy.text] }
    let texts =
      causes + FlashMessage.allCases.map(\.phrase) + ReceiptReason.allCases.map(\.meaning.cause.text)
    for text in texts {
      #expect(text.chinese.isEmpty || Self.sentence(in: text.chinese) == nil, "\(text.chinese)")
    }
  }
}
