import BorealisBase
import BorealisCrypto
import HTTP
import PushTesting
import Storage
import Testing

@testable import Console

/// Which passwords are refused, and why.
@Suite struct PasswordTests {
  private static func problem(_ password: String) -> Phrase? {
    PasswordRule.problem(
      password, email: "zoe.miller@lights.example", name: "Zoe Miller", accounts: ["Northern Lights"])
  }

  @Test(arguments: [
    ("zoe.miller@lights.example", Words.passwordOwn), ("ZoeMiller2026", Words.passwordOwn),
    ("lightsborealis", Words.passwordOwn), ("example1234", Words.passwordGuessable),
    ("Borealis2026!", Words.passwordOwn),
    ("B0re@lis1234", Words.passwordOwn),
    ("northernlights", Words.passwordOwn), ("silaerob1234", Words.passwordOwn),
    ("password1234", Words.passwordCommon), ("P@ssw0rd!!!!", Words.passwordGuessable),
    ("Welcome2024!", Words.passwordGuessable),
    ("iloveyou1234", Words.passwordGuessable), ("woaini1314520", Words.passwordGuessable),
    ("Summer2025!", Words.passwordGuessable),
    ("drowssap1234", Words.passwordGuessable), ("qwertyuiop", Words.passwordCommon),
    ("1qaz2wsx3edc", Words.passwordCommon),
    ("lkjhgfdsaq", Words.passwordKeyboard), ("zaq1xsw2cd", Words.passwordCommon),
    ("Passw0rd2026!!", Words.passwordGuessable),
    ("abcdefghijk", Words.passwordSequence),
    ("9876543210", Words.passwordSequence), ("acegikmoqs", Words.passwordSequence),
    ("aaaaaaaaaaaa", Words.passwordRepetition), ("x7qx7qx7qx7q", Words.passwordRepetition),
    ("19870412 1990", Words.passwordDate), ("1987-04-12", Words.passwordDate),
  ])
  func `What is guessed soon is refused with the reason`(password: String, reason: Phrase) throws {
    let problem = try #require(Self.problem(password), "\(password)")
    // Of several weaknesses one is named.
    #expect(problem == reason, "\(password): \(problem.english)")
    #expect(problem.english != problem.chinese)
  }

  @Test(arguments: [
    "correct horse battery", "another horse battery", "violet tractor sings", "x7#qPm29!vLk", "pq8zk2wvn4",
    "窗前明月光疑是地上霜", "plum kettle orbit fjord",
  ])
  func `What takes long to guess is taken`(password: String) { #expect(Self.problem(password) == nil) }

  @Test func `Characters under heaps of marks cost no more than others`() {
    let heap = String(repeating: "\u{301}\u{302}\u{303}", count: 4)
    let letters = Array("ab" + ["x", "y", "x"].map { $0 + heap }.joined() + "e\u{301}")
    let simple = PasswordStrength.simplified(letters)
    #expect(simple.count == 6 && simple.allSatisfy { $0.unicodeScalars.count <= 3 })
    #expect(simple[2] == simple[4] && simple[2] != simple[3] && simple[5] == "é")
    #expect(Self.problem(String(repeating: "x" + heap, count: 12)) == Words.passwordRepetition)
  }

  @Test func `More guesses are needed the rarer the parts are`() {
    func guesses(_ password: String) -> Double { PasswordStrength(password, own: ["zoe"]).guesses }
    let order = ["zoe", "password", "password1", "correct horse", "xk4$Lq9!vTz2", "correct horse battery"]
    for (weaker, stronger) in zip(order, order.dropFirst()) {
      #expect(guesses(weaker) < guesses(stronger), "\(stronger)")
    }
    #expect(guesses("") == 0)
  }

  @Test func `The list of words is found in order`() {
    #expect(CommonWords.rank(of: "password") == 2)
    #expect(CommonWords.rank(of: "123456") == 1)
    for word in ["", "#", "zzzzzzzzzzzzzzzzzzzz", "pass word", "xqzvkj"] {
      #expect(CommonWords.rank(of: word) == nil, "\(word)")
    }
    let lines = (embeddedFiles["common-words.txt"] ?? "").split(separator: "\n").filter { !$0.hasPrefix("#") }
    #expect(lines.count > 20_000)
    for place in [0, lines.count / 3, lines.count - 1] {
      let parts = lines[place].split(separator: " ")
      #expect(parts.count == 2 && CommonWords.rank(of: String(parts[0])) == Int(parts[1]))
    }
  }

  /// However long it is, and whatever stands in it.
  @Test(arguments: [
    String(repeating: "a", count: 200), String(repeating: "ab1!", count: 50),
    String(repeating: "€", count: 200),
    String(repeating: "password", count: 25), "👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦",
  ])
  func `Repetition does not make a password strong`(password: String) {
    #expect(Self.problem(password) != nil)
  }

  @Test func `A newer link for a new password ends those before it`() async throws {
    let world = try ConsoleWorld(sendsMail: true)
    _ = try await world.owner()
    let browser = Browser(world)
    for _ in 0..<2 {
      _ = await browser.submit("/console/reset", ["email": "zoe@example.com"])
      try await world.settled()
    }
    let links = world.outbox.mails.compactMap { mail in
      mail.body.split(whereSeparator: \.isWhitespace).first { $0.contains("/console/reset/") }
        .map { String($0.dropFirst("https://push.example.com".count)) }
    }
    try #require(links.count == 2)
    let fields = ["password": "violet tractor sings"]
    #expect(await browser.open(links[0]).status == 404)
    #expect(await browser.submit(links[0], fields).status == 404)
    #expect(
      await browser.submit(links[1], ["password": "zoe@example.com"]).text.contains("Too easy to guess"))
    #expect(await browser.submit(links[1], fields).status == 200)
  }

