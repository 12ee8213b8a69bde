import BorealisBase
import Dispatch
import Glibc
import Model
import PushTesting
import Storage
import Synchronization
import Testing

@testable import Core

/// What is written late is written in its order.
@Suite struct WriteBehindTests {
  /// One thread has taken an acknowledgement to write it, and another writes the push's end meanwhile:
  /// whoever acknowledged is told of first.
  @Test func acknowledgementsComeBeforeTheEnd() async throws {
    let world = try await TestWorld()
    let devices = try await world.registerMany(2)
    let told = RecordedOrder()
    world.router.journal.add(told)
    let id = try await world.push(to: devices)
    let (app, writeBehind, clock) = (world.app, world.router.writeBehind, world.clock)
    world.router.deliveries.acknowledge([id], by: devices[0].number, in: app)
    let end = app.directory.acknowledge([id], by: devices[1].number)
    #expect(end.ended.count == 1)

    let (isLocked, unlock, done) = (Gate(), Gate(), Gate())
    _ = WatchedThread {
      // Whoever writes an acknowledgement asks the directory how far the push is.
      app.directory.state.withLock { _ in
        isLocked.open()
        unlock.wait()
      }
    }
    isLocked.wait()
    let first = WatchedThread {
      writeBehind.flush()
      done.open()
    }
    first.awaitRest()
    writeBehind.note(end, of: app, at: clock.now())
    let second = WatchedThread {
      writeBehind.flushEnds()
      done.open()
    }
    second.awaitRest()
    unlock.open()
    done.wait()
    done.wait()
    try await world.barrier()
    #expect(told.events.withLock { $0 } == ["delivered \(devices[0].number.rawValue)", "ended"])
  }

  /// However fast new pushes come, and whatever the database is busy with.
  @Test func `Acknowledgements go ahead of pushes that wait, before a second is over`() async throws {
    let world = try await TestWorld()
    let device = try await world.register()
    let (first, second) = (try await world.push(to: [device]), try await world.push(to: [device]))
    let (app, deliveries, clock) = (world.app, world.router.deliveries, world.clock)
    #expect(deliveries.unstoredSeconds == 0)
    deliveries.acknowledge([first], by: device.number, in: app)
    deliveries.flushOld()
    #expect(world.router.writeBehind.isEmpty == false, "they share a commit")
    clock.advance(milliseconds: 500)
    #expect(deliveries.unstoredSeconds == 0.5)

    let goOn = Gate()
    let order = Mutex<[Bool]>([])
    goOn.hold(world.store)
    for _ in 0..<3 {
      world.store.write { transaction throws(StorageError) in
        try transaction.deliveries.outcome(of: first)?.status
      } completion: { result in
        order.withLock { $0.append((try? result.get()) == .delivered) }
      }
    }
    // Whoever acknowledges something when the oldest has waited for long has all written.
    deliveries.acknowledge([second], by: device.number, in: app)
    #expect(world.router.writeBehind.isEmpty)
    clock.advance(milliseconds: 100)
    #expect(deliveries.unstoredSeconds > 0.5, "until it is stored")
    goOn.open()
    try await world.barrier()
    #expect(order.withLock { $0 } == [true, true, true])
    #expect(deliveries.unstoredSeconds == 0)
    #expect(try await world.outcome(of: second)?.status == .delivered)
  }

  /// A device that says how long it has had a push that was recalled since is believed, as always.
  @Test func lateAcknowledgementsHaveTheirOwnMoments() async throws {
    let world = try await TestWorld()
    let devices = try await world.registerMany(2)
    let told = RecordedOrder()
    world.router.journal.add(told)
    let id = try await world.push(to: devices)
    _ = try await world.recall(id).get()
    let accepted = world.clock.now()
    world.clock.advance(seconds: 600)
    for (device, age) in zip(devices, [599_000, nil] as [UInt32?]) {
      let arrival = Arrival(id, acknowledgedAt: world.clock.now(), age: age)
      world.router.deliveries.acknowledge([arrival], by: device.number, in: world.app)
    }
    try await world.tick()
    #expect(
      told.moments.withLock { $0 } == [
        devices[0].number: accepted.adding(seconds: 1), devices[1].number: accepted.adding(seconds: 600),
      ])
  }
}

/// What the database refuses for its own sake.
extension WriteBehindTests {
  /// A device's window would stay full for ever, and every other device's with it.
  @Test(arguments: [1, 100]) func `A push that cannot be stored holds up no other`(targets: Int) async throws
  {
    let world = try await TestWorld()
    let devices = try await world.registerMany(targets)
    let here = world.login(devices[0])
    var ids: [MessageID] = []
    for _ in 0..<3 { ids.append(try await world.push(to: devices)) }
    _ = world.channel.drain()
    world.router.journal.add(Refusal(of: ids[1]))
    world.router.deliveries.acknowledge(ids, by: devices[0].number, in: world.app, from: here)
    try await world.tick()
    #expect(world.channel.drain() == [], "it may be for the better")
    try await world.tick()
    #expect(world.channel.drain() == [.stored([here: 3])])
    #expect(world.router.writeBehind.isEmpty)
    try await world.restart(isOrderly: false)
    #expect(world.pending(devices[0]) == [ids[1]], "as after a crash")
  }

  @Test func `Words that cannot be stored cost no others`() async throws {
    let world = try await TestWorld()
    let device = try await world.register()
    let ids = [try await world.push(), try await world.push(), try await world.push()]
    world.router.journal.add(Refusal(of: ids[1]))
    let words = ids.map { (id: $0, kind: DeviceReports.Kind.shown) }
    world.router.writeBehind.note(words, by: device.number, of: world.app.id, at: world.clock.now())
    // All of them, then each alone.
    for _ in 0..<2 { try await world.tick() }
    #expect(world.router.writeBehind.wordCount == 1, "it may be for the better")
    for _ in 0..<2 { try await world.tick() }
    #expect(world.router.writeBehind.wordCount == 0)
    var shown: [Int?] = []
    for id in ids { shown.append(try await world.targets(of: id)?.shown.count) }
    #expect(shown == [1, 0, 1])
  }
}

