import BorealisBase
import CLinux
import Storage
import Synchronization

/// Keeps a node's place in the database: a thread of its own shows each second that the node is alive, looks
/// at the others, and tells what is to be done.
package final class MembershipRunner: Sendable {
  /// The node.
  package let incarnation: Int64
  private let registry: NodeRegistry
  private let log: Log
  private let act: @Sendable (Membership.Action) -> Void
  private let reaches: @Sendable () -> Set<Int64>?
  private let membership: Mutex<Membership>
  private let timing: Membership.Timing
  private let newest = Mutex<ClusterView?>(nil)
  private let dead = Mutex<[DeadNode]>([])
  /// When the last beat began that the database has.
  private let lastBeat: Atomic<UInt64>
  /// When the process last showed that it runs, and when it went on after its last pause; 0 for none.
  private let lastRun: Atomic<UInt64>
  private let wentOn = Atomic<UInt64>(0)
  private let isClosing = Atomic<Bool>(false)
  private let work = Semaphore()
  private let ended = Semaphore()

  /// Nanoseconds after the begin of its last beat for which a home answers: less than the others need to take
  /// it for dead.
  package static let answersFor: UInt64 = 4_000_000_000
  /// Turns from one reading of dead nodes to the next.
  private static let turnsOfDead: UInt64 = 5

  /// Nanoseconds without a sign of this process after which it was stopped: its loops show one each second.
  private static let longestPause: UInt64 = 3_000_000_000

  /// A clock that counts while the machine is suspended, in nanoseconds.
  package static func clock() -> UInt64 { cl_boottime_ns() }

  /// A node that has just got its place. `act` is called on the runner's thread, which shows no sign of life
  /// meanwhile. `reaches` returns the nodes that this one reaches, nil as long as it has not tried.
  package init(
    _ registry: NodeRegistry, incarnation: Int64, timing: Membership.Timing, log: Log,
    reaches: @escaping @Sendable () -> Set<Int64>? = { nil },
    act: @escaping @Sendable (Membership.Action) -> Void
  ) {
    self.registry = registry
    self.incarnation = incarnation
    self.timing = timing
    self.log = log
    self.act = act
    self.reaches = reaches
    membership = Mutex(Membership(own: incarnation, timing: timing))
    lastBeat = Atomic(Self.clock())
    lastRun = Atomic(Self.clock())
  }

  /// Starts the thread.
  package func start() throws(SystemThread.Failure) {
    do throws(SystemThread.Failure) {
      try SystemThread.start("membership") { [self] in
        run()
        ended.signal()
      }
    } catch {
      ended.signal()
      throw error
    }
  }

  /// Whether nobody can have taken this node for dead yet. Any thread.
  package var isAlive: Bool {
    let limit = timing.lostAfter.map { min(Self.answersFor, $0 - timing.beat / 2) } ?? Self.answersFor
    return Self.clock() &- lastBeat.load(ordering: .relaxed) < limit
  }

  /// False from a pause of the process on until the database has said that this node is still one: it may
  /// have been taken for dead meanwhile, and its apps may have other homes. Any thread, often.
  package var isCurrent: Bool {
    let now = Self.clock()
    let before = lastRun.exchange(now, ordering: .relaxed)
    if now > before, now - before > Self.longestPause { wentOn.store(now, ordering: .relaxed) }
    return lastBeat.load(ordering: .relaxed) >= wentOn.load(ordering: .relaxed) || isAlive
  }

  /// What the database said last; nil before the first time.
  package var view: ClusterView? { newest.withLock { $0 } }

  /// The nodes that were taken for dead and have not started again, as the database said some seconds ago.
  package var deadNodes: [DeadNode] { dead.withLock { $0 } }

  /// See `Membership.lead`.
  package func lead(epoch: Int64) { membership.withLock { $0.lead(epoch: epoch) } }

  /// See `Membership.giveUp`.
  package func giveUp(lasts: Bool = false) {
    membership.withLock { $0.giveUp(at: Self.clock(), lasts: lasts) }
  }

  /// Tells all that this node is about to end; it becomes the home no more.
  package func drain() {
    membership.withLock { $0.drain() }
    do throws(StorageError) { try registry.setDraining(incarnation) } catch {
      log.warning(
        "cannot announce to other nodes that this one is stopping", ["error": .text(error.description)])
    }
  }

  /// See `Membership.handOver`.
  package func handOver() {
    membership.withLock { $0.handOver() }
    work.signal()
  }

  /// Ends the thread. Not on the runner's thread.
  package func stop() {
    guard !isClosing.exchange(true, ordering: .acquiringAndReleasing) else { return }
    work.signal()
    ended.wait()
  }

  /// Ends the thread, the node's place and the connection to the database. Not on the runner's thread.
  package func close() {
    stop()
    do throws(StorageError) { try registry.leave(incarnation) } catch {
      log.warning(
        "cannot announce to other nodes that this one is stopping", ["error": .text(error.description)])
    }
    registry.close()
  }

  private func run() {
    var isFailing = false
    var turn: UInt64 = 0
    while !isClosing.load(ordering: .acquiring) {
      let began = Self.clock()
      let beats = began &- lastBeat.load(ordering: .relaxed) &+ timing.watchful / 2 >= timing.beat
      do throws(StorageError) {
        let view = try registry.look(as: incarnation, beats: beats, reaches: reaches())
        if beats, view != nil { lastBeat.store(began, ordering: .relaxed) }
        if let view { newest.withLock { $0 = view } }
        if isFailing { log.info("cluster database responding again") }
        isFailing = false
        for action in membership.withLock({ $0.observe(view, at: Self.clock()) }) { try perform(action) }
        if turn % Self.turnsOfDead == 0 {
          let found = try registry.deadNodes()
          dead.withLock { $0 = found }
        }
        turn += 1
      } catch {
        if !isFailing {
          log.warning("cluster database not responding", ["error": .text(error.description)])
        }
        isFailing = true
        membership.withLock { $0.fail() }
      }
      let pause = min(membership.withLock { $0.pause }, timing.beat)
      _ = work.wait(until: SystemTime().monotonic() &+ pause)
    }
  }

  private func perform(_ action: Membership.Action) throws(StorageError) {
    guard case .remove(let node, let silent) = action else { return act(action) }
    let seenAt = SystemTime().now().milliseconds - Int64(silent / 1_000_000)
    guard try registry.remove(node, seenAt: Timestamp(milliseconds: seenAt)) else { return }
    log.warning(
      "node has stopped sending heartbeats; considered dead",
      ["node": .text(node.name), "address": .text(node.address)])
  }
}
