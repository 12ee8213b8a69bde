import BorealisBase
import Model
import Storage

/// What came of a look at the figures of a canary.
package enum CanaryLook: Sendable, Equatable {
  /// Too little is known yet.
  case early
  /// It is over.
  case ended(CanaryRow.State)
  /// It was ended, or looked at, in the meantime; nothing was done.
  case stale
  /// A person wanted to send it to the rest, and it is refused; it waits on.
  case refused(APIError)
  /// Nothing could be read or stored now; it is to be tried again.
  case postponed
}

extension CanaryRow {
  /// Whether it waits for the look that it was read for, or for any.
  fileprivate func isCurrent(
    in transaction: WriteTransaction, atAnyLook isAny: Bool = false
  ) throws(StorageError) -> Bool {
    guard let found = try transaction.canaries.find(id, app: app), found.id == id, let next = found.lookAt
    else { return false }
    return isAny || next == lookAt
  }
}

extension CanaryFigures {
  fileprivate var pair: (succeeded: Int, failed: Int) { (succeeded, failed) }
}

/// What a canary is decided with.
private struct OpenCanary: Sendable {
  let row: CanaryRow
  let figures: CanaryFigures
  /// The push object of the push to the share, if it was kept.
  let object: [UInt8]?
  let app: App
  let rules: PushRules
}

extension Acceptance {
  /// Looks at the figures of a canary whose wait is over: sends the push to the rest, stops it, or waits on.
  /// `rules` are those of the app. `done` comes on the writer's thread or a reader's.
  package func look(
    at due: DueCanary, by rules: PushRules, _ canaries: Canaries,
    done: @escaping @Sendable (CanaryLook) -> Void
  ) {
    open(due.id, of: due.app, by: rules, canaries) { [self] result in
      switch result {
      case .failure: done(.postponed)
      case .success(nil): done(.stale)
      case .success(let canary?): decide(canary, done)
      }
    }
  }

  /// Sends a push that waits to the rest of its audience now, whatever its canary shows. `entry` is the
  /// audit log entry of the person who does so.
  package func release(
    _ id: MessageID, of app: App, by rules: PushRules, _ canaries: Canaries, noting entry: AuditRow? = nil,
    reply: @escaping @Sendable (Result<CanaryRow.State, CanaryFailure>) -> Void
  ) {
    open(id, of: app, by: rules, canaries) { [self] result in
      switch result {
      case .failure(let error): reply(.failure(.storage(error)))
      case .success(nil):
        // A canary of another push, or none, is distinguished from one that is over.
        canaries.find(id, in: app) { found in
          switch found {
          case .failure: reply(.failure(.refused(.timeout)))
          case .success(let status): reply(.failure(status?.id == id ? .over : .unknown))
          }
        }
      case .success(let canary?):
        guard !canary.figures.isRecalled else { return reply(.failure(.over)) }
        do throws(APIError) {
          guard !app.isDisabled else { throw .blacklisted }
          let request = try canary.row.request(for: canary.object, by: rules)
          send(request, after: canary, as: .released, noting: entry) { look in
            switch look {
            case .ended(.failed): reply(.failure(.refused(.internalError)))
            case .ended(let state): reply(.success(state))
            case .refused(let error): reply(.failure(.refused(error)))
            case .postponed: reply(.failure(.refused(.timeout)))
            case .stale, .early: reply(.failure(.over))
            }
          }
        } catch {
          reply(.failure(.refused(error)))
        }
      }
    }
  }

  /// Reads what a canary that waits is decided with; nil if it does not wait.
  private func open(
    _ id: MessageID, of app: App, by rules: PushRules, _ canaries: Canaries,
    found: @escaping @Sendable (Result<OpenCanary?, StorageError>) -> Void
  ) {
    store.read { transaction throws(StorageError) -> (row: CanaryRow, object: [UInt8]?)? in
      guard let row = try transaction.canaries.open(id, app: app.id) else { return nil }
      return (row, try transaction.pushes.source(of: id)?.source.object)
    } completion: { result in
      switch result {
      case .failure(let error): found(.failure(error))
      case .success(nil): found(.success(nil))
      case .success(let (row, object)?):
        canaries.figures(of: row, in: app) { figures in
          guard let figures else {
            return found(.failure(StorageError(.busy, "the figures of a canary could not be read")))
          }
          found(
            .success(OpenCanary(row: row, figures: figures, object: object, app: app, rules: rules)))
        }
      }
    }
  }

