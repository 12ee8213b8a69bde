import BorealisBase
import Model
import PushTesting
import Storage
import Testing

@testable import Core

/// The list of an app's devices.
@Suite struct DeviceListTests {
  private struct Known {
    let device: TestDevice
    let platform: Platform
    var tags: [String] = []
    /// The same number for devices that were seen in the same second.
    var seen: UInt32
    var isOnline = false
  }

  /// Whatever happens to devices, the pages of each filter together are the devices that match, in order.
  @Test(arguments: 0..<6) func `Pages hold what plain sorting says`(seed: UInt64) async throws {
    var random = SeededRandom(seed: seed)
    let world = try await TestWorld()
    var all: [Known] = []
    for _ in 0..<60 {
      if Int.random(in: 0..<3, using: &random) == 0 { world.clock.advance(seconds: 7) }
      let platform = Platform.allCases.randomElement(using: &random) ?? .ios
      let device = try await world.register(platform: platform)
      var known = Known(device: device, platform: platform, seen: world.clock.seconds)
      if Bool.random(using: &random) {
        known.tags = ["red", "blue", "green", "gold", "grey"].filter { _ in Bool.random(using: &random) }
        _ = await world.change(DeviceChange(tags: .set(known.tags)), of: device)
      }
      all.append(known)
    }
    for place in all.indices where Bool.random(using: &random) {
      world.clock.advance(seconds: 3)
      let location = world.login(all[place].device)
      (all[place].seen, all[place].isOnline) = (world.clock.seconds, Bool.random(using: &random))
      guard !all[place].isOnline else { continue }
      world.app.directory.disconnect(
        all[place].device.number, from: location, at: world.clock.seconds, end: .heartbeatLost)
    }
    for round in 0..<20 {
      var filter = DeviceFilter()
      if Bool.random(using: &random) { filter.isOnline = Bool.random(using: &random) }
      if Bool.random(using: &random) { filter.tag = Bool.random(using: &random) ? "red" : "blue" }
      if Bool.random(using: &random) {
        filter.platforms = [PlatformSet(.ios), .all].randomElement(using: &random) ?? .all
      }
      let expected = all.filter { known in
        (filter.isOnline ?? known.isOnline) == known.isOnline
          && filter.tag.map(known.tags.contains) != false && filter.platforms.contains(known.platform)
      }.sorted { left, right in
        (left.isOnline ? UInt32.max : left.seen, left.device.number)
          > (right.isOnline ? UInt32.max : right.seen, right.device.number)
      }
      var (found, place): ([DeviceList.Entry], DevicePlace?) = ([], nil)
      repeat {
        let page = try await world.router.deviceLists.list(
          filter, of: world.app, after: place, limit: Int.random(in: 1...30, using: &random)
        ).get()
        #expect(page.count == expected.count)
        found += page.entries
        place = page.end
        if let at = place { #expect(DevicePlace(at.text) == at) }
      } while place != nil
      #expect(found.map(\.row.number) == expected.map(\.device.number), "\(round)")
      for (entry, known) in zip(found, expected) {
        #expect(entry.isOnline == known.isOnline && entry.lastSeen?.seconds == Int64(known.seen))
        #expect(entry.row.tags.count == known.tags.count && Set(entry.tags).isSubset(of: known.tags))
        #expect(entry.tags.count == min(3, known.tags.count))
      }
    }
  }

  @Test func `Aliases, tokens of a service and segments narrow the list`() async throws {
    let world = try await TestWorld()
    world.router.add(SilentAPNs())
    let token = [UInt8](repeating: 0xab, count: 32)
    let phone = try await world.register(token: token, platform: .ios)
    let others = try await world.registerMany(3)
    _ = await world.change(DeviceChange(alias: .set("anna")), of: others[1])
    _ = await world.change(DeviceChange(tags: .set(["red"])), of: others[2])
    let segment = try await awaitCallback {
      world.router.segments.add("s", .tag("red"), to: world.app, reply: $0)
    }.get()
    func listed(_ change: (inout DeviceFilter) -> Void) async throws -> [RegistrationNumber] {
      var filter = DeviceFilter()
      change(&filter)
      return try await world.router.deviceLists.list(filter, of: world.app, limit: 9).get().entries.map(
        \.row.number)
    }
    #expect(try await listed { $0.alias = "anna" } == [others[1].number])
    #expect(try await listed { $0.segment = segment.id } == [others[2].number])
    #expect(try await listed { $0.channel = .apns } == [phone.number])
    #expect(
      try await listed { ($0.channel, $0.services) = (.apns, .production) } == [phone.number])
    #expect(try await listed { ($0.channel, $0.services) = (.apns, .sandbox) }.isEmpty)
    guard
      case .failure(.unknown(99)) = await world.router.deviceLists.list(
        {
          var filter = DeviceFilter(); filter.segment = 99; return filter
        }(), of: world.app, limit: 9)
    else { return #expect(Bool(false), "a segment that does not exist") }
  }

  @Test(arguments: ["", "1", "1-", "-1", "1-2-3", "a-1", "4294967296-1", "1-4294967296"])
  func `A place that nobody made is none`(text: String) { #expect(DevicePlace(text) == nil) }
}
