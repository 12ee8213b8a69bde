import BorealisBase
import Core
import Model
import Storage
import Synchronization

/// Looks up devices, reads more of the queue, and saves results. Each is done by at most one job at a time.
extension ChannelQueue {
  /// Deliveries of a leg that are sent at most once.
  private struct ArmedLeg: Hashable {
    let key: LegKey
    let slot: TokenSlot
  }

  enum Step {
    case fetch(Batch)
    case readAgain([Delivery], at: ReadMoment)
    case arm([Delivery])
    case load(after: MessageID, skipped: MessageID)
    case look(LeftPushes.Page)
    case takeOver([MessageID])
    case save([ChannelAnswers])
  }

  /// Starts the steps that can be done now.
  func advance() {
    let (failed, goingOn, steps) = state.withLock { state in
      (state.isHeldUp ? [:] : state.failed.beginStoring(), state.failed.goingOn, state.nextSteps())
    }
    // Before their ends are saved, so that a crash in between repeats requests and loses nothing.
    for (id, numbers) in failed {
      let goOn = goingOn[id].map { $0.intersection(numbers) } ?? []
      deliveries.withdraw(id, in: app, from: channel, for: numbers, goingOn: goOn) { [self] isStored in
        state.withLock { state in
          state.failed.settled(id, numbers, isStored: isStored)
          if !isStored { state.isHeldUp = true }
        }
        if isStored { advance() }
      }
    }
    for step in steps {
      switch step {
      case .fetch(let batch): fetch(batch)
      case .readAgain(let deliveries, let moment): readAgain(deliveries, at: moment)
      case .arm(let deliveries): arm(deliveries)
      case .load(let id, let skipped): load(after: id, skipped: skipped)
      case .look(let page): look(through: page)
      case .takeOver(let ids): takeOver(ids)
      case .save(let finished): save(finished)
      }
    }
  }

  // MARK: Tokens

  private func fetch(_ batch: Batch) {
    let id = app.id
    guard batch.parts.contains(where: \.changesBadges) else {
      store.read { transaction throws(StorageError) in
        var all: [[TokenRow]] = []
        for part in batch.parts {
          all.append(try transaction.tokens.find(app: id, of: part.numbers, as: part.slot))
        }
        return all
      } completion: { [self] in
        fetched(batch, $0)
      }
      return
    }
    store.write(of: id, lowPriority: true) { [self] transaction throws(StorageError) in
      try batch.count(of: id, in: transaction) { push, numbers in
        // Here, since this is the order in which numbers are stored.
        state.withLock { $0.badges.count(push, on: numbers) }
      }
    } completion: { [self] in
      fetched(batch, $0)
    }
  }

  /// Stores attempts of deliveries that are sent at most once before they are sent: whatever happens then,
  /// they are not sent again.
  private func arm(_ deliveries: [Delivery]) {
    let id = app.id
    // A leg goes to one slot.
    let byLeg = Dictionary(grouping: deliveries) { ArmedLeg(key: $0.key, slot: $0.slot) }
      .mapValues { $0.map(\.row.number).sorted() }
    store.write(of: id) { transaction throws(StorageError) in
      for (leg, numbers) in byLeg {
        _ = try transaction.channelQueue.claim(leg.key.push, app: id, leg.slot, for: numbers, .unchanged)
      }
    } completion: { [self] result in
      let targets = state.withLock { state in
        state.isArming = false
        guard case .success = result else {
          for delivery in deliveries { state.arming.append(delivery) }
          state.isHeldUp = true
          return [any ServiceTarget]()
        }
        for var delivery in deliveries.reversed() {
          delivery.isArmed = true
          state.prepare(delivery, atFront: true)
        }
        return state.targetsWithWork
      }
      for target in targets { target.wake() }
      advance()
    }
  }

