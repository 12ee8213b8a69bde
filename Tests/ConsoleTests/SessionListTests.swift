import BorealisBase
import HTTP
import PushTesting
import Storage
import Testing

@testable import Console

/// The sessions on a person's page.
@Suite struct SessionListTests {
  @Test(
    arguments: [
      (
        "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36",
        "Chrome on Linux"
      ),
      (
        "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36 Edg/131.0.0.0",
        "Edge on Windows"
      ),
      (
        "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Safari/605.1.15",
        "Safari on macOS"
      ),
      (
        "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/131.0 Mobile/15E148 Safari/604.1",
        "Chrome on iPhone"
      ),
      (
        "Mozilla/5.0 (Linux; Android 14; SM-S921B) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/26.0 Chrome/122.0.0.0 Mobile Safari/537.36",
        "Samsung Internet on Android"
      ),
      ("Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0", "Firefox on Linux"),
      ("curl/8.5.0", "curl"), ("my script", "my script"), ("", "Unknown browser"),
    ])
  func `A browser is called by its name and system`(agent: String, name: String) {
    #expect(BrowserName.phrase(agent)[.english] == name)
  }

  @Test func `All other sessions end, and this one stays`() async throws {
    let world = try ConsoleWorld()
    _ = try await world.owner()
    let first = try await world.member(.viewer, of: .standard, name: "pat")
    let second = Browser(world)
    _ = await second.submit(
      "/console/login", ["email": "pat@example.com", "password": ConsoleWorld.password])
    // More than the page lists.
    try await world.store.change { transaction throws(StorageError) in
      guard let pat = try transaction.people.find(email: "pat@example.com") else { return }
      for number in 0..<120 as Range<UInt8> {
        try transaction.consoleSessions.add(
          tokenHash: [UInt8](repeating: number, count: 32), of: pat.id, address: "", agent: "old",
          at: Timestamp(milliseconds: 0))
      }
    }
    #expect(await second.open("/console/me").text.contains("Log out everywhere else"))
    #expect(await first.call("GET", "/console/me").status == 200)
    let ended = await second.submit("/console/me/sessions/end-others")
    #expect(ended.text.contains("All other sessions were ended."))
    #expect(!ended.text.contains("Log out everywhere else"))
    #expect(await first.call("GET", "/console/me").status == 303)
    let left = try await world.store.look { transaction throws(StorageError) -> Int in
      guard let pat = try transaction.people.find(email: "pat@example.com") else { return 0 }
      return try transaction.consoleSessions.all(of: pat.id).count
    }
    #expect(left == 1)
    #expect(await second.call("GET", "/console/me").status == 200)
  }
}
