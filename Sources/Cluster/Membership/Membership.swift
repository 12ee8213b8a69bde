import Storage

/// What a node makes of its cluster: whom it follows, when it tries to become the home, and which nodes it
/// takes for dead. Without input or output: what the database says and moments go in, actions come out.
/// Moments are nanoseconds of a clock that counts while the machine is suspended. PostgreSQL is the arbiter:
/// a wrong guess here costs time and nothing else.
package struct Membership: Sendable {
  /// What is to be done.
  package enum Action: Sendable, Hashable {
    /// Another node is the home, or nil: nobody is at the moment.
    case follow(NodeRow?, epoch: Int64)
    /// Try to become the home; the server is dead that wrote behind the fence of `replacing`, if there is
    /// one.
    case takeOver(replacing: HomeRow?)
    /// A node is dead: its beat stands still for so many nanoseconds.
    case remove(NodeRow, silent: UInt64)
    /// A node has ended, or was found to be dead.
    case gone(NodeRow)
    /// The others have taken this node for dead, or another node is the home that this one was.
    case lost
  }

  /// How long things take, in nanoseconds.
  package struct Timing: Sendable {
    /// Between two beats.
    package var beat: UInt64 = 1_000_000_000
    /// A home without a connection is given up after as much without a beat.
    package var lateAfter: UInt64 = 2_000_000_000
    /// Any node is dead after as much without a beat.
    package var deadAfter: UInt64 = NodeRegistry.deadAfter
    /// Where apps are divided: a node without a connection to the database is dead after as much without a
    /// beat.
    package var lostAfter: UInt64?
    /// Without a look for as long, what was seen before says nothing about beats.
    package var gap: UInt64 = 2_500_000_000
    /// Between looks while something is about to change.
    package var watchful: UInt64 = 200_000_000
    /// By which nodes try one after the other to become the home.
    package var step: UInt64 = 300_000_000
    /// Most time between attempts to become the home of a node that cannot.
    package var longestPause: UInt64 = 60_000_000_000

    /// The usual ones.
    package init() {}
  }

  private struct Sign {
    var node: NodeRow
    /// Since when its beat is the same.
    var since: UInt64
  }

  private let own: Int64
  private let timing: Timing
  private var random: any RandomNumberGenerator & Sendable
  private var signs: [Int64: Sign] = [:]
  /// When the database was last read, nil after a failure.
  private var lastLook: UInt64?
  /// Since when it is read again and again without a failure.
  private var steadySince: UInt64?
  private var followed: (home: NodeRow?, epoch: Int64)?
  private var isDraining = false
  private var isTakingOver = false
  /// Attempts in a row to become the home that failed for a reason that lasts.
  private var vainAttempts: UInt64 = 0
  private var ledEpoch: Int64?
  private var takeOverAt: UInt64?
  /// No attempt to become the home before this moment, since the last one was in vain.
  private var restsUntil: UInt64 = 0
  private var hasLost = false
  private var isWatchful = true

  /// A node that has its place, and knows nothing of others yet.
  package init(
    own: Int64, timing: Timing = Timing(),
    random: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
  ) {
    self.own = own
    self.timing = timing
    self.random = random
  }

  /// Nanoseconds until the database should be looked at again.
  package var pause: UInt64 { isWatchful ? timing.watchful : timing.beat }

  // MARK: What happens

  /// The database was read; nil: this node is not among those that are alive.
  package mutating func observe(_ view: ClusterView?, at now: UInt64) -> [Action] {
    guard !hasLost else { return [] }
    guard let view else { return lose() }
    var actions = note(view.nodes, at: now).map { Action.gone($0) }
    for node in view.nodes where node.incarnation != own {
      // Who has just come back to the database must not take others for dead that are about to.
      let isSteady = steadySince.map { now - $0 >= timing.deadAfter } ?? false
      // A home of all apps counts on the longer time.
      let limit = node.isConnected || !node.spreadsApps || !isSteady ? nil : timing.lostAfter
      let age = age(of: node.incarnation, now)
      if age >= limit ?? timing.deadAfter { actions.append(.remove(node, silent: age)) }
    }
    let seesLost = view.nodes.contains { $0.incarnation != own && !$0.isConnected && $0.spreadsApps }
    if let ledEpoch {
      isWatchful = seesLost
      guard let home = view.home, home.epoch >= ledEpoch else { return actions }
      return home.incarnation == own && home.epoch == ledEpoch ? actions : actions + lose()
    }
    let home = view.home.flatMap { row in view.nodes.first { $0.incarnation == row.incarnation } }
    let isVacant = isVacant(view, home, now)
    let leader = home?.incarnation == own || isVacant && home?.isDraining == true ? nil : home
    follow(leader, epoch: view.home?.epoch ?? 0, &actions)
    isWatchful =
      seesLost || isVacant || leader == nil || home?.isDraining == true
      || home.map { age(of: $0.incarnation, now) > timing.beat + timing.watchful } == true
    if isVacant, !isDraining, !isTakingOver, Reachability(view.nodes).homes.contains(own) {
      let moment = max(takeOverAt ?? now + delay(view.nodes, besides: home, now), restsUntil)
      takeOverAt = moment
      if moment <= now {
        isTakingOver = true
        takeOverAt = nil
        actions.append(.takeOver(replacing: home == nil ? view.home : nil))
      }
    } else {
      takeOverAt = nil
    }
    return actions
  }

  /// The database could not be read.
  package mutating func fail() {
    lastLook = nil
    takeOverAt = nil
  }

  /// This node is the home.
  package mutating func lead(epoch: Int64) {
    isTakingOver = false
    vainAttempts = 0
    ledEpoch = epoch
    followed = nil
  }

  /// This node did not become the home, and may try again after a while; after a longer one each time if the
  /// reason lasts.
  package mutating func giveUp(at now: UInt64, lasts: Bool = false) {
    isTakingOver = false
    let pause = min(timing.beat << min(vainAttempts, 16), timing.longestPause)
    vainAttempts = lasts ? vainAttempts + 1 : 0
    restsUntil = now + (lasts ? pause : timing.beat) + random.next(upperBound: timing.beat)
  }

  /// This node is about to end: it becomes the home no more.
  package mutating func drain() { isDraining = true }

  /// This node, which is draining, was the home until now.
  package mutating func handOver() { ledEpoch = nil }

  // MARK: What follows

  private mutating func lose() -> [Action] {
    hasLost = true
    return [.lost]
  }

  /// How long a node's beat has stood still.
  private func age(of incarnation: Int64, _ now: UInt64) -> UInt64 {
    signs[incarnation].map { now - $0.since } ?? 0
  }

  /// Notes who is alive; gives the nodes that are gone.
  private mutating func note(_ nodes: [NodeRow], at now: UInt64) -> [NodeRow] {
    // Others could not show that they are alive either, or this process stood still.
    let isFresh = lastLook.map { now - $0 > timing.gap } ?? true
    lastLook = now
    if isFresh { steadySince = now }
    let before = signs
    signs = [:]
    for node in nodes {
      let last = before[node.incarnation]
      let isSame = !isFresh && last?.node.beat == node.beat
      signs[node.incarnation] = Sign(node: node, since: isSame ? last?.since ?? now : now)
    }
    return before.filter { signs[$0.key] == nil }.values.map(\.node).sorted {
      $0.incarnation < $1.incarnation
    }
  }

  /// Whether nobody is the home, or the home will not be it for long.
  private func isVacant(_ view: ClusterView, _ home: NodeRow?, _ now: UInt64) -> Bool {
    guard let home else { return true }
    guard home.incarnation != own else { return true }
    return view.isFree && (home.isDraining || age(of: home.incarnation, now) >= timing.lateAfter)
  }

  private mutating func follow(_ home: NodeRow?, epoch: Int64, _ actions: inout [Action]) {
    if let followed, followed.home?.incarnation == home?.incarnation, followed.epoch == epoch { return }
    followed = (home, epoch)
    actions.append(.follow(home, epoch: epoch))
  }

  /// The older a node, the sooner it tries, so that two seldom do at once.
  private mutating func delay(_ nodes: [NodeRow], besides home: NodeRow?, _ now: UInt64) -> UInt64 {
    let before = nodes.count { node in
      node.incarnation < own && node.incarnation != home?.incarnation && !node.isDraining
        && age(of: node.incarnation, now) < timing.lateAfter
    }
    return before == 0 ? 0 : UInt64(before) * timing.step + random.next(upperBound: timing.step / 3)
  }
}