  /// Reads the tokens of deliveries to retry again.
  private func readAgain(_ deliveries: [Delivery], at moment: ReadMoment) {
    let id = app.id
    store.read { transaction throws(StorageError) in
      var rows: [TokenRow?] = []
      for delivery in deliveries {
        let number = delivery.row.number
        var row = try transaction.tokens.find(app: id, of: [number], as: delivery.slot).first
        if let badge = try transaction.channelQueue.badge(of: number, app: id) { row?.badge = badge }
        rows.append(row)
      }
      return rows
    } completion: { [self] result in
      let targets = state.withLock { state in
        state.isReadingAgain = false
        guard case .success(let rows) = result else {
          for delivery in deliveries { state.retries.add(delivery) }
          state.isHeldUp = true
          return [any ServiceTarget]()
        }
        // In reverse, since each goes to the front.
        for (delivery, row) in zip(deliveries, rows).reversed() {
          state.retake(delivery, row, readAt: moment)
        }
        return state.targetsWithWork
      }
      for target in targets { target.wake() }
      advance()
    }
  }

  private func fetched(_ batch: Batch, _ result: Result<[[TokenRow]], StorageError>) {
    let targets = state.withLock { state in
      if batch.isLarge { state.isFetchingMany = false } else { state.isFetchingFew = false }
      guard case .success(let rows) = result else {
        state.giveBack(batch)
        state.isHeldUp = true
        return [any ServiceTarget]()
      }
      for (part, rows) in zip(batch.parts, rows) { state.apply(part, rows, readAt: batch.readAt) }
      return state.targetsWithWork
    }
    for target in targets { target.wake() }
    advance()
  }

  // MARK: The rest of the queue

  /// `skipped` was the newest push left in the database when this began: it and all before it are read.
  private func load(after id: MessageID, skipped: MessageID) {
    pushes.load(after: id, limit: Bounds.pushes / 4) { [self] result in
      state.withLock { state in
        state.isLoading = false
        defer { state.endReading() }
        guard case .success(let (rows, pacingMinutes)) = result else {
          state.isHeldUp = true
          return
        }
        for row in rows where !state.withdrawn.contains(row.push.id) {
          add(row, pacingMinutes[row.push.id], to: &state)
        }
        state.loadedThrough = rows.last?.push.id ?? id
        if rows.count < Bounds.pushes / 4, state.skippedThrough == skipped {
          state.loadedThrough = max(state.loadedThrough, skipped)
          state.isSpilled = false
        }
      }
      advance()
    }
  }

  /// Reads pushes of which the channel has taken over devices.
  private func takeOver(_ ids: [MessageID]) {
    pushes.find(ids) { [self] result in
      state.withLock { state in
        state.isTakingOver = false
        defer { state.endReading() }
        guard case .success(let (rows, pacingMinutes)) = result else {
          for id in ids { state.takenOver.append(id) }
          state.isHeldUp = true
          return
        }
        for row in rows where !state.withdrawn.contains(row.push.id) {
          takeOver(row, pacingMinutes[row.push.id], &state)
        }
      }
      advance()
    }
  }

  private func takeOver(_ row: OpenChannelPush, _ pacingMinutes: Int64?, _ state: inout QueueState) {
    let push = ChannelPush(row.push, channel, app: app, pacingMinutes: pacingMinutes)
    guard let push, case let parts = parts(push), !parts.isEmpty else { return end(row.push.id, in: &state) }
    if !state.takeOver(push, parts, results: outcomes(row), tried: row.tried, at: time.now()) {
      state.takenOver.append(row.push.id)
    }
  }

  /// Looks for pushes in the database whose devices have come.
  private func look(through page: LeftPushes.Page) {
    pushes.look(through: page) { [self] result in
      // Whoever is away again gets it from the service.
      let found = (try? result.get())?.pushes.filter { app.directory.isReachable($0.number) } ?? []
      let now = time.now()
      let ends = found.compactMap { row, number -> (ChannelAnswers, RegistrationNumber)? in
        guard let push = ChannelPush(row.push, channel, app: app) else { return nil }
        return ChannelAnswers(
          push, of: channel, parts(push), results: outcomes(row), connected: number, at: now
        ).map { ($0, number) }
      }
      state.withLock { state in
        for (end, number) in ends { state.handOver(end, to: number) }
        state.left.turn(result)
        state.endReading()
      }
      advance()
    }
  }

  private func outcomes(_ row: OpenChannelPush) -> LegOutcomes {
    row.results.mapValues { $0.compactMapValues { NumberSet(serialized: $0) } }
  }

