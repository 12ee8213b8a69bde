import BorealisBase
import Core
import Model
import PushTesting
import Storage
import Testing

@testable import Console

/// The numbers of the day on an app's first page, and what needs attention.
@Suite struct OverviewTests {
  private static let clock = ManualClock()

  private static func world() async throws -> (ConsoleWorld, App, Browser, String) {
    let world = try ConsoleWorld()
    let app = try await world.app(of: .standard)
    return (world, app, try await world.owner(), "/console/apps/\(app.key.text)")
  }

  @Test(arguments: [
    (5, 0, nil), (0, 0, nil), (112, 100, "+12%"), (88, 100, "−12%"), (100, 100, "±0%"), (1, 3000, "−100%"),
    (40_000, 10, "+399,900%"),
  ])
  func `A change is in percent, and needs something to compare with`(now: Int, then: Int, text: String?) {
    #expect(TodayTiles.change(now, since: then) == text)
  }

  @Test func `The day so far is compared with the same complete hours a week ago`() async throws {
    let (world, app, browser, path) = try await Self.world()
    let hour = world.router.zone.local(Self.clock.now()).count / 3600
    let midnight = hour / 24 * 24
    try #require(hour - midnight > 2)
    _ = try await world.store.change { transaction throws(StorageError) in
      for (hour, pushes) in [
        (hour, 7), (hour - 1, 20), (midnight, 4), (midnight - 1, 500), (hour - 168, 900), (hour - 169, 10),
        (midnight - 168, 10), (midnight - 169, 900),
      ] {
        var row = StatisticsRow()
        (row.pushes, row.acknowledged, row.accepted[.apns], row.arrived[.apns]) = (pushes, pushes, 1000, 2)
        row.online = 3
        try transaction.statistics.add(app: app.id, hour: hour, row)
      }
    }
    let page = await browser.open(path).text
    #expect(page.contains("<span>Pushes today</span><strong>31</strong>"))
    #expect(page.contains(">+20% on a week ago</span>"))
    // What a service only accepted is not counted.
    #expect(page.contains("<span>Delivered today</span><strong>37</strong>"))
    #expect(page.contains("<span>Tapped today</span><strong>0</strong></div>"))
    #expect(page.contains("<svg class=\"spark\""))
  }

  @Test func `What needs attention is listed, with the page where it is mended`() async throws {
    let (world, app, browser, path) = try await Self.world()
    let calm = await browser.open(path).text
    #expect(calm.contains("Nothing needs attention") && !calm.contains("<svg class=\"spark\""))
    _ = try await world.device(in: app)
    _ = try await world.store.change { transaction throws(StorageError) in
      try transaction.plans.set(PlanRow(name: "tiny", registrations: 1))
      return try transaction.apps.setPlan(app: app.id, "tiny")
    }
    while app.plan.registrations != 1 { world.router.tick() }
    let full = await browser.open(path).text
    #expect(
      full.contains("href=\"\(path)/settings/limits\">The app has as many devices as its plan allows.</a>"))
    #expect(!full.contains("Nothing needs attention"))
    let viewer = try await world.member(.viewer, of: .standard, name: "vic")
    let seen = await viewer.open(path).text
    #expect(seen.contains("as many devices as its plan allows") && !seen.contains("/settings/limits"))
  }
}
