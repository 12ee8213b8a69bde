import BorealisBase

extension ClusterNode {
  /// Receives a frame from the bus.
  package mutating func receive(_ frame: [UInt8], now: UInt64) {
    counts.received += 1
    let head: FrameHead
    do throws(ClusterFrameError) {
      head = try FrameHead(of: frame, cluster: cluster, versions: hello.versions)
    } catch {
      return refuse(error)
    }
    let peer = head.from
    guard peer != incarnation, head.to == incarnation || head.to == .none && head.sequence == 0,
      !forgotten.contains(peer)
    else { return }
    if links[peer] == nil {
      guard makeRoom(now: now) else {
        counts.refused += 1
        return
      }
      links[peer] = PairLink(peer: peer, now: now)
      if head.type != .hello { sayHello(to: peer, wantsAnswer: true, now: now) }
    }
    if links[peer]?.heard(now: now) == true { output.append(.heard(peer)) }
    guard head.sequence > 0 else { return receiveUnordered(frame, from: peer, now: now) }
    links[peer]?.bytesSinceApplied += frame.count
    links[peer]?.owesApplied = true
    var frames: [InboundOrder.Output] = []
    switch links[peer]?.inbound.add(head.sequence, frame, now: now, &frames) {
    case .repeated: counts.repeated += 1
    case .tooFarAhead: counts.malformed += 1
    case .taken, nil: break
    }
    apply(frames, from: peer, now: now)
    if let bytes = links[peer]?.bytesSinceApplied, bytes >= ClusterLimits.appliedAfter {
      reportApplied(peer, now: now)
    }
  }

  /// Whether one more node may be known: anybody on the bus can make senders up. One that says nothing gives
  /// its place away, first of all one that never said who it is; what it is to the others has to be found out
  /// anew if it comes back.
  private mutating func makeRoom(now: UInt64) -> Bool {
    guard links.count >= ClusterLimits.maxLinks else { return true }
    let silent = links.values.filter { now >= $0.lastHeard + ClusterLimits.silence }
    let first = silent.min {
      ($0.hello == nil ? 0 : 1, $0.lastHeard, $0.peer) < ($1.hello == nil ? 0 : 1, $1.lastHeard, $1.peer)
    }
    guard let first else { return false }
    links[first.peer] = nil
    output.append(.dropped(first.peer))
    return true
  }

  private func read(_ frame: [UInt8]) -> ClusterFrame? {
    try? ClusterFrame(frame, cluster: cluster, versions: hello.versions)
  }

  private mutating func receiveUnordered(_ bytes: [UInt8], from peer: Incarnation, now: UInt64) {
    guard let frame = read(bytes) else {
      counts.malformed += 1
      return
    }
    links[peer]?.clock.note(frame.saidAt, now: now)
    for entry in frame.entries {
      switch entry.message {
      case .hello(let hello): handle(hello, from: peer, now: now)
      case .position(let position):
        hear(timeline: position.timeline)
        links[peer]?.owesApplied = true
        var frames: [InboundOrder.Output] = []
        if links[peer]?.inbound.note(sent: position.sequence, now: now, &frames) == false {
          counts.malformed += 1
        }
        apply(frames, from: peer, now: now)
        for app in position.apps { note(app, from: peer, now: now) }
      case .applied(let applied):
        hear(timeline: applied.timeline)
        links[peer]?.confirm(applied.apps)
        guard links[peer]?.outbound.apply(through: applied.sequence) == true else { continue }
        for replay in links[peer]?.possibleReplays ?? [] {
          output.append(.replay(replay.app, to: peer, after: replay.after))
        }
      default: counts.malformed += 1
      }
    }
  }

  private mutating func handle(_ new: NodeHello, from peer: Incarnation, now: UInt64) {
    let before = links[peer]?.hello
    let isFirst = links[peer]?.handle(new, own: hello.versions) ?? false
    if links[peer]?.version == nil {
      if before?.versions != new.versions { output.append(.incompatible(peer, new)) }
    } else if isFirst {
      output.append(.joined(peer, new))
    } else if let before,
      (before.load, before.isDraining, before.address) != (new.load, new.isDraining, new.address)
    {
      output.append(.changed(peer, new))
    }
    if new.wantsAnswer { sayHello(to: peer, wantsAnswer: false, now: now) }
  }

  /// The home of an app says what it has sent.
  private mutating func note(_ position: AppPosition, from peer: Incarnation, now: UInt64) {
    guard adopt(position.app, peer, position.epoch) else { return }
    links[peer]?.positionsToReport.insert(position.app)
    if receivers[position.app]?.note(sent: position.id, now: now) == .ask {
      askReplay(position.app, now: now)
    }
  }

  private mutating func adopt(_ app: AppID, _ home: Incarnation, _ epoch: Epoch) -> Bool {
    if receivers[app]?.adopt(home, epoch) ?? true {
      if receivers[app] == nil { receivers[app] = DeliveryReceiver(home: home, epoch: epoch) }
      return true
    }
    counts.stale += 1
    return false
  }

  private mutating func askReplay(_ app: AppID, now: UInt64) {
    guard let receiver = receivers[app] else { return }
    counts.replaysAsked += 1
    let request = ClusterMessage.replay(ReplayRequest(after: receiver.applied))
    send(ClusterEntry(app: app, epoch: receiver.epoch, request), to: receiver.home, now: now)
  }

  mutating func apply(_ frames: [InboundOrder.Output], from peer: Incarnation, now: UInt64) {
    for item in frames {
      switch item {
      case .gap(let missing):
        counts.lost += UInt64(missing.count)
        output.append(.gap(from: peer))
      case .frame(let bytes):
        guard let frame = read(bytes) else {
          counts.malformed += 1
          counts.lost += 1
          output.append(.gap(from: peer))
          continue
        }
        if frame.entries.isEmpty { counts.unknown += 1 }
        links[peer]?.clock.note(frame.saidAt, now: now)
        let age = links[peer]?.clock.age(frame.saidAt, now: now) ?? 0
        for entry in frame.entries { apply(entry, from: peer, age: age, now: now) }
      }
    }
  }

  private mutating func apply(_ entry: ClusterEntry, from peer: Incarnation, age: UInt64, now: UInt64) {
    switch entry.message {
    case .hello, .position, .applied: counts.malformed += 1
    case .pushOne, .pushMany, .replayed:
      guard adopt(entry.app, peer, entry.epoch) else { return }
      links[peer]?.positionsToReport.insert(entry.app)
      switch receivers[entry.app]?.receive(entry.message, now: now) {
      case .apply: output.append(.message(from: peer, entry, age: age))
      case .ask: askReplay(entry.app, now: now)
      case .drop, nil: break
      }
    case .replay(let request):
      guard let sender = links[peer]?.senders[entry.app], sender.epoch == entry.epoch else {
        counts.stale += 1
        return
      }
      links[peer]?.owe(entry.app, request)
      for replay in links[peer]?.possibleReplays ?? [] where replay.app == entry.app {
        output.append(.replay(replay.app, to: peer, after: replay.after))
      }
    case .home(let notice):
      guard adopt(entry.app, notice.incarnation, entry.epoch) else { return }
      output.append(.message(from: peer, entry, age: age))
    default:
      if entry.message.isFromHome {
        guard adopt(entry.app, peer, entry.epoch) else { return }
      }
      output.append(.message(from: peer, entry, age: age))
    }
  }
}