  private func add(_ row: OpenChannelPush, _ pacingMinutes: Int64?, to state: inout QueueState) {
    let push = ChannelPush(row.push, channel, app: app, pacingMinutes: pacingMinutes)
    guard let push, case let parts = parts(push), !parts.isEmpty else { return end(row.push.id, in: &state) }
    state.add(push, parts, results: outcomes(row), tried: row.tried, at: time.now())
    guard row.isWithdrawn else { return }
    // An earlier run had requests in flight when it ended.
    for leg in state.legs(of: row.push.id) {
      state.open[leg]?.finishAll(ChannelEnd.noAnswer)
      state.end(leg)
    }
  }

  /// Ends a push of which there is nothing to send: it would wait for ever.
  func end(_ id: MessageID, in state: inout QueueState) {
    log.error(
      "a stored push is unreadable",
      ["msg_id": .text(id.text), "channel": .number(Int64(channel.rawValue))])
    state.finished.append(ChannelAnswers(id: id, channel: channel, results: [:], news: [:], isFinal: true))
  }

  /// Ends expired pushes in the database, for an app whose queue is stopped.
  private func sweep(at now: Timestamp) {
    pushes.expired(at: now, limit: Bounds.batch) { [self] result in
      guard case .success(let rows) = result, !rows.isEmpty else { return }
      state.withLock { state in
        for row in rows where state.legs(of: row.push.id).isEmpty && !state.isBeingSaved(row.push.id) {
          add(row, nil, to: &state)
          for leg in state.legs(of: row.push.id) { state.expire(leg) }
        }
      }
      advance()
    }
  }

  // MARK: Saving

  private func save(_ finished: [ChannelAnswers]) {
    deliveries.store(finished, of: app) { [self] isStored in
      state.withLock { $0.endSaving(finished, isStored: isStored) }
      advance()
    }
  }

  /// Saves results of unfinished pushes, so that a restart does not repeat their requests.
  private func saveProgress() {
    let dirty = state.withLock { state in
      // Otherwise a restart would count devices as done whose fallback to the direct connection is not
      // stored.
      let dirty = state.open.values.filter { !$0.news.isEmpty && state.failed.mayEnd($0.id) }
      for push in dirty { state.open[push.key]?.news = [:] }
      return dirty.map { [channel] in ChannelAnswers($0.id, of: channel, [$0], isFinal: false) }
    }
    for answers in dirty {
      deliveries.store(answers, of: app) { [self] isStored in
        if !isStored { state.withLock { $0.giveBack(answers) } }
      }
    }
  }

  /// Call once a second.
  package func tick() {
    let now = time.now()
    let jump = jumpBack()
    let reachable = awaitsCredential ? app.directory.reachable : NumberSet()
    let targets = state.withLock { state in
      state.isHeldUp = false
      state.failed.tick()
      if jump > 0 { state.followClock(back: jump) }
      state.expire(at: now)
      state.giveUpRemoved(at: now.seconds)
      state.bringInstead(to: reachable)
      if state.isSpilled, now.seconds % 60 == 0 { state.left.came(reachable) }
      state.release(at: now)
      state.retries.advance(to: now.seconds)
      if quotas.renew(at: time.monotonic()) { state.queueHeldBack() }
      state.held.giveUp(at: now.seconds)
      state.forgetChanges()
      state.look(waitingSince: now.adding(seconds: -Bounds.patience))
      return state.targetsWithWork
    }
    saveProgress()
    tokens.tick()
    if now.seconds % 60 == 0, state.withLock({ $0.isSpilled }) { sweep(at: now) }
    advance()
    for target in targets { target.wake() }
  }

  /// Saves everything before the end; requests in flight are repeated after the next start.
  package func finish() {
    saveProgress()
    tokens.save(isLast: true)
    state.withLock { $0.failed.releaseAll() }
    advance()
    // Everything that `advance` would postpone.
    let finished = state.withLock { state in
      defer { state.finished = [] }
      // Jobs in between are stored before: the writer keeps the order.
      return state.finished.filter { state.failed[$0.id] == nil }
    }
    if !finished.isEmpty { save(finished) }
  }
}
