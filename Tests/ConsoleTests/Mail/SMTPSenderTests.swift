import BorealisBase
import Dispatch
import PushTesting
import Testing

@testable import Console

@Suite struct SMTPSenderTests {
  /// Sends a mail on a thread of its own, since that waits for the server. Nil if it was taken.
  private static func send(to server: ScriptedServer, from: String = "push@example.com") async throws
    -> MailFailure?
  {
    let sender = try #require(MailAddress(from))
    var settings = try #require(MailServer(url: "smtp://127.0.0.1:\(server.port)", from: sender))
    settings.encryption = .never
    let way = SMTPSender(server: settings)
    return await awaitCallback { done in
      DispatchQueue(label: "sends a mail").async {
        do throws(MailFailure) {
          try way.send(Array("Subject: hello\r\n\r\nhello\r\n".utf8), to: "zoe@example.org")
          done(nil)
        } catch {
          done(error)
        }
      }
    }
  }

  @Test func `A mail is taken, from one who says a name that the world knows`() async throws {
    let server = try ScriptedServer()
    #expect(try await Self.send(to: server) == nil)
    #expect(
      server.heard.prefix(4) == [
        "EHLO example.com", "MAIL FROM:<push@example.com>", "RCPT TO:<zoe@example.org>", "DATA",
      ])
  }

  @Test(arguments: [
    ("push@mail.example.com", "EHLO mail.example.com"), ("push@localhost", "EHLO localhost"),
    ("Borealis <push@EXAMPLE.com>", "EHLO example.com"),
  ])
  func `The name is the domain that mail is from`(from: String, expected: String) async throws {
    let server = try ScriptedServer()
    #expect(try await Self.send(to: server, from: from) == nil)
    #expect(server.heard.first == expected)
  }

  /// What the server objects to us, and what is out of order, would meet every mail.
  @Test(
    arguments: [
      ("greeting", "554 no service for you"), ("greeting", "421 too busy"), ("greeting", ""),
      ("EHLO", ""), ("MAIL", "530 5.7.0 Authentication required"), ("MAIL", "550 5.7.1 not you"),
      ("MAIL", "451 later"), ("MAIL", ""), ("RCPT", ""), ("RCPT", "421 4.3.2 shutting down"),
      ("DATA", "554 no"), ("DATA", "451 later"), (".", ""), (".", "421 4.3.0 shutting down"),
    ] as [(String, String)])
  func `What is not about the mail reaches all mail`(step: String, answer: String) async throws {
    let failure = try #require(try await Self.send(to: ScriptedServer([step: answer])))
    #expect(failure.reach == .allMail, "\(failure)")
    // Its words are passed on.
    if !answer.isEmpty { #expect(failure.reason.contains(answer), "\(failure)") }
  }

  @Test(
    arguments: [
      // Greylisting.
      ("RCPT", "450 4.2.0 greylisted", .thisMail), ("RCPT", "452 4.2.2 mailbox full", .thisMail),
      (".", "451 4.3.0 later, please", .thisMail),
      ("RCPT", "550 5.1.1 no such person", .thisMailForGood),
      ("RCPT", "550 no such person", .thisMailForGood),
      ("RCPT", "553 sorry", .thisMailForGood), ("RCPT", "552 5.2.2 full", .thisMailForGood),
      (".", "554 5.6.0 malformed", .thisMailForGood), (".", "552 too large", .thisMailForGood),
      // Many servers tell at the recipient what they have against the sender, or behind the mail.
      ("RCPT", "530 5.7.0 Authentication required", .thisMail), ("RCPT", "530 log in first", .thisMail),
      ("RCPT", "504 5.5.2 <vm>: Helo command rejected", .thisMail), ("RCPT", "504 <vm>: no", .thisMail),
      ("RCPT", "554 5.7.1 Service unavailable; Client host blocked", .thisMail),
      ("RCPT", "550 5.1.8 Sender address rejected", .thisMail),
      (
        ".", "550-5.7.26 This mail has been blocked because\n550 5.7.26 the sender is unauthenticated",
        .thisMail
      ),
    ] as [(String, String, MailFailure.Reach)])
  func `What is about the recipient or the mail reaches this mail alone`(
    step: String, answer: String, reach: MailFailure.Reach
  ) async throws {
    let failure = try #require(try await Self.send(to: ScriptedServer([step: answer])))
    #expect(failure.reach == reach, "\(failure)")
    #expect(failure.reason.contains(answer.split(separator: "\n").joined(separator: " ")), "\(failure)")
  }

  @Test func `A server that cannot be reached is out of order for all mail`() async throws {
    var server: ScriptedServer? = try ScriptedServer()
    let port = try #require(server).port
    server = nil
    let from = try #require(MailAddress("push@example.com"))
    let settings = try #require(MailServer(url: "smtp://127.0.0.1:\(port)", from: from))
    let failure: MailFailure? = await awaitCallback { done in
      DispatchQueue(label: "sends a mail").async {
        do throws(MailFailure) {
          try SMTPSender(server: settings).send([], to: "zoe@example.org")
          done(nil)
        } catch {
          done(error)
        }
      }
    }
    #expect(failure?.reach == .allMail)
  }
}

@Suite struct SMTPDialogueTests {
  /// Whatever a server says, no more than a bit of it is kept, and none of it goes wrong.
  @Test(arguments: [
    "", "5", "55", "5x0 no", "999 what", "550", "550 ", "550 5.1", "550 5..1 x", "550 .... x",
    "550 5.99999.1 x",
    "550\u{0}\u{1}\r\n\r\n", "\r\n", String(repeating: "550-x\r\n", count: 1000), "٥٥٠ x",
  ])
  func `Odd answers are read`(text: String) {
    var dialogue = SMTPDialogue()
    dialogue.hear(Array("220 hello\r\n".utf8))
    dialogue.say(Array("RCPT TO:<a@b>\r\n".utf8))
    dialogue.hear(Array(text.utf8))
    #expect(dialogue.reach == (text.hasPrefix("550") ? .thisMailForGood : .allMail))
    #expect(dialogue.refusal.utf8.count <= 500 && dialogue.refusal.utf8.allSatisfy { $0 >= 32 })
  }

  @Test func `Leaving does not hide why`() {
    var dialogue = SMTPDialogue()
    dialogue.say(Array("RCPT TO:<a@b>\r\n".utf8))
    dialogue.hear(Array("550 5.1.1 nobody\r\n".utf8))
    dialogue.say(Array("QUIT\r\n".utf8))
    dialogue.hear(Array("221 bye\r\n".utf8))
    #expect(dialogue.refusal == "550 5.1.1 nobody" && dialogue.reach == .thisMailForGood)
  }

  /// What a login sends is nobody's address.
  @Test func `Only an answer to the latest step counts`() {
    var dialogue = SMTPDialogue()
    dialogue.say(Array("RCPT TO:<a@b>\r\n".utf8))
    dialogue.hear(Array("550 5.1.1 nobody\r\n".utf8))
    dialogue.say(Array("DATA\r\n".utf8))
    #expect(dialogue.refusal.isEmpty && dialogue.reach == .allMail)
    dialogue.hear(Array("354 go on\r\n".utf8))
    dialogue.sayContent()
    dialogue.sayContent()
    #expect(dialogue.refusal.isEmpty && dialogue.reach == .allMail)
    dialogue.hear(Array("450 later\r\n".utf8))
    #expect(dialogue.refusal == "450 later" && dialogue.reach == .thisMail)
  }
}
