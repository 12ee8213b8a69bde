import PushBase
import PushDomain
import PushRouter
import PushStorage
import Synchronization

/// What one app has to send to Apple. The database is the queue: here is only the part of it that is being worked on, so
/// memory stays flat however much waits. Safe to use from any thread.
final class APNsQueue: Sendable {
  typealias Ends = APNsEnd

  /// The bounds of what is in memory.
  enum Bounds {
    /// Pushes that are worked on; the others stay in the database.
    static let pushes = 2048
    /// Devices of pushes to a few, and of pushes to many, that are ready to be sent.
    static let ready = 1024
    /// Devices looked up at a time.
    static let batch = 256
    /// Pushes whose ends are saved at a time: about a millisecond for the writer.
    static let saved = 32
    /// Devices that wait for another try; with so many nothing new is begun.
    static let later = 16_384
  }

  /// Where requests of one environment go.
  struct Exit: Sendable {
    let lane: APNsLane
    let credential: APNsCredential
  }

  struct Ready: Sendable {
    var few = FIFO<Delivery>()
    var many = FIFO<Delivery>()
    var count: Int { few.count + many.count }
  }

  struct State: Sendable {
    var open: [PushLeg: ActivePush] = [:]
    /// Those whose devices are to be looked up.
    var few = FIFO<PushLeg>()
    var many = FIFO<PushLeg>()
    var ready: [APNsEnvironment: Ready] = [:]
    /// What is tried again, by second.
    var later: [Int64: [Delivery]] = [:]
    var laterCount = 0
    var flights: [RequestTag: Flight] = [:]
    var requestCount: UInt64 = 0
    /// Whether `exits` and `stopped` say something of all services.
    var knowsCredentials = false
    var exits: [APNsEnvironment: Exit] = [:]
    /// Services that have a credential which cannot be used now.
    var stopped: Set<APNsEnvironment> = []
    var guards: [APNsEnvironment: TokenGuard<SuspectToken>] = [:]
    var isFetchingFew = false
    var isFetchingMany = false
    /// What the database has beyond this ID is not in memory, if `isSpilled`.
    var loadedThrough = MessageID(0)
    var skippedThrough = MessageID(0)
    var isSpilled = true
    var isLoading = false
    /// Taken back while a load was under way, which may not have seen it.
    var withdrawn: Set<MessageID> = []
    /// Pushes that have gone their way.
    var finished: [APNsAnswers] = []
    /// Whom Apple will not bring a push whose strategy then wants our connection.
    var failed: [MessageID: [RegistrationNumber]] = [:]
    /// Pushes for which that is being stored, by how many jobs.
    var falling: [MessageID: Int] = [:]
    var isSaving = false
    /// The database refused something: nothing more is tried before the next tick.
    var isHeldUp = false
  }

  let app: App
  let parts: APNsParts
  let state = Mutex(State())

  init(app: App, parts: APNsParts) {
    self.app = app
    self.parts = parts
  }

  /// Requests under way, and devices that wait for another try, for the metrics.
  var counts: (flights: Int, later: Int) { state.withLock { ($0.flights.count, $0.laterCount) } }

  // MARK: What comes in

  /// Takes a push that was committed, or leaves it in the database if there is no room.
  func deliver(_ push: APNsPush) {
    state.withLock { state in
      // The queue was read from the database between the commit and this call: it may even be answered.
      guard push.id > state.loadedThrough else { return }
      guard !state.isSpilled, state.open.count < Bounds.pushes else {
        state.isSpilled = true
        state.skippedThrough = push.id
        return
      }
      state.loadedThrough = push.id
      state.add(push, at: parts.time.now())
    }
    advance()
  }

  /// Sends no more of a push; tells how many it still waited for, as far as it is in memory.
  func withdraw(_ id: MessageID) -> Int {
    let withdrawn = state.withLock { state in
      if state.isLoading { state.withdrawn.insert(id) }
      // What is ready or waits for another try is passed over when its turn comes.
      return state.legs(of: id).compactMap { state.open.removeValue(forKey: $0) }
    }
    guard !withdrawn.isEmpty else { return 0 }
    // The end itself is stored already; Apple may have answered for some since the answers were last saved.
    if withdrawn.contains(where: { !$0.news.isEmpty }) {
      parts.router.store(APNsAnswers(id, withdrawn, isFinal: true), of: app) { _ in }
    }
    return withdrawn.reduce(0) { $0 + $1.left }
  }

  // MARK: Credentials

  /// Sets where an environment's requests go; nil with `isStopped` when they have to wait, nil without when there is no
  /// credential: then what was meant for it ends.
  func set(_ exit: Exit?, isStopped: Bool, for environment: APNsEnvironment) {
    let lanes = state.withLock { state in
      state.exits[environment] = exit
      if isStopped { state.stopped.insert(environment) } else { state.stopped.remove(environment) }
      if exit != nil { state.guards[environment] = nil }
      state.sortOut(environment)
      return state.lanesWithWork
    }
    advance()
    for lane in lanes { lane.wake() }
  }

  /// `set` was called for each service: devices may be looked up.
  func credentialsAreSet() {
    state.withLock { $0.knowsCredentials = true }
    advance()
  }

  func exit(for environment: APNsEnvironment) -> Exit? { state.withLock { $0.exits[environment] } }
}

extension APNsQueue.State {
  /// Takes a push in. `results` are what an earlier run saved.
  mutating func add(_ push: APNsPush, results: APNsOutcomes = [:], at now: Timestamp) {
    guard legs(of: push.id).isEmpty else { return }
    let legs = push.parts.map { part in
      let new = ActivePush(
        push, notification: part.notification, targets: part.targets,
        results: results[part.notification.slot.kind] ?? [:], at: now)
      open[new.leg] = new
      return new.leg
    }
    for leg in legs {
      if open[leg]?.left == 0 { end(leg) } else { queue(leg) }
    }
  }

