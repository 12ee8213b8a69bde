import PushBase
import PushDomain
import PushRouter
import PushStorage
import Synchronization

/// Looking up devices, reading more of the queue, and saving what became of it. Each is done by at most one job at a time.
extension APNsQueue {
  /// Devices of pushes to be looked up.
  struct Batch: Sendable {
    struct Part: Sendable {
      let leg: PushLeg
      let slot: APNsTokenSlot
      let badge: APNsBadge
      let numbers: [RegistrationNumber]
    }

    let isLarge: Bool
    var parts: [Part] = []
    var count = 0

    var changesBadges: Bool { parts.contains { $0.badge != .unchanged } }
  }

  fileprivate enum Step {
    case fetch(Batch)
    case load(after: MessageID, skipped: MessageID)
    case save([APNsAnswers])
  }

  /// Starts what can be done now.
  func advance() {
    let (failed, steps) = state.withLock { state in (state.takeFailed(), state.nextSteps()) }
    // Before their ends are saved, so that a crash in between repeats something and loses nothing.
    for (id, numbers) in failed {
      parts.router.takeBackFromApple(id, in: app, for: numbers) { [self] isStored in
        state.withLock { $0.settled(id, numbers, isStored: isStored) }
        if isStored { advance() }
      }
    }
    for step in steps {
      switch step {
      case .fetch(let batch): fetch(batch)
      case .load(let id, let skipped): load(after: id, skipped: skipped)
      case .save(let finished): save(finished)
      }
    }
  }

  // MARK: Tokens

  private func fetch(_ batch: Batch) {
    let id = app.id
    @Sendable func rows(_ transaction: ReadTransaction) throws(StorageError) -> [[TokenRow]] {
      var all: [[TokenRow]] = []
      for part in batch.parts { all.append(try transaction.tokens(app: id, of: part.numbers, as: part.slot)) }
      return all
    }
    guard batch.changesBadges else {
      parts.store.read({ transaction throws(StorageError) in try rows(transaction) }) { [self] in
        fetched(batch, $0)
      }
      return
    }
    parts.store.write(canWait: true) { transaction throws(StorageError) in
      for part in batch.parts where part.badge != .unchanged {
        _ = try transaction.changeBadges(app: id, of: part.numbers, part.badge)
      }
      return try rows(transaction.reading)
    } completion: { [self] in
      fetched(batch, $0)
    }
  }

  private func fetched(_ batch: Batch, _ result: Result<[[TokenRow]], StorageError>) {
    let lanes = state.withLock { state in
      if batch.isLarge { state.isFetchingMany = false } else { state.isFetchingFew = false }
      guard case .success(let rows) = result else {
        state.giveBack(batch)
        state.isHeldUp = true
        return [APNsLane]()
      }
      for (part, rows) in zip(batch.parts, rows) { state.take(part, rows) }
      return state.lanesWithWork
    }
    for lane in lanes { lane.wake() }
    advance()
  }

  // MARK: The rest of the queue

