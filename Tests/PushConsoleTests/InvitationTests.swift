import PushAccounts
import PushBase
import PushHTTP
import PushStorage
import PushTesting
import Testing

@testable import PushConsole

/// Bounds of invitations and of their mail.
@Suite struct InvitationTests {
  private static let people = "/console/accounts/1/people"

  private func invite(_ owner: Browser, _ email: String) async -> (status: Int, text: String) {
    _ = await owner.open(Self.people)
    return await owner.submit("\(Self.people)/invite", ["email": email, "role": "viewer"])
  }

  @Test func `An account has a hundred open invitations`() async throws {
    let world = try ConsoleWorld()
    let owner = try await world.owner()
    try await world.store.change { t throws(StorageError) in
      let now = ManualClock().now()
      for number in 0..<NewInvitation.mostOpen {
        try t.invitations.add(
          tokenHash: WebToken.hash("\(number)"), to: .standard, as: .viewer, email: "\(number)@example.com",
          by: PersonID(1), at: now, expiresAt: now.adding(seconds: 1000))
      }
    }
    let refused = await invite(owner, "ben@example.com")
    #expect(refused.status == 422 && refused.text.contains("already has 100 open invitations"))
    #expect(await !owner.open(Self.people).text.contains("ben@"))
    // Another one to the same address takes its place.
    #expect(await invite(owner, "7@example.com").status == 200)
  }
}
