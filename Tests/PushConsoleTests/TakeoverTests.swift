import Dispatch
import PushAccounts
import PushBase
import PushCrypto
import PushHTTP
import PushStorage
import PushTesting
import Testing

@testable import PushConsole

/// Ways into what is somebody else's.
@Suite struct TakeoverTests {
  // MARK: Addresses that look alike

  @Test func `Only ASCII letters of an address have no case`() {
    #expect(EmailAddress.key("Kim@Example.com") == "kim@example.com")
    for (one, other) in [("\u{212a}im@a.example", "kim@a.example"), ("a\u{1fef}@a.example", "a`@a.example")] {
      #expect(EmailAddress.key(one) != EmailAddress.key(other))
      #expect(EmailAddress.isPlausible(one) && !EmailAddress.isAcceptable(one))
      #expect(EmailAddress.isAcceptable(other))
      let signer = BrowserSigner(key: Array(0..<32))
      #expect(signer.name(in: signer.cookie(for: one), for: other) == nil)
    }
  }

  @Test func `Who has an address with the sign for kelvin does not make up for guesses at one with a k`()
    async throws
  {
    let world = try ConsoleWorld()
    let owner = try await world.owner()
    _ = try await world.member(.viewer, of: .standard, name: "kim")
    let thief = Browser(world)
    let guess = ["email": "kim@example.com", "password": "guess"]
    for _ in 0..<9 { #expect(await thief.submit("/console/login", guess).status == 403) }
    _ = try await world.member(.viewer, of: .standard, name: "\u{212a}im")
    #expect(await thief.submit("/console/login", guess).status == 403)
    #expect(await thief.submit("/console/login", guess).status == 429)
    _ = await owner.open("/console/accounts/1/people")
    let invited = ["email": "\u{212a}ai@example.com", "role": "viewer"]
    let answer = await owner.submit("/console/accounts/1/people/invite", invited)
    #expect(answer.status == 422 && answer.text.contains("Enter a valid email address."))
  }
}
