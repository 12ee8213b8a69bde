import BorealisBase
import Model
import PushTesting
import Storage
import Synchronization
import Testing

@testable import Core

/// Receipts of channels' services: what becomes of targets that a service took a push for, whatever the
/// order.
@Suite struct ServiceReceiptTests {
  private let world: TestWorld
  private let told = RecordedReceipts()
  private let phones: [TestDevice]
  private let id: MessageID

  init() async throws {
    world = try await TestWorld()
    world.router.add(SilentAPNs())
    world.router.journal.add(told)
    var phones: [TestDevice] = []
    for name in ["a", "b", "c"] {
      phones.append(try await world.register(token: Array(name.utf8), platform: .ios))
    }
    self.phones = phones
    var request = AcceptRequest.test(timeToLive: 1000)
    request.push.content = try .test(.notification)
    id = try await world.accept(request).get().id
  }

  private func accept(_ phones: [TestDevice]) async {
    let numbers = NumberSet(phones.map(\.number))
    let answers = ChannelAnswers(
      id: id, channel: .apns, results: [.apns: [ChannelEnd.delivered: numbers]],
      news: [.apns: [ChannelEnd.delivered: numbers]], isFinal: true)
    await awaitCallback { done in
      world.router.deliveries.store(answers, of: world.app) { _ in done(()) }
    }
  }

  private func say(_ receipt: PushReceipt, _ phone: TestDevice, at seconds: Int64 = 0) async throws {
    world.router.deliveries.note(
      receipt, of: id, by: phone.number, in: world.app, since: world.clock.now().adding(seconds: seconds))
    try await world.tick()
  }

  private func targets() async throws -> PushTargets { try #require(try await world.targets(of: id)) }

  private func report() async throws -> PushReport {
    try #require(
      try await awaitCallback { done in
        world.router.reports.report(on: id, in: world.app) { done($0) }
      }.get())
  }

  @Test func arrivalIsBesideAcceptance() async throws {
    await accept(phones)
    #expect(try await targets().on(.apns).arrived.isEmpty)
    try await say(.arrived, phones[0])
    try await say(.arrived, phones[0])
    try await say(.tapped, phones[1])
    let apns = try await targets().on(.apns)
    #expect(apns.arrived.members() == [phones[0].number, phones[1].number].sorted())
    #expect(apns.accepted.count == 3 && apns.shown.members() == [phones[1].number])
    #expect(told.arrived == [phones[0].number, phones[1].number] && told.denied.isEmpty)
    let report = try await report()
    #expect(report.status == .delivered)
    let funnel = report.funnel(of: .apns)
    #expect((funnel.sent.count, funnel.received.count, funnel.shown.count) == (3, 2, 1))
  }