/// What waits when the server stops.
extension WriteBehindTests {
  @Test func `What is refused at the end loses only itself, and the log tells what was lost`() async throws {
    let world = try await TestWorld()
    let device = try await world.register()
    var ids: [MessageID] = []
    for _ in 0..<5 { ids.append(try await world.push()) }
    world.router.journal.add(Refusal(of: ids[1]))
    world.router.deliveries.acknowledge(ids, by: device.number, in: world.app)
    world.router.writeBehind.note(
      ids.map { (id: $0, kind: .shown) }, by: device.number, of: world.app.id, at: world.clock.now())
    try await world.restart(isOrderly: true)
    #expect(world.pending(device) == [ids[1]])
    for id in ids where id != ids[1] {
      #expect(try await world.outcome(of: id)?.status == .delivered)
      #expect(try await world.targets(of: id)?.shown.count == 1)
    }
  }

  @Test func `What cannot be written for now at the end is tried again while there is time`() async throws {
    let world = try await TestWorld()
    let device = try await world.register()
    let ids = [try await world.push(), try await world.push()]
    let lines = Mutex<[String]>([])
    let writeBehind = WriteBehind(
      store: world.store, scope: .all, journal: world.router.journal, time: world.clock,
      log: Log(write: { line in lines.withLock { $0.append(String(decoding: line, as: UTF8.self)) } }),
      stored: { _ in })
    let full = PassingRefusal(times: 3)
    world.router.journal.add(full)
    writeBehind.note(
      ids.map { (id: $0, kind: .shown) }, by: device.number, of: world.app.id, at: world.clock.now())
    writeBehind.finish { true }
    #expect(writeBehind.isEmpty && full.left.withLock { $0 } == 0)
    for id in ids { #expect(try await world.targets(of: id)?.shown.count == 1) }
    #expect(lines.withLock { $0 }.isEmpty)

    // It does not wait for ever.
    full.left.withLock { $0 = .max }
    writeBehind.note(
      ids.map { (id: $0, kind: .tapped) }, by: device.number, of: world.app.id, at: world.clock.now())
    writeBehind.finish { true }
    #expect(writeBehind.wordCount == 2)
    let told = lines.withLock { $0 }
    #expect(told.count == 1 && told[0].contains("some acknowledgements were not stored"), "\(told)")
    #expect(told.first?.contains("reports=2") == true, "\(told)")
  }
}

/// As of a full disk, so many times.
private final class PassingRefusal: DeliveryObserver {
  let left: Mutex<Int>

  init(times: Int) { left = Mutex(times) }

  func stored(_ events: [DeliveryEvent], in transaction: WriteTransaction) throws(StorageError) {
    let isFull = left.withLock { left in
      defer { left = max(0, left - 1) }
      return left > 0
    }
    if isFull { throw StorageError(.busy, "on purpose") }
  }
}

/// A row of one push that the schema does not take.
private final class Refusal: DeliveryObserver {
  private let id: MessageID

  init(of id: MessageID) { self.id = id }

  func stored(_ events: [DeliveryEvent], in transaction: WriteTransaction) throws(StorageError) {
    if events.contains(where: { $0.push == id }) { throw StorageError(.constraint, "on purpose") }
  }
}

/// A thread of which it is known whether it waits for something.
private final class WatchedThread: Sendable {
  private let path = Mutex("")
  private let isOver = Atomic<Bool>(false)

  init(_ body: @escaping @Sendable () -> Void) {
    let started = Gate()
    DispatchQueue(label: "watched").async { [self] in
      var name = [CChar](repeating: 0, count: 64)
      _ = readlink("/proc/thread-self", &name, name.count - 1)
      path.withLock {
        $0 = "/proc/" + String(decoding: name.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self)
      }
      started.open()
      body()
      isOver.store(true, ordering: .releasing)
    }
    started.wait()
  }

  /// Returns when it is over, or sleeps.
  func awaitRest() {
    while !isOver.load(ordering: .acquiring), !isAsleep { sched_yield() }
  }

  private var isAsleep: Bool {
    guard let file = fopen(path.withLock { $0 } + "/stat", "r") else { return false }
    defer { fclose(file) }
    var line = [UInt8](repeating: 0, count: 256)
    let count = fread(&line, 1, line.count, file)
    // PID, name in parentheses, state.
    return String(decoding: line.prefix(count), as: UTF8.self).contains(") S ")
  }
}

/// Notes what is told of acknowledgements.
private final class RecordedOrder: DeliveryObserver {
  let events = Mutex<[String]>([])
  let moments = Mutex<[RegistrationNumber: Timestamp]>([:])

  func stored(_ events: [DeliveryEvent], in transaction: WriteTransaction) throws(StorageError) {
    transaction.whenCommitted { [self] in note(events) }
  }

  private func note(_ events: [DeliveryEvent]) {
    for event in events {
      switch event.what {
      case .delivered(let numbers, _), .proven(let numbers, _):
        for (index, number) in numbers.enumerated() {
          self.events.withLock { $0.append("delivered \(number.rawValue)") }
          moments.withLock { $0[number] = event.moment(index) }
        }
      case .ended: self.events.withLock { $0.append("ended") }
      case .refused, .arrived, .denied, .confirmed, .shown, .tapped: break
      }
    }
  }
}
