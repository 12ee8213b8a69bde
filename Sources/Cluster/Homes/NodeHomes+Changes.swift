import BorealisBase
import Core
import Storage
import Synchronization

/// Who gets which apps.
extension NodeHomes {
  /// Nanoseconds for which a node has been seen before apps are moved to it, and between a move that failed
  /// and the next one.
  private static let settling: UInt64 = 10_000_000_000

  /// Gives apps without a home to nodes.
  func assign(_ home: NodeHome, _ view: ClusterView) throws(StorageError) {
    try registry.endDeadHomes(log)
    let (homeless, loads) = try home.store.wait { t throws(StorageError) in
      (try t.homes.homeless(), try t.homes.loads())
    }
    guard !homeless.isEmpty else { return }
    let bundles = state.withLock(\.bundles)
    let placed = HomePlan.place(homeless, among: HomeCandidate.all(with: loads, in: view), bundles: bundles)
      .map {
        ($0.app, $0.home.home)
      }
    try Store.wait { (done: @escaping @Sendable (Result<Void, StorageError>) -> Void) in
      home.store.write(
        { t throws(StorageError) in
          for (app, next) in placed { _ = try t.homes.assign(app, to: (node: next, home: next)) }
        }, completion: done)
    }
    log.info("apps assigned to nodes", ["apps": .number(Int64(placed.count))])
    wake()
  }

  /// Gives apps to a home that has less, if this one has most; or to the one that has most of what they share
  /// something with.
  func balance(_ home: NodeHome, _ view: ClusterView) throws(StorageError) {
    let now = time.monotonic()
    let (isQuiet, isSettled, bundles) = state.withLock { state in
      (
        state.patience.isEmpty && !state.isHandingOver && now >= state.restsUntil,
        state.served.count > 1
          && view.nodes.allSatisfy { now >= (state.seen[$0.incarnation] ?? now) + Self.settling },
        state.bundles
      )
    }
    guard isQuiet, isSettled || hasDividedBundle(home) else { return }
    let loads = try home.store.wait { t throws(StorageError) in try t.homes.loads() }
    let candidates = HomeCandidate.all(with: loads, in: view)
    let move =
      isSettled
      ? HomePlan.move(among: candidates, bundles: bundles)
      : HomePlan.reunion(among: candidates, bundles: bundles)
    guard let move, move.from.home == home.own.home else { return }
    // A bundle that this home does not serve completely yet stays until it does.
    let rows = state.withLock { state in
      state.rows.filter { move.apps.contains($0.app) && state.served.contains($0.app) }
    }
    guard rows.count == move.apps.count else { return }
    for row in rows { handOver(row, of: home, to: move.to.home, view) }
  }

  /// Whether apps of this home share something with apps of others.
  private func hasDividedBundle(_ home: NodeHome) -> Bool {
    state.withLock { state in
      let homes = Dictionary(state.rows.map { ($0.app, $0.home.fence) }) { $1 }
      return state.opened.contains { app in
        state.bundles[app].contains { homes[$0] != nil && homes[$0] != home.own.home }
      }
    }
  }

  // MARK: Handing over

  private func handOver(
    _ row: AppHomeRow, of home: NodeHome, to next: Int64, _ view: ClusterView
  ) {
    guard let key = row.key else { return }
    // Calls wait from now on; those under way are carried out.
    state.withLock { _ = $0.served.remove(row.app) }
    follow(view)
    hooks.withLock { $0 }?.barrier()
    link.release(row.app)
    // Its devices look disconnected once it is opened again, should that be here: nothing may follow from
    // that.
    home.own.unsettle(row.app)
    guard let epoch = home.router.handOver(key, to: (node: next, home: next), keepingSessions: true) else {
      openLinks(of: row)
      // Its calls wait during each try.
      let end = time.monotonic() &+ Self.settling
      state.withLock { $0.restsUntil = end }
      return log.warning("app not handed over", ["app": .text(key.text)])
    }
    home.own.settle(row.app)
    note(row, HomeRow(incarnation: next, epoch: epoch, fence: next))
    log.info("handing over an app", ["app": .text(key.text), "epoch": .number(epoch)])
  }

  private func note(_ row: AppHomeRow, _ home: HomeRow) {
    state.withLock { state in
      state.opened.remove(row.app)
      state.served.remove(row.app)
      state.patience[row.app] = nil
      for index in state.rows.indices where state.rows[index].app == row.app { state.rows[index].home = home }
    }
    link.follow([
      AppPlace(
        app: row.app, key: row.key, home: Incarnation(UInt64(home.incarnation)),
        epoch: Epoch(UInt64(home.epoch)))
    ])
  }

  /// Gives everything to the other nodes, what belongs to no app last. True if nothing is left.
  func handOverAll() -> Bool {
    turns.withLock { _ in
      guard let home, let (known, node) = view() else { return home == nil }
      settleDown()
      // Until this node said that it ends, it may have been the only one that may be a home.
      return handOverAll(of: home, registry.view(as: node, orKnown: known) ?? known)
    }
  }

  /// The same while turns are held.
  func handOverAll(of home: NodeHome, _ view: ClusterView) -> Bool {
    guard let loads = try? home.store.wait({ t throws(StorageError) in try t.homes.loads() }) else {
      return false
    }
    let others = HomeCandidate.all(with: loads, in: view).filter { $0.home != home.own.home }
    guard !others.isEmpty else { return false }
    let rows = state.withLock { $0.rows.filter { $0.home.fence == home.own.home } }
    // Deleted apps are not among these: who ends their home sees to what is left of them.
    let weights = loads[home.own.home] ?? [:]
    for (app, next) in HomePlan.place(weights, among: others, bundles: state.withLock(\.bundles)) {
      if let row = rows.first(where: { $0.app == app }) {
        handOver(row, of: home, to: next.home, view)
      }
    }
    if let row = rows.first(where: { $0.app == .installation }) {
      let hooks = hooks.withLock { $0 }
      hooks?.leaving()
      if !handOverInstallation(row, of: home, to: others.map(\.home)) { hooks?.staying(row.home.epoch) }
    }
    follow(view)
    return state.withLock { state in
      state.rows.allSatisfy { row in
        row.home.fence != home.own.home || row.app != .installation && weights[row.app] == nil
      }
    }
  }

  /// Gives what belongs to no app to one of some homes. If that fails it stays here, and is served until the
  /// end; then its home is gone, and the others take it by themselves.
  private func handOverInstallation(_ row: AppHomeRow, of home: NodeHome, to others: [Int64]) -> Bool {
    home.own.remove(.installation)
    link.release(.none)
    do throws(StorageError) {
      for next in others {
        let epoch = try Store.wait {
          (done: @escaping @Sendable (Result<Int64?, StorageError>) -> Void) in
          home.store.write(
            { t throws(StorageError) in
              try t.homes.handOver(.installation, to: (node: next, home: next))
            }, completion: done)
        }
        // Nil if that one is no home any more.
        guard let epoch else { continue }
        note(row, HomeRow(incarnation: next, epoch: epoch, fence: next))
        return true
      }
      log.warning("no other node can take over installation-wide services")
    } catch {
      log.warning("installation-wide services not handed over", ["error": .text(error.description)])
    }
    home.own.admit(.installation)
    home.own.insert(.installation)
    link.open(.none, epoch: Epoch(UInt64(row.home.epoch)))
    return false
  }
}