  @Test func denialTakesOutOfDelivered() async throws {
    await accept(phones)
    #expect(try await report().status == .delivered)
    try await say(.notificationsOff, phones[0])
    // Another reason of the same device is not told again.
    try await say(.deviceInactive, phones[0])
    var targets = try await targets()
    #expect(
      targets.delivered.count == 2 && targets.failed["NotificationsOff"]?.members() == [phones[0].number])
    #expect(targets.on(.apns).handed.count == 3 && targets.on(.apns).accepted.count == 2)
    #expect(told.denied.map(\.reason) == [.notificationsOff])
    #expect(try await world.targets(of: id)?.haveAll == false)
    #expect(try await report().status == .partial)
    for phone in phones.dropFirst() { try await say(.appRemoved, phone) }
    var report = try await report()
    #expect(report.status == .refused && report.targets.failedCount == 3)
    // Evidence of arrival outweighs all of it.
    for phone in phones { try await say(.arrived, phone) }
    targets = try await self.targets()
    report = try await self.report()
    #expect(targets.haveAll && targets.failed.isEmpty && report.status == .delivered)
    // And is never taken back.
    try await say(.notArrived, phones[2])
    #expect(try await self.targets().haveAll)
    #expect(told.denied.count == 3)
    // Each was handed over once, and is told of as the one who has it after all.
    #expect(told.delivered.sorted() == phones.map(\.number).sorted())
    #expect(told.confirmed.sorted() == phones.map(\.number).sorted())
  }

  /// The counts by hour, of the hour of the push and of the one in which the receipts come.
  private func statistics() async throws -> [StatisticsRow] {
    let hour = FixedZone.china.hour(of: id.time)
    let app = world.app.id
    return try await world.store.look { transaction throws(StorageError) in
      try transaction.statistics.find(app: app, hours: hour..<hour + 4).map(\.row)
    }
  }

  @Test func countsByHourAgreeWithReports() async throws {
    await accept(phones)
    #expect(try await statistics().map(\.delivered) == [3])
    // What comes hours later changes the hour of the push, so that no hour has less than nothing.
    world.clock.advance(seconds: 7200)
    try await say(.notificationsOff, phones[0])
    try await say(.appRemoved, phones[1])
    var rows = try await statistics()
    #expect(rows.map(\.delivered) == [1] && rows.first?.delivered(.apns) == 1)
    #expect(rows.first?.accepted == [.apns: 3] && rows.first?.denied == [.apns: 2])
    #expect(try await targets().delivered.count == 1)
    try await say(.arrived, phones[0])
    rows = try await statistics()
    #expect(rows.map(\.delivered) == [2] && rows.first?.accepted == [.apns: 3])
    #expect(rows.first?.denied == [.apns: 1] && rows.first?.refused == 0)
    #expect(try await targets().delivered.count == 2)
  }

  @Test func aReceiptMayBeCountedBeforeTheAnswer() async throws {
    try await say(.superseded, phones[1])
    #expect(try await statistics().map(\.delivered) == [0])
    await accept(phones)
    #expect(try await statistics().map(\.delivered) == [2])
    #expect(try await targets().delivered.count == 2)
  }

  /// A service may answer with the word that another has in its receipts.
  @Test func answersInTheWordsOfReceipts() async throws {
    let (off, rest) = (NumberSet([phones[0].number]), NumberSet(phones.dropFirst().map(\.number)))
    let results = ["NotificationsOff": off, ChannelEnd.delivered: rest]
    let answers = ChannelAnswers(
      id: id, channel: .apns, results: [.apns: results], news: [.apns: results], isFinal: true)
    await awaitCallback { done in
      world.router.deliveries.store(answers, of: world.app) { _ in done(()) }
    }
    try await say(.notificationsOff, phones[1])
    #expect(try await report().status == .partial)
    let targets = try await targets()
    #expect(
      targets.failed["NotificationsOff"]?.members() == phones.prefix(2).map(\.number).sorted())
    #expect(targets.delivered.members() == [phones[2].number])
    #expect(targets.on(.apns).handed.count == 2)
    let row = try await statistics().first
    #expect(row?.delivered == 1 && row?.refused == 1 && row?.denied == [.apns: 1])
  }

  @Test func receiptsMayBeFasterThanTheAnswer() async throws {
    try await say(.arrived, phones[0])
    try await say(.superseded, phones[1])
    #expect(try await targets().delivered.members() == [phones[0].number])
    #expect(try await targets().failed.keys.sorted() == ["Superseded"])
    await accept(phones)
    let targets = try await targets()
    #expect(targets.delivered.members() == [phones[0].number, phones[2].number].sorted())
    #expect(told.arrived == [phones[0].number])
    #expect(told.delivered.sorted() == phones.map(\.number).sorted())
  }

  @Test func onlyTargetsOfTheChannel() async throws {
    let android = try await world.register()
    var request = AcceptRequest.test(timeToLive: 1000)
    request.push.content = try .test(.notification)
    let own = try await world.accept(request).get().id
    world.router.deliveries.note(
      .arrived, of: own, by: android.number, in: world.app, since: world.clock.now())
    world.router.deliveries.note(
      .arrived, of: MessageID(1), by: phones[0].number, in: world.app, since: world.clock.now())
    try await world.tick()
    let targets = try #require(try await world.targets(of: own))
    #expect(!targets.delivered.contains(android.number) && told.arrived.isEmpty)
  }
}

/// What app servers would be told.
private final class RecordedReceipts: DeliveryObserver {
  private struct State {
    var arrived: [RegistrationNumber] = []
    var delivered: [RegistrationNumber] = []
    var confirmed: [RegistrationNumber] = []
    var denied: [(number: RegistrationNumber, reason: ReceiptReason)] = []
  }

  private let state = Mutex(State())
  var arrived: [RegistrationNumber] { state.withLock { $0.arrived } }
  var delivered: [RegistrationNumber] { state.withLock { $0.delivered } }
  var confirmed: [RegistrationNumber] { state.withLock { $0.confirmed } }
  var denied: [(number: RegistrationNumber, reason: ReceiptReason)] { state.withLock { $0.denied } }

  func stored(_ events: [DeliveryEvent], in transaction: WriteTransaction) throws(StorageError) {
    transaction.whenCommitted { [self] in note(events) }
  }

  private func note(_ events: [DeliveryEvent]) {
    state.withLock { state in
      for event in events {
        switch event.what {
        case .arrived(let numbers, _): state.arrived += numbers
        case .denied(let numbers, _, let reason): state.denied += numbers.map { ($0, reason) }
        case .delivered(let numbers, _), .proven(let numbers, _): state.delivered += numbers
        case .confirmed(let numbers, _): state.confirmed += numbers
        case .refused, .shown, .tapped, .ended: break
        }
      }
    }
  }
}
