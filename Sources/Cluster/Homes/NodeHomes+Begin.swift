import BorealisBase
import Storage
import Synchronization

extension NodeRegistry {
  /// Ends homes whose nodes are gone, and says so.
  func endDeadHomes(_ log: Log) throws(StorageError) {
    for home in try endDeadHomes() {
      log.warning("ended the home of a dead node", ["node": .number(home)])
    }
  }
}

/// How a node becomes a home, and is one no more.
extension NodeHomes {
  /// Follows the home of all apps, or nobody, unless each app has a home of its own.
  func followAll(_ home: NodeRow?, epoch: Int64) {
    state.withLock { state in
      guard !state.isDivided else { return }
      if home != nil { state.yieldsSince = nil }
      link.follow(home.map { Incarnation(UInt64($0.incarnation)) }, epoch: Epoch(UInt64(epoch)))
      forwarder.follow(home.flatMap { NodeAddress(of: $0) })
    }
  }

  /// From now on each app has a home of its own.
  func divide() {
    state.withLock { state in
      guard !state.isDivided else { return }
      state.isDivided = true
      link.divide()
      forwarder.follow(RequestHomes(installation: .nobody, apps: [:]))
    }
  }

  /// Becomes a home, unless something is in the way. `fence` is that of a server of all apps that is dead.
  /// Where there are homes already, nobody may migrate, also in a moment in which their connections are lost.
  /// While turns are held.
  func begin(_ view: ClusterView, _ node: Int64, replacing fence: Int64? = nil) {
    guard home == nil, !state.withLock(\.isHandingOver), let hooks = hooks.withLock({ $0 }) else { return }
    do throws(NodeFailure) {
      if let gaps = ReachGaps(of: node, in: view) {
        // Known in a moment.
        guard !gaps.isUnknown else { return }
        throw .failed(gaps.text)
      }
      if let other = state.withLock({ $0.yields(to: view, of: node, at: time.monotonic()) }) {
        throw .failed("the node \(other) knows of one home for all apps only, and is to become it first")
      }
      let home = try hooks.open(registry, fence, !view.isDivided)
      // It may have been taken for dead meanwhile, or be about to end.
      guard home.own.node == self.view()?.own, !state.withLock(\.isHandingOver) else {
        home.store.close()
        return leave(home)
      }
      divide()
      guard hooks.begun(home) else {
        home.store.close()
        return leave(home)
      }
      state.withLock { ($0.home, $0.node, $0.hindrance) = (home, home.own.node, "") }
      log.info("this node can be the home of apps", ["slot": .number(Int64(home.own.slot.rawValue))])
    } catch {
      let isNew = state.withLock { state in
        defer { state.hindrance = error.message }
        return state.hindrance != error.message
      }
      if isNew { log.warning("this node is a gateway only, for now", ["reason": .text(error.message)]) }
    }
  }

  /// Takes over what belongs to no app, if its home is gone, and becomes a home before if it is none; its
  /// epoch. Nil if another node has it, or something is in the way. `fence` is that of a server of all apps
  /// that is dead.
  func takeOverInstallation(replacing fence: Int64?) throws(StorageError) -> Int64? {
    try registry.endDeadHomes(log)
    turns.withLock { _ in
      if let (view, node) = view() { begin(view, node, replacing: fence) }
    }
    guard let home else { return nil }
    let epoch = try Store.wait {
      (done: @escaping @Sendable (Result<Int64?, StorageError>) -> Void) in
      home.store.write(
        { t throws(StorageError) in try t.homes.assign(.installation, to: home.own) }, completion: done)
    }
    if epoch != nil { wake() }
    return epoch
  }

  /// This node is a home no more, whoever has its apps now or will have them: its requests and devices go
  /// there. Its store is still to be closed, and `leave` to be called then.
  func resign() -> NodeHome? {
    turns.withLock { _ in
      let home = state.withLock { state in
        defer { state.home = nil }
        (state.opened, state.served, state.patience, state.isHandingOver) = ([], [], [:], true)
        return state.home
      }
      guard let home else { return nil }
      link.resign()
      if let (view, _) = view() { follow(view) }
      return home
    }
  }

  /// The store is closed: others may have the apps. What fails is tried again with each turn.
  func leave(_ home: NodeHome) {
    do throws(StorageError) {
      try registry.endHome(home.own.home)
      state.withLock { $0.leaving = nil }
    } catch {
      state.withLock { $0.leaving = home }
      log.warning("other nodes cannot take over this node's apps yet", ["error": .text(error.description)])
    }
  }

  /// From now on this node gives nothing to others for balance, and becomes no home: it is about to end.
  func settleDown() { state.withLock { $0.isHandingOver = true } }
}
