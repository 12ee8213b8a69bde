import BorealisBase
import Model
import Storage
import Synchronization

/// Releases pushes to devices whose quiet hours have ended (Docs/decisions/0112).
///
/// The database is the queue: a row for each push and each moment at which hours end, with one set for all of
/// its devices. Memory has each app's next moment, and for whom pushes wait only later (`HeldTargets`). Rows
/// and routes are one commit, so that a kill before it changes nothing, and after it nothing is lost: what
/// goes over our connection waits there until it is acknowledged, and what goes to a service is in its queue.
///
/// Apps are released at the same time, each with one commit after the other for some rows, so that none waits
/// for one that has more.
final class HeldPushQueue: Sendable {
  /// What waits of an app.
  private struct Waiting: Sendable {
    /// When the next hours end; nil if nothing waits.
    var next: Timestamp?
    /// Nothing is released before: devices have time to reconnect.
    var earliest = Timestamp(milliseconds: .min)
    var isBusy = false
    /// Seconds after which channels without room are asked again; more if nothing can be released.
    var pause = HeldPushQueue.shortestPause

    func isDue(at now: Timestamp) -> Bool {
      !isBusy && earliest <= now && next.map { $0 <= now } == true
    }

    mutating func note(_ until: Timestamp) { next = min(next ?? until, until) }
  }

  /// A push to many that was released, and has yet to be sent to those of them who are connected.
  private struct Sending: Sendable {
    let app: App
    let push: LivePush
    let numbers: NumberSet
    var start = RegistrationNumber(0)
  }

  private struct State: Sendable {
    var apps: [AppID: Waiting] = [:]
    var sending: [Sending] = []

    /// The next devices to send to, of each push in turn; nil if there are none.
    mutating func nextSlice(of count: Int) -> (sending: Sending, numbers: [RegistrationNumber])? {
      guard !sending.isEmpty else { return nil }
      var first = sending.removeFirst()
      let numbers = first.numbers.members(from: first.start, limit: count)
      if numbers.count == count, let last = numbers.last, last.rawValue < .max {
        first.start = RegistrationNumber(last.rawValue + 1)
        sending.append(first)
      }
      return (first, numbers)
    }
  }

  /// Once through what is due of an app.
  private struct Walk: Sendable {
    let app: AppID
    /// The last row that was looked at.
    var last: HeldPushRow?
    /// Whether some wait on, for a channel without room or since something failed.
    var hasStayed = false
    /// Whether something was released.
    var hasReleased = false
    /// Whether each row has a commit of its own, since one of several rows failed.
    var isSingle = false
  }

  /// Rows that are read at a time, and bytes of their sets that are released together.
  private static let (batch, bytesTogether) = (64, 64 << 10)
  /// Devices for which the directory's lock is held once, and to which a push is sent in a second.
  private static let (sentTogether, sentInTick) = (2048, 64 * 2048)
  /// Bounds of the seconds after which channels without room are asked again.
  private static let (shortestPause, longestPause): (Int64, Int64) = (5, 80)

  private let store: Store
  private let scope: HomeScope
  private let time: any TimeSource
  private let apps: AppTable
  private let channels: PluggedChannels
  private let gateways: DeviceGateways
  private let contents: ContentCache
  private let writeBehind: WriteBehind
  private let state = Mutex(State())

  init(
    store: Store, scope: HomeScope, time: any TimeSource, apps: AppTable, channels: PluggedChannels,
    gateways: DeviceGateways, contents: ContentCache, writeBehind: WriteBehind
  ) {
    self.store = store
    self.scope = scope
    self.time = time
    self.apps = apps
    self.channels = channels
    self.gateways = gateways
    self.contents = contents
    self.writeBehind = writeBehind
  }

  /// Takes over what an earlier run, or another home, left. Devices have time to reconnect first, so that
  /// they are routed as those that are connected. Blocks.
  func start(in rows: AppRows) throws(StorageError) {
    let next = try store.wait { transaction throws(StorageError) in try transaction.heldPushes.next(in: rows)
    }
    let earliest = time.now().adding(seconds: Fallbacks.graceAfterStart)
    state.withLock { state in
      for (app, until) in next {
        state.apps[app, default: Waiting()].note(until)
        state.apps[app]?.earliest = earliest
      }
    }
  }

  /// A push of an app was stored that waits until a moment.
  func note(_ until: Timestamp, of app: AppID) {
    state.withLock { $0.apps[app, default: Waiting()].note(until) }
  }

  /// Whether something is being read or stored.
  var isBusy: Bool { state.withLock { $0.apps.values.contains { $0.isBusy } } }

  /// Call once a second, from one thread at a time.
  func tick(at now: Timestamp) {
    let due = state.withLock { state in
      let due = state.apps.filter { $0.value.isDue(at: now) }.keys
      for app in due {
        // What is stored from now on is noted, and may not be read.
        state.apps[app]?.next = nil
        state.apps[app]?.isBusy = true
      }
      return due
    }
    for app in due { look(Walk(app: app)) }
    send()
  }

  /// There is nothing to do for an app before a moment, or before what was noted meanwhile.
  private func rest(_ app: AppID, until moment: Timestamp?) {
    state.withLock { state in
      if let moment { state.apps[app]?.note(moment) }
      state.apps[app]?.isBusy = false
      if state.apps[app]?.next == nil { state.apps[app] = nil }
    }
  }

