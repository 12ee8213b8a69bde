import PushBase
import PushDomain
import PushRouter
import PushStorage
import Synchronization

/// What one app has to send to Apple. The database is the queue: here is only the part of it that is being worked on, so
/// memory stays flat however much waits. Safe to use from any thread.
final class APNsQueue: Sendable {
  /// Ends that are not Apple's words.
  enum Ends {
    static let delivered = "delivered"
    /// The push's time was over before Apple took it.
    static let expired = "Expired"
    /// The device has no token any more.
    static let noToken = "NoToken"
    /// The app has no credential for the service of the token.
    static let noCredential = "NoCredential"
    /// The sender took the push back, or replaced it.
    static let takenBack = "TakenBack"
  }

  /// The bounds of what is in memory.
  enum Bounds {
    /// Pushes that are worked on; the others stay in the database.
    static let pushes = 2048
    /// Devices of pushes to a few, and of pushes to many, that are ready to be sent.
    static let ready = 1024
    /// Devices looked up at a time.
    static let batch = 256
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
    var open: [MessageID: ActivePush] = [:]
    /// Pushes whose devices are to be looked up.
    var few = FIFO<MessageID>()
    var many = FIFO<MessageID>()
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
    var guards: [APNsEnvironment: TokenGuard<Delivery>] = [:]
    var isFetchingFew = false
    var isFetchingMany = false
    /// What the database has beyond this ID is not in memory, if `isSpilled`.
    var loadedThrough = MessageID(0)
    var skippedThrough = MessageID(0)
    var isSpilled = true
    var isLoading = false
    /// Taken back while a load was under way, which may not have seen it.
    var withdrawn: Set<MessageID> = []
    var finished: [FinishedPush] = []
    /// Whom Apple will not bring a push whose strategy then wants our connection.
    var failed: [MessageID: [RegistrationNumber]] = [:]
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

  /// How a push stands; nil if it is not in memory.
  func progress(of id: MessageID) -> APNsProgress? {
    state.withLock { state in
      if let push = state.open[id] { return APNsProgress(waiting: push.left, results: push.results) }
      return state.finished.first { $0.id == id }.map { APNsProgress(waiting: 0, results: $0.results) }
    }
  }

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
      state.add(push)
    }
    advance()
  }

  /// Sends no more of a push; tells how many it still waited for, as far as it is in memory.
  func withdraw(_ id: MessageID) -> Int {
    let withdrawn = state.withLock { state in
      if state.isLoading { state.withdrawn.insert(id) }
      // What is ready or waits for another try is passed over when its turn comes.
      return state.open.removeValue(forKey: id)
    }
    guard var push = withdrawn else { return 0 }
    let left = push.left
    push.finishAll(Ends.takenBack)
    let results = push.results
    parts.store.write { transaction throws(StorageError) in
      try transaction.saveAPNsResults(id, [.device: results])
    } completion: { _ in
      // Statistics.
    }
    return left
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
  /// Takes a push in.
  mutating func add(_ push: APNsPush, answered: NumberSet = NumberSet(), results: [String: Int] = [:]) {
    guard open[push.id] == nil else { return }
    guard let notification = push.push.content.apns else { return }
    let new = ActivePush(push, notification: notification, answered: answered, results: results)
    open[push.id] = new
    if new.left == 0 { end(push.id) } else { queue(push.id) }
  }

  /// Has the devices of a push looked up that nobody has claimed.
  mutating func queue(_ id: MessageID) {
    guard let push = open[id], !push.isQueued else { return }
    open[id]?.isQueued = true
    if push.isLarge { many.append(id) } else { few.append(id) }
  }

  /// Notes an end for one device of a push, and ends the push with the last one.
  mutating func finish(_ id: MessageID, _ number: RegistrationNumber, _ result: String) {
    open[id]?.finish(number, result)
    if open[id]?.left == 0 { end(id) }
  }

  /// Notes that Apple will not bring a push to one device.
  mutating func fail(_ id: MessageID, _ number: RegistrationNumber, _ result: String) {
    if open[id]?.strategy == .vendorThenOwn { failed[id, default: []].append(number) }
    finish(id, number, result)
  }

  /// The lanes for which something is ready.
  var lanesWithWork: [APNsLane] {
    exits.filter { (ready[$0.key]?.count ?? 0) > 0 }.values.map(\.lane)
  }

  /// Whether devices may be looked up: not while the only credentials are stopped. Without any, that ends the pushes.
  var mayLookUp: Bool { knowsCredentials && (!exits.isEmpty || stopped.isEmpty) }

  /// Takes what `fail` noted.
  mutating func takeFailed() -> [MessageID: [RegistrationNumber]] {
    defer { failed = [:] }
    return failed
  }

  /// A push has gone its way.
  mutating func end(_ id: MessageID) {
    guard let push = open.removeValue(forKey: id) else { return }
    finished.append(FinishedPush(id: id, results: push.results))
  }

  /// Nobody works on a device of a push any more: it is looked up anew.
  mutating func release(_ delivery: Delivery) {
    let number = delivery.row.number
    open[delivery.push]?.claimed.remove(number)
    if stopped.contains(delivery.environment) {
      open[delivery.push]?.deferred.insert(number)
      return
    }
    open[delivery.push]?.position = RegistrationNumber(0)
    queue(delivery.push)
  }

  /// Puts a device where it belongs by the state of its service.
  mutating func prepare(_ delivery: Delivery, atFront: Bool = false) {
    guard let isLarge = open[delivery.push]?.isLarge else { return }
    guard exits[delivery.environment] != nil else {
      if stopped.contains(delivery.environment) {
        release(delivery)
      } else {
        fail(delivery.push, delivery.row.number, APNsQueue.Ends.noCredential)
      }
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
    for id in open.keys where open[id]?.deferred.isEmpty == false {
      open[id]?.deferred = NumberSet()
      open[id]?.position = RegistrationNumber(0)
      queue(id)
    }
  }
}
