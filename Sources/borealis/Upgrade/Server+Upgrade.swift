import BorealisBase
import BorealisNet
import CLinux
import Core
import Glibc
import Synchronization

/// How a server gives its place to another process, and how a process takes one (Docs/decisions/0116).
extension Server {
  /// Nanoseconds for slow peers to send their requests, and to read answers; and for requests to finish. A
  /// push may wait for ten seconds. Only new connections and requests wait meanwhile.
  private static let (peerPatience, requestPatience): (UInt64, UInt64) = (3_000_000_000, 12_000_000_000)
  /// Seconds for what goes to other services, at most: as at a stop, and never longer than that.
  private static let mostSendingSeconds = 20
  /// Nanoseconds for the loops to rest, once no request is under way.
  private static let restPatience: UInt64 = 15_000_000_000
  /// Microseconds for the last frames to devices that have to reconnect.
  private static let farewell: UInt32 = 200_000

  /// What commands work on, and with.
  func served(_ service: HomeService) -> ServedStore {
    ServedStore(
      store: service.store, keys: settings.secretKeyFile, learnChanges: { service.learnChanges() },
      status: { service.status }, upgrade: { [self] wish throws(Failure) in try upgrade(wish) })
  }

  // MARK: The process that takes the place

  /// Goes on with what a server has passed on, now that all is read.
  func takeOver(from predecessor: Predecessor, _ service: HomeService) throws(Failure) {
    if try !predecessor.takeOver() {
      log.warning("the server whose place this process takes was killed: this one has all that it had")
    }
    UpgradeStep.newGone.reach()
    try service.start()
    if let locks = takeover.locks { settings.folder.note(settings.secretKeyFile, in: locks.folder) }
    serve(service, unreadSince: predecessor.unreadSince)
  }

  /// Has the loops, which rest, serve sessions and requests with this. No request is accepted before the
  /// sessions of all loops are known: their devices would count as offline.
  private func serve(_ service: HomeService, unreadSince moment: UInt64) {
    performOnLoops { .goOn(service, done: $0) }
    UpgradeStep.newKnows.reach()
    isReady.value = true
    performOnLoops { .wakeUp(unreadSince: moment, done: $0) }
  }

  // MARK: The server whose place is taken

  /// Has a new process take this one's place. On the thread of a command; the server goes on if this throws.
  private func upgrade(_ wish: UpgradeWish) throws(Failure) -> JSONValue {
    guard let locks = takeover.locks, cluster == nil else {
      throw .failed("only a server alone, with its database in a file, can be upgraded without a restart")
    }
    guard let path = wish.program ?? takeover.program else { throw .failed("cannot find this program") }
    if wish.ifChanged, !Successor.isOther(path) { return ["upgraded": false, "binary": .string(path)] }
    if let obstacle = supervisor(wish) ?? shortage { throw .failed(obstacle) }
    guard takeover.begin() else { throw .failed("an upgrade is under way") }
    defer { takeover.end() }
    try takeover.expectNoStop()
    log.info("upgrade: starting the new process", ["binary": .text(path)])
    let successor = try Successor.start(path, reading: takeover.readingTime) { [takeover] in
      takeover.isStopping
    }
    takeover.note(successor)
    do throws(Failure) {
      let sockets = [locks.folder, locks.database] + (commands.map { [$0.descriptor] } ?? [])
      let offer = UpgradeOffer(
        loops: handles.count, addresses: addresses.map { ($0.name, $0.address) },
        acceptsCommands: commands != nil)
      let version = try successor.prepare(offer, sockets: sockets, listeners: addresses)
      UpgradeStep.oldPrepared.reach()
      let report = try takeover.whileMainThreadWaits { () throws(Failure) in try give(to: successor) }
      return [
        "upgraded": true, "version": .string(version), "binary": .string(path),
        "pid": .number(JSONNumber(Int64(successor.process))),
        "devices": .number(JSONNumber(Int64(report.devices))),
        "reconnecting": .number(JSONNumber(Int64(report.reconnecting))),
        "pause_ms": .number(JSONNumber(Int64(report.pause / 1_000_000))),
      ]
    } catch {
      if takeover.hasFollower {
        log.error("upgrade: the new process does not serve", ["reason": .text(error.message)])
      } else {
        successor.end()
        log.error("upgrade: this process goes on", ["reason": .text(error.message)])
      }
      throw error
    }
  }

