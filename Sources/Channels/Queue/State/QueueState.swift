import BorealisBase
import Core
import Model
import Storage

/// The deliveries that are ready to be sent to a service.
struct ReadyDeliveries: Sendable {
  private(set) var few = FIFO<Delivery>()
  private(set) var many = FIFO<Delivery>()
  var count: Int { few.count + many.count }

  mutating func append(_ delivery: Delivery, isLarge: Bool, atFront: Bool) {
    switch (isLarge, atFront) {
    case (true, true): many.putBack(delivery)
    case (true, false): many.append(delivery)
    case (false, true): few.putBack(delivery)
    case (false, false): few.append(delivery)
    }
  }

  /// The next delivery of a batch. Pushes to few devices go first; one of every eight places is for pushes to
  /// many, so that they progress too.
  mutating func next(place: Int) -> Delivery? {
    place % 8 == 7
      ? many.popFirst() ?? few.popFirst()
      : few.popFirst() ?? many.popFirst()
  }

  mutating func removeAll() -> [Delivery] { few.removeAll() + many.removeAll() }
}

extension [ServiceID: ReadyDeliveries] {
  /// Those of pushes to few devices, and of pushes to many.
  var waiting: (few: Int, many: Int) {
    values.reduce((few: 0, many: 0)) { ($0.few + $1.few.count, $0.many + $1.many.count) }
  }
}

/// The state of an app's queue to a channel in memory, and its transitions, without I/O.
struct QueueState: Sendable {
  let channel: ChannelID
  var open: [LegKey: ActivePush] = [:]
  var fallingBack = FallingBack()
  var collapsing = CollapsingPushes()
  var badges = BadgeOrder()
  /// The parts whose devices have to be looked up.
  var few = FIFO<LegKey>()
  var many = FIFO<LegKey>()
  var ready: [ServiceID: ReadyDeliveries] = [:]
  var retries = Retries()
  var isReadingAgain = false
  /// The deliveries that are sent at most once, before that is stored.
  var arming = FIFO<Delivery>()
  var isArming = false
  var changes = TokenChanges()
  var inFlight = InFlightRequests()
  var held = HeldBackPushes()
  /// Whether `targets` and `stopped` are complete.
  var knowsCredentials = false
  var targets: [ServiceID: any ServiceTarget] = [:]
  /// Services that have a credential which cannot be used now.
  var stopped: Set<ServiceID> = []
  var removed = RemovedCredentials()
  let quotas: ChannelQuotas
  /// Parts of pushes that wait for a quota to be renewed.
  var waitingForQuota: Set<LegKey> = []
  var isFetchingFew = false
  var isFetchingMany = false
  /// Pushes above this ID are only in the database, if `isSpilled`.
  var loadedThrough = MessageID(0)
  var skippedThrough = MessageID(0)
  var isSpilled = true
  var isLoading = false
  /// Which of these go over the direct connection.
  var left = LeftPushes()
  /// Pushes recalled while pushes are read, which may not have seen that.
  var withdrawn: Set<MessageID> = []
  /// Pushes whose ends were saved meanwhile: what was read of them may be older.
  var savedMeanwhile: Set<MessageID> = []
  /// Pushes of which the channel has taken over devices, which are to be read.
  var takenOver = FIFO<MessageID>()
  var isTakingOver = false
  /// Pushes whose ends are being saved.
  var saving: [ChannelAnswers] = []
  /// Pushes that have ended.
  var finished: [ChannelAnswers] = []
  /// Registrations that the service rejected, for pushes that then use the direct connection.
  var failed = FailedDeliveries()
  var isSaving = false
  /// Whether the database failed: nothing more is tried before the next tick.
  var isHeldUp = false

  init(channel: ChannelID, quotas: ChannelQuotas = ChannelQuotas()) {
    self.channel = channel
    self.quotas = quotas
  }
}

extension QueueState {
  /// Adds a push. `results` were saved by an earlier run.
  mutating func add(
    _ push: ChannelPush, _ parts: [QueuedPart], results: LegOutcomes = [:],
    tried: [UInt8: [RegistrationNumber]] = [:],
    at now: Timestamp
  ) {
    guard legs(of: push.id).isEmpty else { return }
    add(parts, of: push, results: results, tried: tried, at: now)
  }

  /// Adds parts of a push that are not in memory.
  mutating func add(
    _ parts: [QueuedPart], of push: ChannelPush, results: LegOutcomes, tried: [UInt8: [RegistrationNumber]],
    at now: Timestamp
  ) {
    let legs = parts.map { part in
      let new = ActivePush(
        push, part, results: results[DeliveryLeg(channel, part.leg)] ?? [:], at: now)
      open[new.key] = new
      fallingBack.insert(new)
      collapsing.insert(new)
      // An earlier run may have sent these.
      for number in part.isTriedOnce ? tried[part.slot.kind] ?? [] : [] {
        open[new.key]?.finish(number, ChannelEnd.noAnswer)
      }
      return new.key
    }
    for leg in legs { catchUp(leg) }
    for leg in legs where open[leg]?.collapseKey != nil {
      for number in open[leg]?.accepted.members() ?? [] { overtake(leg, number) }
    }
    for leg in legs {
      if open[leg]?.left == 0 { end(leg) } else { queue(leg) }
    }
  }