  /// The end of a walk. What has to wait on is looked at after some seconds, which become more while nothing
  /// can be released; else there is nothing to do before `next`.
  private func end(_ walk: Walk, next: Timestamp?) {
    let pause = state.withLock { state -> Int64 in
      let isStuck = walk.hasStayed && !walk.hasReleased
      let pause = isStuck ? state.apps[walk.app]?.pause ?? Self.shortestPause : Self.shortestPause
      state.apps[walk.app]?.pause = isStuck ? min(2 * pause, Self.longestPause) : Self.shortestPause
      return pause
    }
    rest(walk.app, until: walk.hasStayed ? time.now().adding(seconds: pause) : next)
  }

  private func look(_ walk: Walk) {
    let (id, now) = (walk.app, time.now())
    // If this home gets the app again, it reads what is stored by then.
    guard !scope.hasLeft(id) else { return rest(id, until: nil) }
    // Of an app that is being loaded memory knows nothing, or not yet who is connected.
    guard scope.isSettled(id) else { return rest(id, until: now) }
    // What is left of an app that is gone is deleted with it.
    guard let app = apps.find(id), !app.isDeleted else { return rest(id, until: nil) }
    store.read { [channels] transaction throws(StorageError) in
      let due = try transaction.heldPushes.due(of: id, at: now, after: walk.last, limit: Self.batch)
      // What has to wait for a channel without room is found here, so that it costs the writer nothing.
      let areFull = channels.services.contains { !$0.channel.mayTakeOver(in: app) }
      let ready = due.filter { row in
        // What cannot be read fails where it is released.
        !areFull || (try? Handover.isHeldUp(row, of: app, channels, in: transaction)) != true
      }
      return (due: due, ready: ready, next: try transaction.heldPushes.next(of: id))
    } completion: { [self] result in
      guard case .success(let (due, ready, next)) = result else { return rest(id, until: now) }
      var walk = walk
      if ready.count < due.count { walk.hasStayed = true }
      guard ready.isEmpty else {
        return release(walk.isSingle ? [ready[0]] : Self.together(ready), of: app, walk)
      }
      guard due.isEmpty else {
        walk.last = due.last
        return look(walk)
      }
      end(walk, next: next)
    }
  }

  /// The first rows, as many as are released in one commit. Of one push only one: what has become of the
  /// others has to be in memory before.
  private static func together(_ due: [HeldPushRow]) -> [HeldPushRow] {
    var (rows, pushes, bytes) = ([HeldPushRow](), Set<MessageID>(), 0)
    for row in due {
      bytes += row.targets.count
      guard rows.isEmpty || bytes <= bytesTogether, pushes.insert(row.push).inserted else { break }
      rows.append(row)
    }
    return rows
  }

  private func release(_ rows: [HeldPushRow], of app: App, _ walk: Walk) {
    let now = time.now()
    // Whoever acknowledges meanwhile must not end it: its end would know nothing of those whom a channel
    // takes over.
    for row in rows { _ = app.directory.pin(row.push) }
    writeBehind.flushEnds()
    store.write(of: app.id) { [channels] transaction throws(StorageError) in
      var handovers: [Handover?] = []
      for row in rows {
        handovers.append(try Handover(releasing: row, of: app, at: now, channels, in: transaction))
      }
      return handovers
    } completion: { [self] result in
      var walk = walk
      switch result {
      case .success(let handovers):
        for (row, handover) in zip(rows, handovers) {
          apply(handover, of: row, in: app, at: now)
          if let handover, !handover.staying.isEmpty { walk.hasStayed = true }
          if handover?.released.isEmpty != true { walk.hasReleased = true }
        }
        walk.last = rows.last
      case .failure(let error):
        for row in rows {
          writeBehind.note(app.directory.handOver(row.push, NumberSet()), of: app, at: now)
        }
        if error.isPassing { return rest(app.id, until: now) }
        // One row that cannot be read keeps no other waiting.
        if rows.count == 1 { (walk.last, walk.hasStayed) = (rows.last, true) }
        walk.isSingle = true
      }
      look(walk)
    }
  }

  /// What is stored takes effect in memory; nil if the push has ended. On the writer's thread.
  private func apply(_ handover: Handover?, of row: HeldPushRow, in app: App, at now: Timestamp) {
    let id = row.push
    let push = handover.flatMap { StoredPush($0.push, $0.others) }
    if let push { contents.replace(id, push) }
    let released = handover?.released ?? NumberSet(serialized: row.targets) ?? NumberSet()
    app.directory.release(id, released, push)
    writeBehind.note(app.directory.handOver(id, handover?.moved ?? NumberSet()), of: app, at: now)
    guard let handover else { return }
    if let push {
      // Newer pushes may have been sent on these connections before.
      send(LivePush(app: app.id, id: id, push: push, isLate: true), of: app, to: handover.resent)
    }
    for channel in handover.channels { channels.serviceChannel(channel)?.takeOver(id, of: app) }
  }

  // MARK: Those who are connected

  /// Sends a push to few; many get it in the next seconds, so that the writer does not wait for that.
  private func send(_ push: LivePush, of app: App, to numbers: NumberSet) {
    guard numbers.count > DeliveryLedger.listedTargets else {
      return gateways.send(
        push, of: app, to: app.directory.reachable(numbers.members(), waitingFor: push.id))
    }
    state.withLock { $0.sending.append(Sending(app: app, push: push, numbers: numbers)) }
  }

  /// Sends to as many as may be in a second. Whoever has come since then has it already.
  private func send() {
    var left = Self.sentInTick
    while left > 0, let (part, numbers) = state.withLock({ $0.nextSlice(of: Self.sentTogether) }) {
      left -= max(1, numbers.count)
      gateways.send(
        part.push, of: part.app, to: part.app.directory.reachable(numbers, waitingFor: part.push.id))
    }
  }
}
