import BorealisBase
import PushTesting
import Storage
import Testing

@testable import Console

@Suite struct MailTextTests {
  private func write(_ subject: String, _ body: String, from: String = "push@example.com") throws -> String {
    let sender = try #require(MailAddress(from))
    let bytes = MailText.write(
      NewMail(recipient: "zoe@example.org", subject: subject, body: body), from: sender, id: "one",
      at: Timestamp(milliseconds: 1_795_280_891_000))
    return String(decoding: bytes, as: UTF8.self)
  }

  @Test func `A mail has the header that RFC 5322 wants, and lines that RFC 5321 allows`() throws {
    let text = try write("Hello", String(repeating: "ä.\n.\n", count: 400), from: "Bört <push@example.com>")
    let lines = text.split(separator: "\r\n", omittingEmptySubsequences: false)
    for line in [
      "From: =?utf-8?B?QsO2cnQ=?= <push@example.com>", "To: zoe@example.org", "Subject: Hello",
      "Date: Sat, 21 Nov 2026 17:08:11 +0000", "Message-ID: <one@example.com>",
      "Content-Type: text/plain; charset=utf-8", "Content-Transfer-Encoding: base64",
    ] { #expect(lines.contains(Substring(line)), "\(line)") }
    #expect(lines.allSatisfy { $0.utf8.count <= 78 && $0.utf8.allSatisfy { $0 >= 32 && $0 < 127 } })
    let body = lines.drop { !$0.isEmpty }.joined()
    let decoded = try #require(Base64.decode(body.utf8))
    #expect(String(decoding: decoded, as: UTF8.self) == String(repeating: "ä.\r\n.\r\n", count: 400))
  }

  /// A comma would make two addresses of it, parentheses a comment (RFC 5322 section 3.4).
  @Test(arguments: [
    ("Acme, Inc. (Push)", "\"Acme, Inc. (Push)\""), ("A (B)", "\"A (B)\""), ("a@b", "\"a@b\""),
    ("x:y;", "\"x:y;\""), ("Dr. No", "\"Dr. No\""), ("[x]", "\"[x]\""), ("Borealis", "Borealis"),
    ("Northern Lights", "Northern Lights"), ("R&D_1", "R&D_1"), ("Zoë, x", "=?utf-8?B?Wm/DqywgeA==?="),
    ("=?x", "=?utf-8?B?PT94?="),
  ])
  func `A name is one phrase, whatever stands in it`(name: String, expected: String) throws {
    let text = try write("Hello", "x", from: "\(name) <push@example.com>")
    #expect(text.split(separator: "\r\n").contains("From: \(expected) <push@example.com>"), "\(text)")
  }

  @Test(arguments: [
    "Plain", "Zwei Wörter", "推送证书将于 14 天后过期", String(repeating: "证书", count: 60), "=?utf-8?B?eA==?=",
    String(repeating: "long ", count: 40), "a\r\nBcc: everybody@example.com", "",
  ])
  func `A subject comes back as it was, in one field`(subject: String) throws {
    let text = try write(subject, "x")
    let header = text.prefix(upTo: try #require(text.firstRange(of: "\r\n\r\n")?.lowerBound))
    let fields = header.split(separator: "\r\n", omittingEmptySubsequences: false)
    let start = try #require(fields.firstIndex { $0.hasPrefix("Subject: ") })
    let more = fields[(start + 1)...].prefix { $0.hasPrefix(" ") }
    #expect(fields.count == 9 + more.count)
    let words = ([fields[start].dropFirst("Subject: ".count)] + more.map { $0.dropFirst() }).map { word in
      guard word.hasPrefix("=?utf-8?B?"), word.hasSuffix("?=") else { return Array(word.utf8) }
      #expect(word.utf8.count <= 75)
      return Base64.decode(word.dropFirst(10).dropLast(2).utf8) ?? []
    }
    // Each word is text of its own, as RFC 2047 section 5 wants.
    #expect(words.allSatisfy { String(validating: $0, as: UTF8.self) != nil })
    let expected = subject.map { $0.isNewline ? " " : String($0) }.joined()
    #expect(String(decoding: words.flatMap { $0 }, as: UTF8.self) == expected)
  }

  @Test(arguments: [
    ("push@example.com", "push@example.com", ""),
    ("Borealis <push@example.com>", "push@example.com", "Borealis"),
    ("推送 <p@example.cn>", "p@example.cn", "推送"), ("<p@localhost>", "p@localhost", ""),
    ("\"Acme, Inc.\" <a@example.com>", "a@example.com", "Acme, Inc."),
    ("\"\" <a@example.com>", "a@example.com", ""),
    ("\"推送\"<p@example.cn>", "p@example.cn", "推送"),
  ])
  func `Addresses are read`(text: String, address: String, name: String) throws {
    let read = try #require(MailAddress(text))
    #expect(read.address == address && read.name == name)
  }

  @Test(arguments: [
    "", "push", "@example.com", "push@", "a@b@c", "a b@example.com", "a@example.com\r\nBcc: b@example.com",
    "<a@example.com", "a@example.com>", "\"x <a@example.com>", "\"x\"y\" <a@example.com>",
    "x\\y <a@example.com>", "x <a@example.com> y", "ä@example.com",
    "a,b@example.com",
  ])
  func `What is no address is refused`(text: String) { #expect(MailAddress(text) == nil) }

  @Test(arguments: [
    ("smtp://mail.example.com", "smtp://mail.example.com:587"),
    ("smtps://mail.example.com", "smtps://mail.example.com:465"),
    ("SMTP://Mail.example.com:25/", "smtp://mail.example.com:25"), ("smtp://[::1]:25", "smtp://[::1]:25"),
    ("smtp://127.0.0.1:2525", "smtp://127.0.0.1:2525"),
  ])
  func `Servers are read`(url: String, expected: String) throws {
    let from = try #require(MailAddress("a@b"))
    #expect(MailServer(url: url, from: from)?.url == expected)
  }

  @Test(arguments: [
    "", "smtp://", "http://mail.example.com", "smtp://user:secret@mail.example.com", "smtp://a/b",
    "smtp://mail.example.com:0", "smtp://mail.example.com:70000", "smtp://mail.example.com:x", "smtp://a b",
    "smtp://[::1", "smtp://[x]", "smtp://mail?x",
  ])
  func `What is no server is refused`(url: String) throws {
    let from = try #require(MailAddress("a@b"))
    #expect(MailServer(url: url, from: from) == nil)
  }
}