  /// The parts of a push that are in memory.
  func legs(of id: MessageID) -> [LegKey] {
    (DeliveryLeg.main...QueuedPart.maximumLeg).map { LegKey(push: id, leg: $0) }.filter { open[$0] != nil }
  }

  /// Schedules the lookup of due devices of pushes with paced delivery.
  mutating func release(at now: Timestamp) {
    for leg in open.keys where open[leg]?.advancePacing(to: now) == true { queue(leg) }
  }

  /// Schedules the lookup of unclaimed devices.
  mutating func queue(_ leg: LegKey) {
    guard let push = open[leg], !push.isQueued else { return }
    open[leg]?.isQueued = true
    if push.isLarge { many.append(leg) } else { few.append(leg) }
  }

  /// Records an end for one device, and ends the push with the last one.
  mutating func finish(_ leg: LegKey, _ number: RegistrationNumber, _ result: String) {
    open[leg]?.finish(number, result)
    if result == ChannelEnd.delivered { overtake(leg, number) }
    if open[leg]?.left == 0 { end(leg) }
  }

  /// Records that the service rejected a push for one device, or that the device has no token any more.
  mutating func fail(
    _ leg: LegKey, _ number: RegistrationNumber, _ result: String, isTokenGone: Bool = false
  ) {
    if let push = open[leg], !push.overtaken.contains(number) {
      let goesOn = isTokenGone && push.part.goesOn
      if push.part.fallsBack || goesOn { failed.add([number], of: leg.push, goOn: goesOn) }
    }
    finish(leg, number, result)
  }

  /// The targets with ready deliveries.
  var targetsWithWork: [any ServiceTarget] {
    targets.filter { (ready[$0.key]?.count ?? 0) > 0 }.map(\.value)
  }

  /// Whether devices may be looked up: not while all credentials are stopped. Without any credential, lookup
  /// ends the pushes.
  var mayLookUp: Bool { knowsCredentials && (!targets.isEmpty || stopped.isEmpty) }

  /// A part of a push has ended. It stays until the other parts have: they are saved together.
  mutating func end(_ leg: LegKey) {
    let legs = legs(of: leg.push)
    guard !legs.isEmpty, legs.allSatisfy({ open[$0]?.left == 0 }) else { return }
    finished.append(
      ChannelAnswers(leg.push, of: channel, legs.compactMap { close($0) }, isFinal: true))
  }

  /// Releases a device of a push, which is then looked up again.
  mutating func release(_ delivery: Delivery) {
    let number = delivery.row.number
    open[delivery.key]?.claimed.remove(number)
    if stopped.contains(delivery.service) {
      open[delivery.key]?.deferred.insert(number)
      return
    }
    open[delivery.key]?.position = RegistrationNumber(0)
    queue(delivery.key)
  }

  /// Queues a delivery according to the state of its service.
  mutating func prepare(_ delivery: Delivery, atFront: Bool = false) {
    guard let isLarge = open[delivery.key]?.isLarge, !endIfWithdrawn(delivery) else { return }
    guard !quotas.holdBack(open[delivery.key]?.part) else { return release(delivery) }
    guard let target = targets[delivery.service] else {
      if stopped.contains(delivery.service) {
        release(delivery)
      } else {
        fail(delivery.key, delivery.row.number, ChannelEnd.noCredential)
      }
      return
    }
    guard target.accepts(delivery.slot) else {
      fail(delivery.key, delivery.row.number, ChannelEnd.noCredential)
      return
    }
    ready[delivery.service, default: ReadyDeliveries()].append(delivery, isLarge: isLarge, atFront: atFront)
  }

  /// Schedules a retry of a delivery at a second.
  mutating func tryAgain(_ delivery: Delivery, at second: Int64) {
    guard !endIfWithdrawn(delivery) else { return }
    retries.add(delivery, at: second)
  }

  /// The state of a service has changed: requeues the deliveries that were ready for it or waited for it.
  mutating func sortOut(_ service: ServiceID) {
    if targets[service] == nil {
      var deliveries = ready.removeValue(forKey: service) ?? ReadyDeliveries()
      for delivery in deliveries.removeAll() { prepare(delivery) }
    }
    guard !stopped.contains(service) else { return }
    for leg in open.keys where open[leg]?.deferred.isEmpty == false {
      open[leg]?.deferred = NumberSet()
      open[leg]?.position = RegistrationNumber(0)
      queue(leg)
    }
  }

  /// Whether pushes may be added: with fewer in memory than a bound, apart from those that wait for a quota.
  func hasRoom(below bound: Int, for more: Int = 0) -> Bool {
    open.count - waitingForQuota.count + more < bound
      && waitingForQuota.count < ChannelQueue.Bounds.waitingForQuota
  }

  /// A part of a push waits until its quota is renewed.
  mutating func holdBack(_ leg: LegKey) {
    open[leg]?.isQueued = false
    waitingForQuota.insert(leg)
  }

  /// Quotas are counted anew: what waited for them goes on, the oldest first.
  mutating func queueHeldBack() {
    let legs = waitingForQuota.sorted { $0.push < $1.push }
    waitingForQuota = []
    for leg in legs { queue(leg) }
  }
}