  /// Who would take the end of this process for the end of the service; nil for nobody.
  private func supervisor(_ wish: UpgradeWish) -> String? {
    guard getpid() != 1 else {
      return "the server is process 1, with which its container ends: start another container in its place"
    }
    guard !ServiceManager.isThere else { return nil }
    let marks: [String] = ["/.dockerenv", "/run/.containerenv"]
    let isContainer = marks.contains { access($0, F_OK) == 0 }
    guard getppid() != 1 || !isContainer || takeover.predecessor != nil else {
      return "the server is the main program of its container, which ends with it: start another container"
    }
    guard wish.isUnsupervised else {
      return
        "a supervisor would take the end of this process for the end of the service: without NOTIFY_SOCKET of systemd, nothing can say that the server goes on in another process. Restart the server, or give --unsupervised if there is no supervisor"
    }
    return nil
  }

  /// What there is too little, or too much, of for two processes at a time; nil if all is well.
  private var shortage: String? {
    guard handles.count <= UpgradeLink.mostDescriptors else {
      return
        "a server with more than \(UpgradeLink.mostDescriptors) loops cannot be upgraded without a restart"
    }
    let (used, limit) = (UInt64(clamping: cl_resident_bytes()), cl_memory_limit())
    guard used < limit / 2 else {
      return
        "the server has \(used >> 20) MiB, and two of them would need more than the \(limit >> 20) MiB that it may have: restart it"
    }
    // Both watch each socket, for one user.
    let watches = SmallFiles.read("/proc/sys/fs/epoll/max_user_watches").flatMap {
      Int($0.split(separator: "\n").first ?? "")
    }
    if let watches, parts.metrics.connections > watches / 2 - 10_000 {
      return
        "two processes cannot watch all connections: raise fs.epoll.max_user_watches, or restart the server"
    }
    let seconds = takeover.readingTime / 1_000_000_000
    guard seconds < UInt64(settings.heartbeat.lowerBound) else {
      return
        "the server took \(seconds) s to read its database; by then devices would have given up their connections: restart it"
    }
    return nil
  }

  private struct Report: Sendable {
    var devices = 0
    var reconnecting = 0
    /// Nanoseconds for which no device was served.
    var pause: UInt64 = 0
  }

  /// How far a server has got in giving its place away.
  private enum Stage {
    /// Connections and requests wait.
    case holding
    /// Channels and mail end, and are not what they were.
    case closing
    /// Everything is stored, and the database is closed.
    case finished
  }

  /// Passes everything on. The main thread does nothing meanwhile.
  private func give(to successor: Successor) throws(Failure) -> Report {
    guard let service = home.withLock({ $0 }) else { throw .failed("nothing is served") }
    try commands?.hold()
    parts.renewal?.stop()
    let moment = parts.time.sinceBoot()
    var stage = Stage.holding
    var report = Report()
    do throws(Failure) {
      try finishRequests()
      UpgradeStep.oldHolds.reach()
      stage = .closing
      service.quiet(until: self.moment(afterSeconds: min(settings.drainSeconds, Self.mostSendingSeconds))) {
        takeover.isStopping
      }
      UpgradeStep.oldQuiet.reach()
      try takeover.expectNoStop()
      let start = parts.time.monotonic()
      guard rest(atOnce: false, until: start &+ Self.restPatience) else {
        throw .failed("the event loops do not come to rest")
      }
      UpgradeStep.oldRests.reach()
      service.finish(until: start, keepingSessions: true)
      stage = .finished
      UpgradeStep.oldFinished.reach()
      var loops = passedLoops()
      defer { for index in loops.indices { loops[index].wipe() } }
      report.devices = loops.reduce(0) { $0 + $1.devices.count }
      try successor.passOn(&loops, unreadSince: moment)
      UpgradeStep.oldPassed.reach()
      let rejected = try successor.awaitReady()
      (report.devices, report.reconnecting) = (report.devices - rejected, rejected)
      UpgradeStep.oldReady.reach()
      try takeover.expectNoStop()
      try successor.go()
      // From here on this process does not go on, whatever comes.
      takeover.note(follower: successor.process)
      UpgradeStep.oldGone.reach()
      ServiceManager.follow(successor.process)
      report.reconnecting += dismissOthers()
      do throws(Failure) { try successor.awaitServing() } catch { if !takeover.isStopping { throw error } }
      report.pause = parts.time.monotonic() &- start
    } catch {
      guard !takeover.hasFollower else {
        takeover.note(failure: error.message)
        throw error
      }
      successor.end()
      goOn(insteadOf: service, from: stage, unreadSince: moment)
      parts.renewal?.start()
      throw error
    }
    log.info("upgrade: another process serves", ["pid": .number(Int64(successor.process))])
    return report
  }