  // MARK: Recovery codes

  private static let secret = [UInt8](repeating: 0, count: OneTimePassword.secretSize)

  private static func turnOn(_ browser: Browser) async -> [String] {
    _ = await browser.open("/console/me")
    let code = OneTimePassword.code(secret: secret, step: OneTimePassword.step(at: ManualClock().now()) - 1)
    let page = await browser.submit(
      "/console/me/totp", ["secret": Hex.encode(secret), "code": code, "password": ConsoleWorld.password]
    ).text
    return codes(page)
  }

  private static func codes(_ page: String) -> [String] {
    guard let start = page.firstRange(of: "<pre class=\"codes\"><code>") else { return [] }
    return page[start.upperBound...].prefix { $0 != "<" }.split(separator: "\n").map { String($0) }
  }

  @Test func `A recovery code lets its owner in once, and is noted`() async throws {
    let world = try ConsoleWorld()
    let owner = try await world.owner()
    let codes = await Self.turnOn(owner)
    #expect(codes.count == 10 && Set(codes).count == 10)
    #expect(await owner.open("/console/me").text.contains("Unused recovery codes: 10"))
    #expect(await !owner.open("/console/me").text.contains(codes[0]))
    let outsider = Browser(world)
    let place = "/console/credentials?x=1"
    var fields = ["email": "zoe@example.com", "password": ConsoleWorld.password, "next": place]
    #expect(await outsider.submit("/console/login", fields).text.contains("Use a recovery code instead"))
    // As people type it.
    fields["code"] = codes[3].uppercased().replacing("-", with: " ")
    fields["recovery"] = "1"
    let page = await outsider.submit("/console/login", fields).text
    #expect(page.contains("You logged in with a recovery code") && page.contains("Unused recovery codes: 9"))
    #expect(page.contains("title=\"person.recovery.use\""))
    // The way to where they wanted to go is not lost.
    #expect(page.contains("<a class=\"button\" href=\"\(place)\">Continue</a>"))
    let again = await Browser(world).submit("/console/login", fields)
    #expect(again.status == 403 && again.text.contains("was already used"))
  }

  @Test func `New recovery codes take the password, and end the old ones`() async throws {
    let world = try ConsoleWorld()
    let owner = try await world.owner()
    #expect(await owner.submit("/console/me/totp/codes", ["password": ConsoleWorld.password]).status == 404)
    let old = await Self.turnOn(owner)
    #expect(await owner.submit("/console/me/totp/codes", ["password": "wrong"]).status == 422)
    let new = Self.codes(
      await owner.submit("/console/me/totp/codes", ["password": ConsoleWorld.password]).text)
    #expect(new.count == 10 && Set(new).isDisjoint(with: old))
    var fields = ["email": "zoe@example.com", "password": ConsoleWorld.password, "code": old[0]]
    #expect(await Browser(world).submit("/console/login", fields).status == 403)
    fields["code"] = new[0]
    #expect(await Browser(world).submit("/console/login", fields).status == 200)
    _ = await owner.submit("/console/me/totp/off", ["password": ConsoleWorld.password])
    let left = try await world.store.look { t throws(StorageError) in
      try t.people.recoveryCodes(of: PersonID(1))
    }
    #expect(left == 0)
  }

  @Test func `Recovery codes are guessed no more often than others`() async throws {
    let world = try ConsoleWorld()
    let codes = await Self.turnOn(try await world.owner())
    let thief = Browser(world)
    var fields = ["email": "zoe@example.com", "password": ConsoleWorld.password]
    for number in 0..<10 {
      fields["code"] = "0000-0000-0000-000\(number)"
      #expect(await thief.submit("/console/login", fields).status == 403, "\(number)")
    }
    fields["code"] = codes[0]
    #expect(await thief.submit("/console/login", fields).text.contains("in 15 minutes"))
  }
}
