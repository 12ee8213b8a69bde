import BorealisBase
import PushTesting
import Storage
import Testing

@testable import Console

/// What an ID token must say (OpenID Connect Core 1.0, section 3.1.3.7), and the other rules without a
/// server.
@Suite struct IDTokenTests {
  private static let now = ManualClock().now()
  private static let expected = IDToken.Expectation(
    issuer: "https://login.example.com", clientID: "borealis", nonce: "n-1")
  private static let claims: [String: JSONValue] = [
    "iss": "https://login.example.com", "aud": "borealis", "sub": "kim-1", "nonce": "n-1",
    "iat": number(0), "exp": number(300),
  ]

  private static func number(_ seconds: Int64) -> JSONValue { .number(JSONNumber(now.seconds + seconds)) }

  private func check(_ token: String) throws(SignOnFailure) -> JSONObject {
    try IDToken.claims(token, Self.expected, at: Self.now)
  }

  @Test(
    arguments: [
      [:], ["aud": ["borealis"]], ["azp": "borealis"], ["aud": ["other", "borealis"], "azp": "borealis"],
      ["exp": number(-119)], ["iat": number(119)], ["iat": number(-600)], ["nbf": number(119)],
      ["exp": .number(JSONNumber(text: "1790000300.5") ?? JSONNumber(0))],
    ] as [[String: JSONValue]])
  func `A token that says all that it must is accepted`(changes: [String: JSONValue]) throws {
    #expect(try check(FakeProvider.token(Self.claims, changes))["sub"]?.string == "kim-1")
  }

  @Test(
    arguments: [
      ("another iss", "iss", "https://login.example.com/"), ("another iss", "iss", nil),
      ("another iss", "iss", 1),
      ("another aud", "aud", "other"), ("another aud", "aud", ["other"]), ("another aud", "aud", nil),
      ("another aud", "aud", []), ("another azp", "aud", ["borealis", "other"]),
      ("another azp", "azp", "other"),
      ("another azp", "azp", .null), ("(exp)", "exp", number(-120)), ("(exp)", "exp", nil),
      ("(exp)", "exp", "1790000300"), ("(iat)", "iat", number(121)), ("(iat)", "iat", number(-601)),
      ("(iat)", "iat", nil), ("(nbf)", "nbf", number(121)), ("(nbf)", "nbf", "soon"),
      ("another nonce", "nonce", "n-2"), ("another nonce", "nonce", nil), ("no valid sub", "sub", nil),
      ("no valid sub", "sub", ""), ("no valid sub", "sub", .string(String(repeating: "x", count: 256))),
      ("no valid sub", "sub", "Zoë"), ("no valid sub", "sub", 7),
    ] as [(String, String, JSONValue?)])
  func `A token with a wrong claim is refused`(reason: String, name: String, value: JSONValue?) throws {
    do throws(SignOnFailure) {
      _ = try check(FakeProvider.token(Self.claims, [name: value]))
      Issue.record("\(name) is accepted")
    } catch {
      #expect("\(error)".contains(reason), "\(error)")
    }
  }

