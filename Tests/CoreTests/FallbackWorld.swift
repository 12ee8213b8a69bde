import BorealisBase
import Channels
import Glibc
import Model
import PushTesting
import Storage

@testable import Core

/// A router with a channel that writes notifications to a file, for pushes that it takes over after a time.
final class FallbackWorld {
  static let channel = ChannelID(rawValue: 200)
  private static let slot = TokenSlot(channel, kind: 1)

  let world: TestWorld
  private let folder = TemporaryFolder()
  private var file: FileChannel
  private let capacity: Int
  private let calls: Bool

  init(
    capacity: Int = .max, calls: Bool = false, options: RouterOptions = RouterOptions()
  ) async throws {
    world = try await TestWorld(options: options)
    self.capacity = capacity
    self.calls = calls
    file = FileChannel(
      world.router, world.store, path: folder.file("lines"), capacity: capacity,
      fallsBack: true, calls: calls, time: world.clock)
    world.router.add(file)
  }

  deinit {
    // Else the router and the channel hold each other until the process ends.
    world.router.unplug()
  }

  /// Starts anew from the database, without anything that was to be written late.
  func restart() async throws {
    let before = world.router
    try await world.restart(isOrderly: false)
    before.unplug()
    file = FileChannel(
      world.router, world.store, path: folder.file("lines"), capacity: capacity,
      fallsBack: true, calls: calls, time: world.clock)
    world.router.add(file)
    file.start { _ in }
  }

  /// Has the channel take over nothing, or again.
  func fill(_ isFull: Bool) { file.fill(isFull) }

  /// A device that the channel knows by a word.
  func phone(_ word: String, isOnline: Bool = true, fingerprint: [UInt8] = []) async throws -> TestDevice {
    let phone = try await world.register(fingerprint: fingerprint)
    try await setToken(word, phone)
    if isOnline { _ = world.login(phone) }
    return phone
  }

  func setToken(_ word: String, _ phone: TestDevice) async throws {
    let result = await awaitCallback { done in
      world.router.registrations.setTokens(
        [PushToken(Self.slot, .only, Array(word.utf8))], of: phone.number, in: world.app
      ) { done($0) }
    }
    try result.get()
  }

  func push(
    to phones: [TestDevice]? = nil, after seconds: Int? = 10, timeToLive: Int = 100,
    _ parts: PushParts = .notification, _ strategy: Strategy = .jpush, overrides: MessageID? = nil
  ) async throws -> MessageID {
    var request = AcceptRequest.test(to: phones, timeToLive: timeToLive, overrides: overrides)
    request.push.content = PushContent(variants: [
      ContentVariant(
        platforms: .all, notification: parts.contains(.notification) ? Array(#"{"alert":"x"}"#.utf8) : [],
        message: parts.contains(.message) ? Array(#"{"msg_content":"x"}"#.utf8) : [])
    ])
    request.push.options.strategy = strategy
    request.push.options.fallbackAfter = seconds
    return try await world.accept(request).get().id
  }

  func acknowledge(_ id: MessageID, _ phones: TestDevice...) async throws {
    for phone in phones { world.router.deliveries.acknowledge([id], by: phone.number, in: world.app) }
  }

  /// Lets seconds go by one after the other, with all that happens in them.
  func run(_ seconds: Int) async throws {
    for _ in 0..<seconds {
      world.clock.advance(seconds: 1)
      try await turn()
    }
  }

  /// The work of a tick, and what follows from it.
  func turn() async throws {
    try await world.tick()
    file.tick()
    for _ in 0..<4 {
      repeat {
        try await settle()
        file.finish()
      } while file.isWorking
    }
    try await world.tick()
  }

  /// Waits until nothing is being handed over, and until reads that were asked for are done.
  private func settle() async throws {
    repeat {
      for _ in 0..<3 {
        _ = try await world.store.look { transaction throws(StorageError) in try transaction.pushes.lastID() }
      }
      try await world.barrier()
    } while world.router.deliveries.fallbacks.isBusy || world.router.deliveries.heldPushes.isBusy
  }

  /// Has the channel wait for its service.
  func pauseChannel() { file.queue(of: world.app).set(nil, isStopped: true, for: .only) }

  /// A device connects, and the channel learns that.
  func connect(_ phone: TestDevice) {
    _ = world.login(phone)
    file.queue(of: world.app).reached(phone.number)
  }

  /// What the channel's service got: the push and the word of the device, in the order of the words.
  var lines: [String] {
    TemporaryFolder.read(folder.file("lines")).split(separator: "\n").map { String($0) }.sorted()
  }

  func targets(_ id: MessageID) async throws -> PushTargets {
    guard let targets = try await world.targets(of: id) else { throw StorageError(.other, "no such push") }
    return targets
  }

  /// What is stored of who is waited for.
  func rows(_ id: MessageID) async throws -> [FallbackRow] {
    try await world.store.look { transaction throws(StorageError) in try transaction.fallbacks.rows(of: id) }
  }

  /// What does not add up.
  func problems() async throws -> [String] {
    let now = world.clock.now()
    return try await world.store.look { transaction throws(StorageError) in
      try TargetAudit.problems(in: transaction, at: now)
    }
  }

  func report(_ id: MessageID) async throws -> PushReport {
    let result = await awaitCallback { done in
      world.router.reports.report(on: id, in: world.app) { done($0) }
    }
    guard let report = try result.get() else { throw StorageError(.other, "no such push") }
    return report
  }

  func why(_ id: MessageID, _ phone: TestDevice) async throws -> Diagnosis {
    let result = await awaitCallback { done in
      world.router.diagnostics.diagnose(id, .there(phone.number), in: world.app) {
        done($0)
      }
    }
    guard let diagnosis = try result.get() else { throw StorageError(.other, "no such push") }
    return diagnosis
  }
}
