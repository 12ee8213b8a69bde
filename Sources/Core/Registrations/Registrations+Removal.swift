import BorealisBase
import Storage

extension Registrations {
  /// Deletes a registration with its alias, tags and tokens; what waits for it dies. A device that still uses
  /// it is to log in again, is told that it is unknown, and registers anew. `noting` is the audit log entry
  /// in the same commit.
  package func delete(
    _ number: RegistrationNumber, in app: App, noting entry: AuditRow? = nil,
    reply: @escaping @Sendable (Result<Void, DeviceFailure>) -> Void
  ) {
    let now = time.now()
    store.write(of: app.id) { transaction throws(StorageError) -> [ReplacedRegistration] in
      guard let gone = try transaction.registrations.remove(app: app.id, number: number, at: now) else {
        return []
      }
      if let entry { try transaction.audit.add(entry) }
      return [gone]
    } completion: { [self] result in
      switch result {
      case .failure: reply(.failure(.unavailable))
      case .success(let gone):
        forget(gone, in: app)
        reply(gone.isEmpty ? .failure(.unknownRegistration) : .success(()))
      }
    }
  }

  /// Deletes those of some registrations that nobody uses: see `UnusedRegistrations`.
  func deleteUnused(
    _ numbers: [RegistrationNumber], in app: App, seenBefore times: UnusedTimes, at now: Timestamp
  ) {
    store.write(of: app.id, lowPriority: true) { transaction throws(StorageError) -> [ReplacedRegistration] in
      var gone: [ReplacedRegistration] = []
      // Some may have come back since they were looked at.
      for number in app.directory.beginDeletion(of: numbers, unseenSince: times.latest) {
        let one = try transaction.registrations.removeUnused(app: app.id, number: number, times, at: now)
        if let one { gone.append(one) }
      }
      return gone
    } completion: { [self] result in
      // What could not be deleted has its turn again.
      if case .success(let gone) = result, !gone.isEmpty { forget(gone, in: app) }
      app.directory.endDeletion(of: numbers)
    }
  }

  /// Removes deleted registrations from memory, with their connections. On the writer's thread.
  func forget(_ gone: [ReplacedRegistration], in app: App) {
    channels.tokensChanged(of: gone.map(\.number), in: app)
    for one in gone {
      let (location, released) = app.directory.remove(one.number, tags: one.tags)
      finish(released, location, .loginAgain, in: app)
    }
  }
}