  /// The parts of a push that are in memory.
  func legs(of id: MessageID) -> [PushLeg] {
    APNsTokenKind.allCases.map { PushLeg(push: id, kind: $0) }.filter { open[$0] != nil }
  }

  /// Has devices looked up whose moment has come, of pushes that are spread over some time.
  mutating func release(at now: Timestamp) {
    for leg in open.keys where open[leg]?.advanceRelease(to: now) == true { queue(leg) }
  }

  /// Has the devices looked up that nobody has claimed.
  mutating func queue(_ leg: PushLeg) {
    guard let push = open[leg], !push.isQueued else { return }
    open[leg]?.isQueued = true
    if push.isLarge { many.append(leg) } else { few.append(leg) }
  }

  /// Notes an end for one device, and ends the push with the last one.
  mutating func finish(_ leg: PushLeg, _ number: RegistrationNumber, _ result: String) {
    open[leg]?.finish(number, result)
    if open[leg]?.left == 0 { end(leg) }
  }

  /// Notes that Apple will not bring a push to one device. Our connection can bring all but calls and Live Activities.
  mutating func fail(_ leg: PushLeg, _ number: RegistrationNumber, _ result: String) {
    if leg.kind == .device, open[leg]?.strategy == .vendorThenOwn {
      failed[leg.push, default: []].append(number)
    }
    finish(leg, number, result)
  }

  /// The lanes for which something is ready.
  var lanesWithWork: [APNsLane] {
    exits.filter { (ready[$0.key]?.count ?? 0) > 0 }.values.map(\.lane)
  }

  /// Whether devices may be looked up: not while the only credentials are stopped. Without any, that ends the pushes.
  var mayLookUp: Bool { knowsCredentials && (!exits.isEmpty || stopped.isEmpty) }

  /// Takes what `fail` noted; it is being stored from now on.
  mutating func takeFailed() -> [MessageID: [RegistrationNumber]] {
    guard !isHeldUp, !failed.isEmpty else { return [:] }
    defer { failed = [:] }
    for id in failed.keys { falling[id, default: 0] += 1 }
    return failed
  }

  /// What `takeFailed` gave is stored, or has to be tried again.
  mutating func settled(_ id: MessageID, _ numbers: [RegistrationNumber], isStored: Bool) {
    let others = falling[id, default: 1] - 1
    falling[id] = others > 0 ? others : nil
    guard !isStored else { return }
    failed[id, default: []] += numbers
    isHeldUp = true
  }

  /// Whether a push's end may be stored: not before it waits at our connection for those whom Apple refused.
  func mayEnd(_ id: MessageID) -> Bool { failed[id] == nil && falling[id] == nil }

  /// A part of a push has gone its way. It stays until the others have: they are saved together.
  mutating func end(_ leg: PushLeg) {
    let legs = legs(of: leg.push)
    guard !legs.isEmpty, legs.allSatisfy({ open[$0]?.left == 0 }) else { return }
    finished.append(APNsAnswers(leg.push, legs.compactMap { open.removeValue(forKey: $0) }, isFinal: true))
  }

  /// Nobody works on a device of a push any more: it is looked up anew.
  mutating func release(_ delivery: Delivery) {
    let number = delivery.row.number
    open[delivery.leg]?.claimed.remove(number)
    if stopped.contains(delivery.environment) {
      open[delivery.leg]?.deferred.insert(number)
      return
    }
    open[delivery.leg]?.position = RegistrationNumber(0)
    queue(delivery.leg)
  }

  /// Puts a device where it belongs by the state of its service.
  mutating func prepare(_ delivery: Delivery, atFront: Bool = false) {
    guard let isLarge = open[delivery.leg]?.isLarge else { return }
    guard let exit = exits[delivery.environment] else {
      if stopped.contains(delivery.environment) {
        release(delivery)
      } else {
        fail(delivery.leg, delivery.row.number, APNsQueue.Ends.noCredential)
      }
      return
    }
    guard exit.credential.takes(delivery.slot.kind) else {
      fail(delivery.leg, delivery.row.number, APNsQueue.Ends.noCredential)
      return
    }
    var queues = ready.removeValue(forKey: delivery.environment) ?? APNsQueue.Ready()
    switch (isLarge, atFront) {
    case (true, true): queues.many.putBack(delivery)
    case (true, false): queues.many.append(delivery)
    case (false, true): queues.few.putBack(delivery)
    case (false, false): queues.few.append(delivery)
    }
    ready[delivery.environment] = queues
  }

  /// Has a device tried again from a second on.
  mutating func tryAgain(_ delivery: Delivery, at second: Int64) {
    later[second, default: []].append(delivery)
    laterCount += 1
  }

  /// The state of a service has changed: what was ready for it, or waited for it, is looked at again.
  mutating func sortOut(_ environment: APNsEnvironment) {
    if exits[environment] == nil {
      var queues = ready.removeValue(forKey: environment) ?? APNsQueue.Ready()
      for delivery in queues.few.removeAll() + queues.many.removeAll() { prepare(delivery) }
    }
    guard !stopped.contains(environment) else { return }
    for leg in open.keys where open[leg]?.deferred.isEmpty == false {
      open[leg]?.deferred = NumberSet()
      open[leg]?.position = RegistrationNumber(0)
      queue(leg)
    }
  }
}