  @Test func `What is not a token is refused`() throws {
    let token = FakeProvider.token(Self.claims)
    let parts = token.split(separator: ".").map(String.init)
    let unsigned = Base64.encodeURL(Array(#"{"alg":"none"}"#.utf8))
    for text in [
      "", "..", "a.b.c", "\(parts[0]).\(parts[1])", "\(token).x", "\(unsigned).\(parts[1]).",
      parts[1] + ".e30.e30",
      "\(parts[0]).\(Base64.encodeURL(Array("[]".utf8))).\(parts[2])",
      "\(parts[0]).\(Base64.encodeURL(Array(#"{"iss":"a","iss":"b"}"#.utf8))).\(parts[2])",
      "\(token)\(String(repeating: "A", count: IDToken.mostBytes))",
    ] {
      #expect(throws: SignOnFailure.provider("its ID token is not a signed token")) { try check(text) }
    }
  }

  // MARK: Tickets

  @Test func `A ticket holds for its time, with its key, unchanged`() throws {
    let (key, now) = ([UInt8](repeating: 7, count: 32), Self.now)
    let ticket = SignOnTicket(to: "/console/me?a=b;c", key: key, at: now)
    let read = try #require(SignOnTicket(cookie: ticket.cookie, key: key, at: now.adding(seconds: 599)))
    #expect(read.place == "/console/me?a=b;c" && read.verifier == ticket.verifier)
    #expect(read.hasState(ticket.state) && !read.hasState(ticket.nonce) && !read.hasState(nil))
    #expect(Set([ticket.state, ticket.nonce, ticket.verifier]).count == 3)
    // RFC 7636, section 4.1.
    #expect((43...128).contains(ticket.verifier.utf8.count))
    for secret in [ticket.state, ticket.nonce, ticket.verifier] { #expect(!ticket.cookie.contains(secret)) }
    #expect(SignOnTicket(cookie: ticket.cookie, key: key, at: now.adding(seconds: 600)) == nil)
    #expect(SignOnTicket(cookie: ticket.cookie, key: [1], at: now) == nil)
    for index in ticket.cookie.indices {
      var changed = ticket.cookie
      changed.replaceSubrange(index...index, with: ticket.cookie[index] == "a" ? "b" : "a")
      #expect(SignOnTicket(cookie: changed, key: key, at: now) == nil, "\(changed)")
    }
    for text in ["", "...", "1.2.3.4", ticket.cookie + "."] {
      #expect(SignOnTicket(cookie: text, key: key, at: now) == nil)
    }
    #expect(ticket.challenge == SignOnTicket.challenge(of: ticket.verifier))
    // The example in appendix B of RFC 7636.
    #expect(
      SignOnTicket.challenge(of: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")
        == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM")
  }

  // MARK: Settings

  @Test(arguments: [
    ("https://login.example.com", true), ("https://login.example.com/realms/a?b=c", true),
    ("http://127.0.0.1:8080/a", true), ("http://[::1]:8080", true), ("http://localhost", true),
    ("http://login.example.com", false), ("http://127.0.0.1.example.com", false),
    ("ftp://login.example.com", false),
    ("https://", false), ("https://user@login.example.com", false), ("https://login.example.com/#a", false),
    ("https://login.example.com/ a", false), ("", false), ("login.example.com", false),
  ])
  func `Addresses of a provider and of this server`(url: String, isFine: Bool) {
    #expect(SignOnOptions.isAddress(url) == isFine)
    #expect(!url.hasPrefix("http:") || !SignOnOptions.isAddress(url, allowsPlain: false))
  }

  @Test func `Roles by the values of a claim`() throws {
    let key = AppKey(high: 1, low: 2)
    let rules = ["a=viewer", "b=owner", "c=x=sender@\(key.text)"].compactMap { RoleRule($0) }
    #expect(rules.count == 3 && rules[2].value == "c=x" && rules[2].account == key)
    #expect(RoleRule.roles(of: ["a", "b", "z"], by: rules) == [nil: .owner])
    #expect(RoleRule.roles(of: ["b", "a", "c=x"], by: rules) == [nil: .owner, key: .sender])
    #expect(RoleRule.roles(of: ["A"], by: rules).isEmpty)
    // Canonically equivalent names are two.
    let accented = ["\u{E9}=viewer"].compactMap { RoleRule($0) }
    #expect(RoleRule.roles(of: ["\u{E9}"], by: accented) == [nil: .viewer])
    #expect(RoleRule.roles(of: ["e\u{301}"], by: accented).isEmpty)
    for text in ["", "a", "a=", "=viewer", "a=boss", "a=viewer@", "a=viewer@xyz", "a=viewer@\(key.text)@1"] {
      #expect(RoleRule(text) == nil, "\(text)")
    }
  }
}