  /// `skipped` was the newest push left in the database when this began: it and all before it are seen.
  private func load(after id: MessageID, skipped: MessageID) {
    let app = app.id
    parts.store.read { transaction throws(StorageError) in
      (
        rows: try transaction.openAPNsPushes(app: app, after: id, limit: Bounds.pushes / 4),
        spreadMinutes: try transaction.steadyPushes()
      )
    } completion: { [self] result in
      state.withLock { state in
        state.isLoading = false
        defer { state.withdrawn = [] }
        guard case .success(let (rows, spreadMinutes)) = result else {
          state.isHeldUp = true
          return
        }
        for row in rows where !state.withdrawn.contains(row.push.id) {
          add(row, spreadMinutes[row.push.id], to: &state)
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

  private func add(_ row: OpenAPNsPush, _ spreadMinutes: Int64?, to state: inout State) {
    guard let push = APNsPush(row.push, app: app, spreadMinutes: spreadMinutes) else {
      parts.log.error("a stored push to Apple is unreadable", ["msg_id": .text(row.push.id.text)])
      state.finished.append(APNsAnswers(id: row.push.id, results: [:], news: [:], isFinal: true))
      return
    }
    state.add(
      push, results: row.results.mapValues { $0.compactMapValues { NumberSet(serialized: $0) } },
      at: parts.time.now())
  }

  /// Ends what expired in the database, for an app whose queue stands still.
  private func sweep(at now: Timestamp) {
    let app = app.id
    parts.store.read { transaction throws(StorageError) in
      try transaction.expiredAPNsPushes(app: app, at: now, limit: Bounds.batch)
    } completion: { [self] result in
      guard case .success(let rows) = result, !rows.isEmpty else { return }
      state.withLock { state in
        for row in rows where state.legs(of: row.push.id).isEmpty {
          add(row, nil, to: &state)
          for leg in state.legs(of: row.push.id) { state.expire(leg) }
        }
      }
      advance()
    }
  }

  // MARK: Saving

  private func save(_ finished: [APNsAnswers]) {
    parts.router.store(finished, of: app) { [self] isStored in
      state.withLock { state in
        state.isSaving = false
        if !isStored {
          state.finished += finished
          state.isHeldUp = true
        }
      }
      advance()
    }
  }

  /// Saves what was answered of pushes that are not finished, so that a restart does not send it again.
  private func saveProgress() {
    let dirty = state.withLock { state in
      // A restart would take those for answered whose way over our connection could not be stored.
      let dirty = state.open.values.filter { !$0.news.isEmpty && state.failed[$0.id] == nil }
      for push in dirty { state.open[push.leg]?.news = [:] }
      return dirty.map { APNsAnswers($0.id, [$0], isFinal: false) }
    }
    for answers in dirty {
      parts.router.store(answers, of: app) { [self] isStored in
        if !isStored { state.withLock { $0.giveBack(answers) } }
      }
    }
  }

  /// The work of once a second.
  func tick() {
    let now = parts.time.now()
    let (lanes, suspects) = state.withLock { state in
      state.isHeldUp = false
      state.expire(at: now)
      state.release(at: now)
      state.takeDue(at: now.seconds)
      return (state.lanesWithWork, state.confirmedSuspects(at: parts.time.monotonic()))
    }
    for suspect in suspects { retire(suspect.delivery, since: now, suspect.fault) }
    saveProgress()
    if now.seconds % 60 == 0, state.withLock({ $0.isSpilled }) { sweep(at: now) }
    advance()
    for lane in lanes { lane.wake() }
  }

  /// Saves everything before the end; what is under way is sent again after the next start.
  func finish() {
    saveProgress()
    advance()
    // All that `advance` leaves for later: there is no later.
    let finished = state.withLock { state in
      defer { state.finished = [] }
      // Those in between are stored before: the writer keeps the order.
      return state.finished.filter { state.failed[$0.id] == nil }
    }
    if !finished.isEmpty { save(finished) }
  }
}

extension APNsQueue.State {
  /// What can be done now, marked as begun.
  fileprivate mutating func nextSteps() -> [APNsQueue.Step] {
    guard !isHeldUp else { return [] }
    var steps: [APNsQueue.Step] = []
    if mayLookUp, laterCount < APNsQueue.Bounds.later {
      let waiting = ready.values.reduce((few: 0, many: 0)) {
        ($0.few + $1.few.count, $0.many + $1.many.count)
      }
      if !isFetchingFew, waiting.few < APNsQueue.Bounds.ready, let batch = nextBatch(isLarge: false) {
        isFetchingFew = true
        steps.append(.fetch(batch))
      }
      if !isFetchingMany, waiting.many < APNsQueue.Bounds.ready, let batch = nextBatch(isLarge: true) {
        isFetchingMany = true
        steps.append(.fetch(batch))
      }
      if isSpilled, !isLoading, open.count < APNsQueue.Bounds.pushes / 2 {
        isLoading = true
        steps.append(.load(after: loadedThrough, skipped: skippedThrough))
      }
    }
    if !finished.isEmpty, !isSaving {
      let batch = takeFinished()
      isSaving = !batch.isEmpty
      if isSaving { steps.append(.save(batch)) }
    }
    return steps
  }

  /// The ends that may be stored now, as many as are stored at a time.
  private mutating func takeFinished() -> [APNsAnswers] {
    if failed.isEmpty, falling.isEmpty {
      defer { finished.removeFirst(min(finished.count, APNsQueue.Bounds.saved)) }
      return Array(finished.prefix(APNsQueue.Bounds.saved))
    }
    var batch: [APNsAnswers] = []
    var others: [APNsAnswers] = []
    for answers in finished {
      if batch.count < APNsQueue.Bounds.saved, mayEnd(answers.id) {
        batch.append(answers)
      } else {
        others.append(answers)
      }
    }
    finished = others
    return batch
  }

  private mutating func nextBatch(isLarge: Bool) -> APNsQueue.Batch? {
    var batch = APNsQueue.Batch(isLarge: isLarge)
    while batch.count < APNsQueue.Bounds.batch {
      guard let leg = isLarge ? many.popFirst() : few.popFirst() else { break }
      guard let notification = open[leg]?.notification else { continue }
      let wanted = APNsQueue.Bounds.batch - batch.count
      let numbers = open[leg]?.claim(wanted) ?? []
      if !numbers.isEmpty {
        batch.parts.append(
          APNsQueue.Batch.Part(
            leg: leg, slot: notification.slot, badge: notification.badge, numbers: numbers))
        batch.count += numbers.count
      }
      if numbers.count == wanted {
        // There may be more of it. It goes to the end, so that several large pushes move on together.
        if isLarge { many.append(leg) } else { few.putBack(leg) }
      } else {
        open[leg]?.isQueued = false
      }
    }
    return batch.parts.isEmpty ? nil : batch
  }

  fileprivate mutating func take(_ part: APNsQueue.Batch.Part, _ rows: [TokenRow]) {
    var known: Set<RegistrationNumber> = []
    for row in rows {
      known.insert(row.number)
      guard let notification = open[part.leg]?.notification else { return }
      let environment = notification.environment(registered: row.environment)
      prepare(Delivery(leg: part.leg, slot: part.slot, row: row, environment: environment))
    }
    for number in part.numbers where !known.contains(number) {
      fail(part.leg, number, APNsQueue.Ends.noToken)
    }
  }

  fileprivate mutating func giveBack(_ batch: APNsQueue.Batch) {
    for part in batch.parts {
      for number in part.numbers { open[part.leg]?.claimed.remove(number) }
      open[part.leg]?.position = RegistrationNumber(0)
      queue(part.leg)
    }
  }

  /// Answers could not be saved.
  fileprivate mutating func giveBack(_ answers: APNsAnswers) {
    // If it is through by now, its end stores all that was answered.
    for (kind, outcomes) in answers.news {
      let leg = PushLeg(push: answers.id, kind: kind)
      for (reason, targets) in outcomes {
        open[leg]?.news[reason, default: NumberSet()].formUnion(targets)
      }
    }
  }

  fileprivate mutating func expire(at now: Timestamp) {
    for leg in open.keys where open[leg].map({ $0.expires <= now }) ?? false { expire(leg) }
  }

  /// The time of a push is over.
  fileprivate mutating func expire(_ leg: PushLeg) {
    open[leg]?.finishAll(APNsQueue.Ends.expired)
    end(leg)
  }

  fileprivate mutating func takeDue(at second: Int64) {
    for due in later.keys.filter({ $0 <= second }).sorted() {
      let deliveries = later.removeValue(forKey: due) ?? []
      laterCount -= deliveries.count
      for delivery in deliveries { prepare(delivery, atFront: true) }
    }
  }

  fileprivate mutating func confirmedSuspects(at nanoseconds: UInt64) -> [SuspectToken] {
    var confirmed: [SuspectToken] = []
    for environment in guards.keys { confirmed += guards[environment]?.confirmed(at: nanoseconds) ?? [] }
    return confirmed
  }
}
