import BorealisBase
import HTTP
import Model
import Storage
import Synchronization

/// A batch with its attempts.
package struct CallbackBatch: Sendable, Equatable {
  /// The batch with its body.
  package var row: CallbackBatchRow
  /// The outcome of each attempt, oldest first.
  package var attempts: [CallbackAttemptRow]
}

extension CallbackService {
  /// Batches of an app below an ID, newest first, without bodies; of all states by default.
  package func batches(
    of app: AppID, state: CallbackState?, before id: Int64, limit: Int,
    found: @escaping @Sendable (Result<[CallbackBatchRow], CallbackError>) -> Void
  ) {
    store.read { transaction throws(StorageError) in
      var rows: [CallbackBatchRow] = []
      for state in state.map({ [$0] }) ?? CallbackState.allCases {
        rows += try transaction.callbacks.batches(app: app, state: state, before: id, limit: limit)
      }
      return Array(rows.sorted { $0.id > $1.id }.prefix(limit))
    } completion: {
      found($0.mapError { _ in .storage })
    }
  }

  /// One batch of an app, nil if the app has no such batch.
  package func batch(
    _ id: Int64, of app: AppID,
    found: @escaping @Sendable (Result<CallbackBatch?, CallbackError>) -> Void
  ) {
    store.read { transaction throws(StorageError) -> CallbackBatch? in
      guard let row = try transaction.callbacks.batch(app: app, id: id) else { return nil }
      return CallbackBatch(row: row, attempts: try transaction.callbacks.attempts(of: id))
    } completion: {
      found($0.mapError { _ in .storage })
    }
  }

  /// Sends a batch of an app again, whatever its state; false if the app has no such batch, or one that is
  /// kept no longer. With `note` the same commit writes the audit log.
  package func resend(
    _ id: Int64, of app: AppID, noting note: AuditRow? = nil,
    done: @escaping @Sendable (Result<Bool, CallbackError>) -> Void
  ) {
    let now = time.now()
    let end = now.adding(seconds: CallbackEvent.lifetime)
    // Without a limit a batch that is sent again every day would stay for ever.
    let kept = max(retention, CallbackEvent.lifetime)
    store.write(of: app) { transaction throws(StorageError) in
      guard try transaction.callbacks.resend(app: app, id: id, at: now, until: end, keptFor: kept)
      else { return false }
      if let note { try transaction.audit.add(note) }
      return true
    } completion: { [self] result in
      done(result.mapError { _ in .storage })
      if case .success(true) = result { queue.look() }
    }
  }

  /// Sends a test event to an app's own URL and returns the response. The event is not stored and not
  /// retried. Each app may run one test at a time. The audit log entry is written before.
  package func test(
    _ app: AppID, noting note: AuditRow? = nil,
    done: @escaping @Sendable (Result<CallbackAnswer, CallbackError>) -> Void
  ) {
    guard trials.withLock({ $0.insert(app).inserted }) else { return done(.failure(.busy)) }
    let finish: @Sendable (Result<CallbackAnswer, CallbackError>) -> Void = { [self] result in
      trials.withLock { _ = $0.remove(app) }
      done(result)
    }
    store.write(of: app) { transaction throws(StorageError) in
      let setting = try transaction.callbacks.setting(app: app)
      if let note, setting?.url != nil { try transaction.audit.add(note) }
      return (setting, getui: try transaction.getui.access(app: app)?.secret)
    } completion: { [self] result in
      switch result {
      case .failure: finish(.failure(.storage))
      case .success((nil, _)): finish(.failure(.nothingSetUp))
      case .success((let setting?, let secret)):
        guard let url = setting.url else { return finish(.failure(.noAddress)) }
        ping(url, setting, secret, finish)
      }
    }
  }

  private func ping(
    _ url: String, _ setting: CallbackSettingRow, _ getuiSecret: [UInt8]?,
    _ done: @escaping @Sendable (Result<CallbackAnswer, CallbackError>) -> Void
  ) {
    let now = time.now()
    let id = "ping-" + Hex.encode(SystemRandom.bytes(8))
    var signer = CallbackSigner(keys)
    do throws(CallbackKeys.Failure) {
      var post = OutgoingRequest(
        url: url, fields: [], body: CallbackEvent.body([CallbackEvent([], id: id, at: now)]))
      if setting.format == .getui, let app = router.apps.loaded(setting.app) {
        let receipts = GetuiReceipts(app: app.key, secret: getuiSecret)
        let body = try receipts.body(
          [GetuiReceipt(ping: id, at: now)], of: setting.app, with: signer.sealingKeys())
        post = OutgoingRequest(url: url, fields: [], body: body, contentType: GetuiReceipts.contentType)
      }
      post.fields = try signer.fields(for: post.body, of: setting, delivery: id, attempt: 1, at: now)
      transport.send(post) { done(.success(CallbackAnswer($0))) }
    } catch {
      log.error("cannot sign a callback", ["reason": .text(error.message)])
      done(.failure(.keys(error.message)))
    }
  }
}
