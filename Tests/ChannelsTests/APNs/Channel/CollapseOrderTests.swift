import BorealisBase
import Core
import Model
import PushTesting
import Storage
import Testing

@testable import Channels

/// What Apple puts off must not take the place of what is newer: neither its banner nor its number on the
/// icon.
@Suite(.timeLimit(.minutes(5))) struct CollapseOrderTests {
  private static let alert = #"{"ios":{"alert":"x"}}"#
  private static let collapsing = #"{"apns_collapse_id":"score"}"#

  private static func badge(_ change: String) -> String { #"{"ios":{"alert":"x","badge":\#(change)}}"# }

  /// What leaves within so many seconds.
  private func leaving(_ scene: QueueScene, within seconds: Int) async throws -> [APNsRequest] {
    var requests: [APNsRequest] = []
    for _ in 0..<seconds where requests.isEmpty {
      try await scene.second()
      requests += try await scene.popRequests()
    }
    return requests
  }

  @Test(arguments: [429, 500]) func `A retry does not replace a newer banner`(status: Int) async throws {
    let scene = try await QueueScene()
    let number = try await scene.register(1)
    let old = try await scene.push(Self.alert, options: Self.collapsing)
    scene.answer(try #require(try await scene.popRequests().first), status)
    let new = try await scene.push(Self.alert, options: Self.collapsing)
    let request = try #require(try await scene.popRequests().first)
    #expect(request.id.high == new.rawValue)
    scene.answer(request, 200)
    #expect(try await leaving(scene, within: 60).isEmpty)
    let targets = try #require(try await scene.targets(of: old))
    #expect(targets.recalled.members() == [number] && targets.pending.isEmpty && targets.failed.isEmpty)
    #expect(try await scene.targets(of: new)?.delivered.members() == [number])
  }

  /// Both are under way, and Apple takes the newer one before it puts the older off.
  @Test(arguments: [APNsResult.unknown, .notSent, .answered(APNsAnswer(status: 503, reason: nil))])
  func `What comes back when a newer one has gone is not sent again`(result: APNsResult) async throws {
    let scene = try await QueueScene()
    let number = try await scene.register(1)
    let old = try await scene.push(Self.alert, options: Self.collapsing)
    let first = try #require(try await scene.popRequests().first)
    _ = try await scene.push(Self.alert, options: Self.collapsing)
    scene.answer(try #require(try await scene.popRequests().first), 200)
    scene.answer(first, result)
    #expect(try await leaving(scene, within: 60).isEmpty)
    #expect(try await scene.targets(of: old)?.recalled.members() == [number])
  }

  /// As long as nobody knows what Apple does with the newer one, the older one waits; it is not lost with it.
  @Test func `A retry waits for the answer about a newer one`() async throws {
    let scene = try await QueueScene()
    _ = try await scene.register(1)
    let old = try await scene.push(Self.alert, options: Self.collapsing)
    scene.answer(try #require(try await scene.popRequests().first), 429)
    _ = try await scene.push(Self.alert, options: Self.collapsing)
    let newer = try #require(try await scene.popRequests().first)
    #expect(try await leaving(scene, within: 60).isEmpty)
    scene.answer(newer, 400, "PayloadEmpty")
    let again = try #require(try await leaving(scene, within: 60).first)
    #expect(again.id.high == old.rawValue)
    scene.answer(again, 200)
    try await scene.second()
    #expect(try await scene.targets(of: old)?.delivered.count == 1)
  }

  @Test(arguments: ["{}", #"{"apns_collapse_id":"other"}"#])
  func `Another collapse ID changes nothing`(options: String) async throws {
    let scene = try await QueueScene()
    _ = try await scene.register(1)
    _ = try await scene.register(2)
    let old = try await scene.push(Self.alert, options: Self.collapsing)
    let requests = try await scene.popRequests()
    try #require(requests.count == 2)
    scene.answer(requests[0], 200)
    scene.answer(requests[1], 429)
    _ = try await scene.push(Self.alert, options: options)
    for request in try await scene.popRequests() { scene.answer(request, 200) }
    let again = try await leaving(scene, within: 60)
    #expect(again.map(\.id.high) == [old.rawValue])
    #expect(again.map(\.deviceToken) == [requests[1].deviceToken])
  }

  // MARK: Numbers on the icon

  @Test(arguments: [(#""+1""#, #""+1""#, 2), ("5", "6", 6), ("6", "5", 5), (#""+1""#, "0", 0)])
  func `A retry does not set an older number`(old: String, new: String, shown: Int) async throws {
    let scene = try await QueueScene()
    _ = try await scene.register(1)
    _ = try await scene.push(Self.badge(old))
    scene.answer(try #require(try await scene.popRequests().first), 429)
    _ = try await scene.push(Self.badge(new))
    let newer = try #require(try await scene.popRequests().first)
    #expect(String(decoding: newer.payload, as: UTF8.self).contains(#""badge":\#(shown)"#))
    scene.answer(newer, 200)
    let again = try #require(try await leaving(scene, within: 60).first)
    #expect(String(decoding: again.payload, as: UTF8.self).contains(#""badge":\#(shown)"#))
  }

  /// When the newer one comes.
  enum Moment: CaseIterable {
    /// The older one is ready to leave.
    case ready
    /// Neither has been looked up.
    case together
    /// The older one was ready before the credential was paused.
    case paused
  }

  /// Pushes to few leave before those to many, which are to all here.
  @Test(
    arguments: Moment.allCases, [(#""+1""#, #""+1""#, 2), ("5", "9", 9)] as [(String, String, Int64)])
  func `What leaves after a newer one does not set an older number`(
    moment: Moment, badges: (old: String, new: String, shown: Int64)
  ) async throws {
    let scene = try await QueueScene()
    let number = try await scene.register(1)
    for token in 2...70 { _ = try await scene.register(UInt8(token)) }
    let id = try #require(scene.app.directory.identity(number)?.id)
    let targets = [APNsEnvironment.production, .sandbox].map { ($0, scene.queue.target(for: $0)) }
    func pause() { for (service, _) in targets { scene.queue.set(nil, isStopped: true, for: service) } }
    if moment == .together { pause() }
    _ = try await scene.push(Self.badge(badges.old))
    // What is paused stays to be looked up.
    if moment != .together { try await scene.settle() }
    if moment == .paused { pause() }
    let new = try await scene.push(
      Self.badge(badges.new), to: #"{"registration_id":["\#(id.text)"]}"#)
    for (service, target) in targets { scene.queue.set(target, isStopped: false, for: service) }
    let own = try await scene.popRequests().filter { $0.deviceToken == [1] }
    #expect(own.count == 2 && own.first?.id.high == new.rawValue)
    let last = try #require(own.last)
    #expect(String(decoding: last.payload, as: UTF8.self).contains(#""badge":\#(badges.shown)"#))
    let app = scene.app.id
    let stored = try await scene.world.store.change { transaction throws(StorageError) in
      try transaction.tokens.find(app: app, of: [number], as: APNsTokenSlot.device.slot).first?.badge
    }
    #expect(stored == badges.shown)
  }

  @Test(arguments: [(#""+1""#, #""+1""#, 2), ("5", "9", 9)])
  func `What comes back unsent does not set an older number`(
    old: String, new: String, shown: Int
  ) async throws {
    let scene = try await QueueScene()
    _ = try await scene.register(1)
    _ = try await scene.push(Self.badge(old))
    let first = try #require(try await scene.popRequests().first)
    _ = try await scene.push(Self.badge(new))
    scene.answer(try #require(try await scene.popRequests().first), 200)
    scene.answer(first, .notSent)
    let again = try #require(try await scene.popRequests().first)
    #expect(String(decoding: again.payload, as: UTF8.self).contains(#""badge":\#(shown)"#))
  }

  @Test(arguments: [#""+1""#, "1"]) func `A retry alone keeps its number`(change: String) async throws {
    let scene = try await QueueScene()
    let number = try await scene.register(1)
    _ = try await scene.push(Self.badge(change))
    let first = try #require(try await scene.popRequests().first)
    scene.answer(first, 429)
    let id = scene.app.id
    _ = try await scene.world.store.change { transaction throws(StorageError) in
      try transaction.registrations.setBadge(app: id, number: number, 0)
    }
    let again = try #require(try await leaving(scene, within: 60).first)
    #expect(again.payload == first.payload)
  }
}