  /// Lets requests finish, while devices are served and connections wait in the listening sockets.
  private func finishRequests() throws(Failure) {
    let start = parts.time.monotonic()
    let done = Semaphore()
    for mailbox in orders { mailbox.post(.hold { done.signal() }) }
    var left = orders.count
    var isHurried = false
    while left > 0 {
      let now = parts.time.monotonic()
      guard now < start &+ Self.requestPatience else {
        throw .failed("requests have not finished in \(Self.requestPatience / 1_000_000_000) s")
      }
      try takeover.expectNoStop()
      if !isHurried, now >= start &+ Self.peerPatience {
        // What has come of the others is lost to their senders, who have no answer.
        for mailbox in orders { mailbox.post(.hurry) }
        isHurried = true
      }
      if done.wait(until: now &+ 100_000_000) { left -= 1 }
    }
    // Nobody has to wait for them when the loops come to rest, either.
    if !isHurried { for mailbox in orders { mailbox.post(.hurry) } }
  }

  /// Has the loops look at no socket. False if they do not within the time; at once, they do, or the server
  /// is at its end.
  private func rest(atOnce: Bool, until deadline: UInt64 = .max) -> Bool {
    let done = Semaphore()
    let refused = Atomic<Bool>(false)
    for mailbox in orders {
      mailbox.post(
        .rest(atOnce: atOnce) { rests in
          if !rests { refused.store(true, ordering: .relaxed) }
          done.signal()
        })
    }
    for _ in orders {
      guard done.wait(until: deadline) else { return false }
    }
    return !refused.load(ordering: .relaxed)
  }

  private func passedLoops() -> [PassedLoop] {
    let loops = Mutex([PassedLoop](repeating: PassedLoop(), count: orders.count))
    let done = Semaphore()
    for (index, mailbox) in orders.enumerated() {
      mailbox.post(
        .pass { passed in
          loops.withLock { $0[index] = passed }
          done.signal()
        })
    }
    for _ in orders { done.wait() }
    return loops.withLock { loops in
      defer { loops = [] }
      return loops
    }
  }

  private func dismissOthers() -> Int {
    let count = Atomic(0)
    let done = Semaphore()
    for mailbox in orders {
      mailbox.post(
        .dismiss(spread: 5000) { dismissed in
          count.add(dismissed, ordering: .relaxed)
          done.signal()
        })
    }
    for _ in orders { done.wait() }
    return count.load(ordering: .relaxed)
  }

  /// Goes on as if nothing had been. Once channels have ended, the database is read again, which the other
  /// process may have had open, and the sessions go on under what is read.
  private func goOn(insteadOf former: HomeService, from stage: Stage, unreadSince moment: UInt64) {
    if stage == .holding {
      for mailbox in orders { mailbox.post(.release) }
      commands?.goOn(served(former))
      return
    }
    do throws(Failure) {
      if stage == .closing {
        // Nothing may be answered, and nobody told anything, by what ends now.
        guard rest(atOnce: true) else { throw .failed("the event loops do not come to rest") }
        former.finish(until: parts.time.monotonic(), keepingSessions: true)
      }
      guard let opening = takeover.opening else { throw .failed("nothing is served") }
      let (service, file) = try opening.open()
      try service.start()
      home.withLock { $0 = service }
      database.withLock { $0 = file }
      serve(service, unreadSince: moment)
      commands?.goOn(served(service))
    } catch {
      log.error("cannot go on after an upgrade that has failed", ["reason": .text(error.message)])
      Terminal.flush()
      _exit(1)
    }
  }

  /// Ends this process, whose place another one has: nothing is closed that the other one goes on with.
  func leave() {
    commands?.close(keepingAddress: true)
    // Only now: during the pause devices would wait for the collector.
    sendLastSpans()
    BlockingCall.assertAllowed()
    usleep(Self.farewell)
  }
}
