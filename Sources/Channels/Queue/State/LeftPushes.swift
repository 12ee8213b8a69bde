import BorealisBase
import Core
import Model
import Storage

/// What a queue knows of its pushes that are only in the database, for devices that connect: a pass over all
/// of them looks for those to one device each, of all devices that have come before it began.
struct LeftPushes: Sendable {
  /// What is looked through at a time.
  struct Page: Sendable {
    let devices: NumberSet
    let after: MessageID
    /// Later pushes have not waited for long enough.
    let until: MessageID
    let limit = 2048
    /// Pushes that are read of it.
    let mostFound = 64
  }

  /// What was found on a page, and after which push to go on; nil after the last.
  struct Found: Sendable {
    var pushes: [(row: OpenChannelPush, number: RegistrationNumber)] = []
    var next: MessageID?
  }

  /// Pages a second, so that passes over millions of pushes leave most of a reader's time to others.
  private static let pagesEachSecond = 16

  /// The devices that have come since the last pass began.
  private var waiting = NumberSet()
  /// The next page of a pass.
  private var page: Page?
  private var pagesLeft = 0
  private(set) var isReading = false
  /// Pushes that the direct connection has got instead, until their ends are stored: who reads before gets
  /// them again.
  private var ending: Set<MessageID> = []

  /// Whether what is only in the database may be read.
  var isSettled: Bool { !isReading && ending.isEmpty }

  /// Whether there is nothing to look for.
  var isIdle: Bool { isSettled && page == nil && waiting.isEmpty }

  /// A device has connected.
  mutating func came(_ number: RegistrationNumber) { waiting.insert(number) }

  /// Devices are connected.
  mutating func came(_ numbers: NumberSet) { waiting.formUnion(numbers) }

  /// Begins a pass if devices have come, for pushes from before a moment. Call once a second.
  mutating func tick(before moment: Timestamp) {
    pagesLeft = Self.pagesEachSecond
    guard !isReading, page == nil, !waiting.isEmpty else { return }
    page = Page(devices: waiting, after: MessageID(0), until: MessageID(firstAt: moment))
    waiting = NumberSet()
  }

  /// Ends the pass, since all pushes are in memory. Returns the devices whose pushes it has not looked for.
  mutating func end() -> NumberSet {
    guard !isReading else { return NumberSet() }
    defer { (waiting, page) = (NumberSet(), nil) }
    return waiting.union(page?.devices ?? NumberSet())
  }

  /// Begins the next page, of pushes above an ID; nil if there is none now.
  mutating func next(above id: MessageID) -> Page? {
    guard isSettled, pagesLeft > 0, let page else { return nil }
    pagesLeft -= 1
    isReading = true
    return Page(devices: page.devices, after: max(page.after, id), until: page.until)
  }

  /// A page was looked through. After a failure it is again, in the next second.
  mutating func turn(_ result: Result<Found, StorageError>) {
    isReading = false
    switch result {
    case .success(let found):
      page = page.flatMap { page in
        found.next.map { Page(devices: page.devices, after: $0, until: page.until) }
      }
    case .failure: pagesLeft = 0
    }
  }

  /// The direct connection has got a push.
  mutating func end(_ id: MessageID) { ending.insert(id) }

  /// The ends of pushes are stored.
  mutating func stored(_ ends: [ChannelAnswers]) {
    if !ending.isEmpty { for end in ends { ending.remove(end.id) } }
  }
}

extension ChannelAnswers {
  /// The end of a push whose one device has connected; nil if it is to wait for its service. `results` are
  /// stored.
  init?(
    _ push: ChannelPush, of channel: ChannelID, _ parts: [QueuedPart], results: LegOutcomes,
    connected number: RegistrationNumber, at now: Timestamp
  ) {
    var legs = parts.map {
      ActivePush(push, $0, results: results[DeliveryLeg(channel, $0.leg)] ?? [:], at: now)
    }
    guard legs.contains(where: { $0.awaits(number) }) else { return nil }
    for index in legs.indices {
      // An earlier run may have tried what is sent at most once.
      let part = legs[index].part
      guard part.fallsBack, !part.isTriedOnce, now < legs[index].expires else { return nil }
      legs[index].finish(number, ChannelEnd.connected)
      guard legs[index].left == 0 else { return nil }
    }
    self.init(push.id, of: channel, legs, isFinal: true)
  }
}
