import API
import BorealisBase
import Core
import Model
import PushTesting
import Storage
import Testing

@testable import Console

/// What a new account and a new app show.
@Suite struct FirstStepTests {
  @Test func `An account without apps says what to do, to those who may`() async throws {
    let world = try ConsoleWorld()
    let owner = try await world.owner()
    #expect(
      await owner.open("/console/").text.contains(
        "href=\"/console/accounts/1/apps/new\">Create your first app<"))
    let viewer = try await world.member(.viewer, of: .standard, name: "vic")
    let text = await viewer.open("/console/").text
    #expect(text.contains("No apps yet.") && !text.contains("apps/new"))
    _ = try await world.app(of: .standard)
    #expect(await !owner.open("/console/").text.contains("Create your first app"))
  }

  @Test func `First steps tick themselves, and close when the needed ones are done`() async throws {
    let world = try ConsoleWorld()
    let owner = try await world.owner()
    let app = try await world.app(of: .standard)
    let base = "/console/apps/\(app.key.text)"
    let fresh = await owner.open(base).text
    #expect(fresh.contains("0 of 5 done") && fresh.contains("class=\"first\" open"))
    #expect(fresh.contains("href=\"\(base)/virtual\">Open a virtual device<"))
    #expect(fresh.contains("REGISTRATION_ID") && !fresh.contains("\"audience\":\"all\""))
    let device = try await world.device(in: app)
    let started = await owner.open(base).text
    #expect(started.contains("1 of 5 done") && !started.contains(">Open a virtual device</a>"))
    let object = #"{"platform":"all","audience":"all","notification":{"alert":"x"}}"#
    let request = AcceptRequest(try PushRequest.parse(try parseJSON(Array(object.utf8))))
    let accepted = await awaitCallback { done in
      world.router.acceptance.accept(request, for: app) { done($0) }
    }
    let id = try accepted.get().id
    // The app's server has called, and nothing has arrived.
    #expect(await owner.open(base).text.contains("2 of 5 done"))
    let number = try #require(app.directory.find(device))
    await world.acknowledge(id, by: number, in: app)
    let done = await owner.open(base).text
    #expect(done.contains("3 of 5 done") && done.contains("<details class=\"first\">"))
    let viewer = try await world.member(.viewer, of: .standard, name: "vic")
    let seen = await viewer.open(base).text
    #expect(seen.contains("3 of 5 done") && !seen.contains("settings/credentials"))
  }
}
