import BorealisBase
import Core
import Model
import Storage
import Synchronization

/// One app's queue to one channel. The database is the queue: memory has only the part in progress, so it
/// stays constant however much waits. Safe to use from any thread.
///
/// The channel divides a push into parts (`QueuedPart`) and sets the targets of requests (`ServiceTarget`);
/// it takes ready deliveries, makes requests of them, and evaluates the responses. The queue keeps the order,
/// reads tokens, retries, ends expired pushes, and stores results.
package final class ChannelQueue: Sendable {
  /// Divides a push into the parts that the channel delivers; empty if it is not for the channel.
  package typealias Parts = @Sendable (ChannelPush) -> [QueuedPart]

  /// The limits of the memory.
  enum Bounds {
    /// Parts of pushes in memory that wait for no quota; the others stay in the database.
    static let pushes = 2048
    /// Parts of pushes in memory that wait for a quota to be renewed, often for hours. They have room of
    /// their own, so that what counts against no quota goes on. With so many nothing more is read.
    static let waitingForQuota = 16_384
    /// Ready deliveries of pushes to few devices, and of pushes to many.
    static let ready = 1024
    /// Devices looked up at a time.
    static let batch = 256
    /// Pushes whose ends are saved at a time: about a millisecond of the writer.
    static let saved = 32
    /// Deliveries that wait for a retry; with this many nothing new is started of pushes to many devices.
    static let later = 16_384
    /// With so many more nothing new is started of pushes to few either.
    static let laterOfFew = 4096
    /// Pushes in memory, with those of which devices were taken over.
    static let pushesTakenOver = 3072
    /// Pushes of which devices were taken over, which wait to be read; with this many no more are taken over.
    static let takenOver = 100_000
    /// Of these so many are read at a time.
    static let takenOverTogether = 32
    /// Seconds after which the direct connection brings a device that connects what waits for its service.
    static let patience: Int64 = 5
    /// Seconds for which deliveries wait for another credential after the last one was removed.
    static let grace: Int64 = 600
    /// Devices for which the direct connection brings at a time what waits for another credential.
    static let broughtInstead = 16_384
    /// Seconds for which a push is held that is being recalled.
    static let hold: Int64 = 60
  }

  package let app: App
  /// What decides which of the app's tokens are given up.
  package let tokens: TokenGuards
  /// The app's quotas that are used up.
  package let quotas = ChannelQuotas()
  let channel: ChannelID
  let store: Store
  let pushes: StoredPushes
  let deliveries: Deliveries
  let time: any TimeSource
  let log: Log
  let parts: Parts
  let state: Mutex<QueueState>
  /// How far the wall clock was ahead of the one that nobody sets, in seconds, at the last tick.
  let lead: Mutex<Int64>

  /// Makes a queue; nothing moves before `credentialsAreSet`. `triedOnce` are the kinds of the channel's
  /// tokens to which parts may go that are sent at most once.
  package init(
    of channel: ChannelID, app: App, store: Store, deliveries: Deliveries, time: any TimeSource, log: Log,
    triedOnce: Set<UInt8> = [], parts: @escaping Parts
  ) {
    self.app = app
    tokens = TokenGuards(of: channel, app: app.id, store: store, time: time, log: log)
    self.channel = channel
    self.store = store
    pushes = StoredPushes(channel: channel, app: app.id, triedOnce: triedOnce, store: store)
    self.deliveries = deliveries
    self.time = time
    self.log = log
    self.parts = parts
    state = Mutex(QueueState(channel: channel, quotas: quotas))
    lead = Mutex(Self.lead(of: time))
  }

  /// Parts of pushes in memory that have no final answer for all of their devices, requests in flight, and
  /// deliveries that wait for a retry, for those who watch the server.
  package var counts: (open: Int, inFlight: Int, later: Int) {
    state.withLock { ($0.open.count, $0.inFlight.count, $0.retries.count) }
  }

  /// Whether the database is being asked for something, or requests are in flight. For tests.
  package var isWorking: Bool {
    state.withLock { state in
      state.isLoading || state.isTakingOver || state.isFetchingFew || state.isFetchingMany
        || state.isReadingAgain || state.isArming || state.isSaving || !state.inFlight.isEmpty
    }
  }

  // MARK: What comes in

  /// Adds a committed push, or leaves it in the database if there is no room.
  package func deliver(_ push: ChannelPush) {
    state.withLock { state in
      // The queue was read from the database between the commit and this call: the push may even be done.
      guard push.id > state.loadedThrough else { return }
      guard !state.isSpilled, state.hasRoom(below: Bounds.pushes) else {
        state.isSpilled = true
        state.skippedThrough = push.id
        return
      }
      state.loadedThrough = push.id
      let parts = parts(push)
      if parts.isEmpty { end(push.id, in: &state) } else { state.add(push, parts, at: time.now()) }
    }
    advance()
  }

  /// The channel has taken over devices of a push that was accepted before: they are in the database.
  package func takeOver(_ id: MessageID) {
    state.withLock { $0.takenOver.append(id) }
    advance()
  }

  /// Whether there is room for another such push.
  package var mayTakeOver: Bool { state.withLock { $0.takenOver.count < Bounds.takenOver } }

  /// Sends no more of a push; returns how many devices it still waited for, as far as it is in memory.
  package func withdraw(_ id: MessageID) -> Int {
    let (count, over, wasAsked) = state.withLock { state in
      if state.isReadingPushes { state.withdrawn.insert(id) }
      return state.withdraw(id)
    }
    // The service may have responded since results were last saved. The end itself is stored already, unless
    // requests were in flight then.
    if wasAsked || over.contains(where: { !$0.news.isEmpty }), !over.isEmpty {
      let answers = ChannelAnswers(id, of: channel, over, isFinal: true)
      deliveries.store(answers, of: app) { [self] isStored in
        guard !isStored else { return }
        state.withLock { state in
          state.finished.append(answers)
          state.isHeldUp = true
        }
      }
    }
    return count
  }

  /// Holds a push that is being recalled; returns the part of it that can no longer be recalled.
  package func hold(_ id: MessageID, by holder: PushHolder) -> ChannelHold {
    let now = time.now().seconds
    return state.withLock { $0.hold(id, by: holder, until: now + Bounds.hold) }
  }

  /// A recall that held the push did not happen.
  package func resume(_ id: MessageID, by holder: PushHolder) {
    state.withLock { $0.held.resume(id, by: holder) }
  }

  /// Registrations have other tokens than before, or were removed. Their tokens are read again; requests that
  /// were not sent yet come back for that.
  package func tokensChanged(of numbers: [RegistrationNumber]) {
    let recalled = state.withLock { $0.tokensChanged(of: numbers) }
    for (target, tags) in recalled { target.recall(tags) }
  }

  /// A device can be reached over the direct connection: what has waited for its service for some seconds
  /// goes there, where the strategy lets that connection bring what a service refuses.
  package func reached(_ number: RegistrationNumber) {
    let moment = time.now().adding(seconds: -Bounds.patience)
    let hasFailed = state.withLock { state in
      if state.isSpilled { state.left.came(number) }
      guard !state.fallingBack.isEmpty else { return false }
      state.reached(number, waitingSince: moment)
      return !state.failed.isEmpty
    }
    if hasFailed { advance() }
  }

  // MARK: Credentials

  /// Sets the target of a service's requests; nil with `isStopped` when they have to wait, nil without it
  /// when there is no credential: then its deliveries end, those of a credential that was just removed after
  /// ten minutes without another one.
  package func set(_ target: (any ServiceTarget)?, isStopped: Bool, for service: ServiceID) {
    let now = time.now().seconds
    let targets = state.withLock { state in
      state.set(target, isStopped: isStopped, for: service, at: now)
      return state.targetsWithWork
    }
    advance()
    for target in targets { target.wake() }
  }

  /// `set` was called for each service: devices may be looked up.
  package func credentialsAreSet() {
    state.withLock { $0.knowsCredentials = true }
    advance()
  }

  /// Whether deliveries wait for another credential, since the last one was removed.
  package var awaitsCredential: Bool { state.withLock { !$0.removed.isEmpty } }

  /// The target of a service's requests.
  package func target(of service: ServiceID) -> (any ServiceTarget)? {
    state.withLock { $0.targets[service] }
  }

  // MARK: Requests and answers

  /// Removes at most this many deliveries to a service, to be sent now with `authorization`; of at most so
  /// many contents, for channels whose requests bring one to several devices.
  package func popOutgoing(
    _ service: ServiceID, upTo count: Int, ofContents most: Int = .max,
    authorization: (any AnyObject & Sendable)? = nil
  ) -> [Outgoing] {
    let now = time.now()
    let taken = state.withLock { state in
      state.popOutgoing(
        service, upTo: count, ofContents: most, authorization: authorization, app: app.id, at: now)
    }
    advance()
    return taken
  }

  /// Handles requests that have their results: `tag` and whether the service has accepted the push. `judge`
  /// is called for each known one, with its index in `results`, under the queue's lock: it must not call the
  /// queue.
  package func complete(
    _ results: [(tag: UInt64, isAccepted: Bool)], judge: (Int, inout CompletedRequest) -> DeliveryVerdict
  ) {
    let now = time.now()
    let woken = state.withLock { state in
      var unsent: [(tag: UInt64, delivery: Delivery)] = []
      var woken: Set<ServiceID> = []
      let services = Set(state.targets.keys)
      for (index, result) in results.enumerated() {
        guard
          var completed = state.complete(
            RequestTag(rawValue: result.tag), isAccepted: result.isAccepted, services)
        else {
          continue
        }
        let verdict = judge(index, &completed)
        if verdict == .unsent { unsent.append((result.tag, completed.delivery)) }
        if verdict == .unsent || verdict == .resend { woken.insert(completed.delivery.service) }
        state.settle(completed.delivery, verdict, at: now)
      }
      // In reverse, since each goes to the front: in the end they are in the order in which they left the
      // queue.
      for (_, delivery) in unsent.sorted(by: { $0.tag > $1.tag }) { state.prepare(delivery, atFront: true) }
      return woken.compactMap { state.targets[$0] }
    }
    for target in woken { target.wake() }
    advance()
  }
}
