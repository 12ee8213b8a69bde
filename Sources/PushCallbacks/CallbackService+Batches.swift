import PushBase
import PushDomain
import PushStorage
import Synchronization

/// A batch with all that is known of it.
public struct CallbackBatch: Sendable, Equatable {
  /// The batch with its body.
  public var row: CallbackBatchRow
  /// What came of each attempt, the first in front.
  public var attempts: [CallbackAttemptRow]
}

extension CallbackService {
  /// Batches of an app below an ID, the newest in front, without bodies; of all states if none is named.
  public func batches(
    of app: AppID, state: CallbackState?, before id: Int64, limit: Int,
    found: @escaping @Sendable (Result<[CallbackBatchRow], CallbackError>) -> Void
  ) {
    store.read { transaction throws(StorageError) in
      var rows: [CallbackBatchRow] = []
      for state in state.map({ [$0] }) ?? CallbackState.allCases {
        rows += try transaction.callbackBatches(app: app, state: state, before: id, limit: limit)
      }
      return Array(rows.sorted { $0.id > $1.id }.prefix(limit))
    } completion: {
      found($0.mapError { _ in .storage })
    }
  }

  /// One batch of an app, nil if the app has none of that number.
  public func batch(
    _ id: Int64, of app: AppID,
    found: @escaping @Sendable (Result<CallbackBatch?, CallbackError>) -> Void
  ) {
    store.read { transaction throws(StorageError) -> CallbackBatch? in
      guard let row = try transaction.callbackBatch(app: app, id: id) else { return nil }
      return CallbackBatch(row: row, attempts: try transaction.callbackAttempts(of: id))
    } completion: {
      found($0.mapError { _ in .storage })
    }
  }

  /// Sends a batch of an app once more, whatever came of it before; false if the app has none of that number. The audit log
  /// says so in the same commit, if `note` is given.
  public func resend(
    _ id: Int64, of app: AppID, noting note: AuditRow? = nil,
    done: @escaping @Sendable (Result<Bool, CallbackError>) -> Void
  ) {
    let now = time.now()
    store.write { transaction throws(StorageError) in
      guard try transaction.resendCallback(app: app, id: id, at: now) else { return false }
      if let note { try transaction.audit(note) }
      return true
    } completion: { [self] result in
      done(result.mapError { _ in .storage })
      if case .success(true) = result { queue.look() }
    }
  }

  /// Sends an event that means nothing to an app's own address, and tells what came back. It is not stored, and not tried
  /// again. One at a time for each app. What is noted in the audit log is noted before.
  public func test(
    _ app: AppID, noting note: AuditRow? = nil,
    done: @escaping @Sendable (Result<CallbackAnswer, CallbackError>) -> Void
  ) {
    guard trials.withLock({ $0.insert(app).inserted }) else { return done(.failure(.busy)) }
    let finish: @Sendable (Result<CallbackAnswer, CallbackError>) -> Void = { [self] result in
      trials.withLock { _ = $0.remove(app) }
      done(result)
    }
    store.write { transaction throws(StorageError) in
      let setting = try transaction.reading.callbackSetting(app: app)
      if let note, setting?.url != nil { try transaction.audit(note) }
      return setting
    } completion: { [self] result in
      switch result {
      case .failure: finish(.failure(.storage))
      case .success(nil): finish(.failure(.nothingSetUp))
      case .success(let setting?):
        guard let url = setting.url else { return finish(.failure(.noAddress)) }
        ping(url, setting, finish)
      }
    }
  }

  private func ping(
    _ url: String, _ setting: CallbackSettingRow,
    _ done: @escaping @Sendable (Result<CallbackAnswer, CallbackError>) -> Void
  ) {
    let now = time.now()
    let id = "ping-" + Hex.encode(SystemRandom.bytes(8))
    let body = CallbackEvent.body([CallbackEvent([], id: id, at: now)])
    var signer = CallbackSigner(keys)
    do throws(CallbackKeys.Failure) {
      let fields = try signer.fields(for: body, of: setting, delivery: id, attempt: 1, at: now)
      transport.send(CallbackPost(url: url, fields: fields, body: body)) { done(.success($0)) }
    } catch {
      log.error("cannot sign a callback", ["reason": .text(error.message)])
      done(.failure(.keys(error.message)))
    }
  }
}