  private func decide(_ canary: OpenCanary, _ done: @escaping @Sendable (CanaryLook) -> Void) {
    let (row, figures) = (canary.row, canary.figures)
    let verdict = CanaryVerdict(figures, of: row.terms, isLast: row.look > CanaryVerdict.moreLooks)
    switch verdict {
    case .wait: wait(canary, done)
    case .recalled: finish(canary, .recalled, done)
    case .tooManyFailures: finish(canary, .tooManyFailures, done)
    case .tooLittleKnown: finish(canary, .tooLittleKnown, done)
    case .goOn:
      do throws(APIError) {
        let request = try row.request(for: canary.object, by: canary.rules)
        let due = row.lookAt ?? row.startedAt
        if let fault = lateFault(of: request.push, due: due, in: canary.app) { throw fault }
        send(request, after: canary, as: .sent, done)
      } catch {
        log.warning(
          "the rest of a push with a canary not sent",
          [
            "msg_id": .text(row.id.text), "code": .number(Int64(error.code)),
            "reason": .text(error.message),
          ])
        finish(canary, .failed, fault: error, done)
      }
    }
  }

  /// Sends the push to those of the rest that are still there.
  private func send(
    _ request: AcceptRequest, after canary: OpenCanary, as state: CanaryRow.State,
    noting entry: AuditRow? = nil, _ done: @escaping @Sendable (CanaryLook) -> Void
  ) {
    let (row, pair, now) = (canary.row, canary.figures.pair, time.now())
    guard let rest = NumberSet(serialized: row.rest.members) else {
      log.error("stored rest of a push with a canary is unreadable", ["msg_id": .text(row.id.text)])
      return finish(canary, .failed, fault: .internalError, noting: entry, done)
    }
    let isByHand = state == .released
    let kind = RestAcceptance<CanaryLook>(app: row.app) { (transaction) throws(StorageError) in
      // It was stopped or recalled, or another look or a person was faster.
      try row.isCurrent(in: transaction, atAnyLook: isByHand) ? nil : .stale
    } end: { (result, transaction) throws(StorageError) in
      var end = CanaryRow.End(state, at: now, figures: pair)
      switch result {
      case .sent(let id): end.rest = id
      case .nobody: end = CanaryRow.End(.nobodyLeft, at: now, figures: pair)
      case .refused(let error) where isByHand: return .refused(error)
      case .refused(let error):
        end = CanaryRow.End(.failed, at: now, figures: pair, fault: error)
      }
      try transaction.canaries.finish(row.id, app: row.app, end)
      if let entry { try transaction.audit.add(entry) }
      return .ended(end.state)
    }
    run(kind, parts(request, to: rest, in: canary.app)) { result in
      guard case .success(let look) = result else { return done(.postponed) }
      done(look)
    }
  }

  /// Puts the decision off. Those who wait for the end of their quiet hours have as much time then as the
  /// others had.
  private func wait(_ canary: OpenCanary, _ done: @escaping @Sendable (CanaryLook) -> Void) {
    let (row, now) = (canary.row, time.now())
    change(row, done) { transaction throws(StorageError) in
      if let until = canary.figures.heldUntil, until > now {
        try transaction.canaries.wait(row.id, look: row.look, at: until.adding(seconds: row.terms.wait))
      } else {
        try transaction.canaries.wait(
          row.id, look: row.look + 1,
          at: now.adding(seconds: row.terms.wait / Int64(CanaryVerdict.moreLooks)))
      }
      return .early
    }
  }

  private func finish(
    _ canary: OpenCanary, _ state: CanaryRow.State, fault: APIError? = nil, noting entry: AuditRow? = nil,
    _ done: @escaping @Sendable (CanaryLook) -> Void
  ) {
    let end = CanaryRow.End(state, at: time.now(), figures: canary.figures.pair, fault: fault)
    change(canary.row, done) { transaction throws(StorageError) in
      try transaction.canaries.finish(canary.row.id, app: canary.row.app, end)
      if let entry { try transaction.audit.add(entry) }
      return .ended(state)
    }
  }

  private func change(
    _ row: CanaryRow, _ done: @escaping @Sendable (CanaryLook) -> Void,
    _ body: @escaping @Sendable (WriteTransaction) throws(StorageError) -> CanaryLook
  ) {
    store.write(of: row.app) { transaction throws(StorageError) in
      try transaction.expectHome(of: row.app)
      return try row.isCurrent(in: transaction) ? try body(transaction) : .stale
    } completion: { result in
      done((try? result.get()) ?? .postponed)
    }
  }
}
