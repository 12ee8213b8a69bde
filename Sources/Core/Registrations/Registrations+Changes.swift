import BorealisBase
import Storage
import Synchronization

/// A change of one of several registrations.
package struct RegistrationChange: Sendable {
  package let number: RegistrationNumber
  /// What changes about it.
  package let change: DeviceChange

  package init(_ number: RegistrationNumber, _ change: DeviceChange) {
    (self.number, self.change) = (number, change)
  }
}

/// Why none of several registrations was changed.
package struct RegistrationRefusal: Error, Sendable {
  /// Why.
  package let failure: DeviceFailure
  /// The registrations that caused it; empty if it is not about them.
  package let numbers: [RegistrationNumber]
}

extension Registrations {
  /// Applies validated changes of tags, alias and mobile number: all of them or none. With `entry` the same
  /// commit writes the audit log, unless all there was to do was to remove an alias that is another one by
  /// now.
  package func change(
    _ change: DeviceChange, of number: RegistrationNumber, in app: App, noting entry: AuditRow? = nil,
    reply: @escaping @Sendable (Result<Void, DeviceFailure>) -> Void
  ) {
    self.change([RegistrationChange(number, change)], in: app, noting: entry) {
      reply($0.mapError(\.failure))
    }
  }

  /// Changes several registrations in one commit: all of them, or none, in the database and in memory. With
  /// `passingOverUnknown` unknown ones are skipped. The caller limits their number, since they delay the
  /// pushes in the same commit. An app's large changes are made one after the other.
  package func change(
    _ changes: [RegistrationChange], in app: App, passingOverUnknown: Bool = false,
    noting entry: AuditRow? = nil,
    reply: @escaping @Sendable (Result<Void, RegistrationRefusal>) -> Void
  ) {
    let isLarge = changes.count > 1 || changes.contains { $0.change.names > Self.fewNames }
    let isByDevice = changes.contains { $0.change.isByDevice }
    runInTurn(of: app, isLarge: isLarge, isByDevice: isByDevice) { [self] in
      store(changes, in: app, passingOverUnknown: passingOverUnknown, noting: entry, reply: $0)
    } reply: {
      reply($0 ?? .failure(RegistrationRefusal(failure: .unavailable, numbers: [])))
    }
  }

  /// Makes a change once the app's large ones that came before are made. The reply is nil if too many wait;
  /// of those that devices ask for, half as many are too many.
  func runInTurn<Answer: Sendable>(
    of app: App, isLarge: Bool, isByDevice: Bool,
    _ change: @escaping @Sendable (_ reply: @escaping @Sendable (Answer) -> Void) -> Void,
    reply: @escaping @Sendable (Answer?) -> Void
  ) {
    let places = isLarge ? Turns<AppID>.mostWaiting : Self.mostWaiting
    let hasPlace = turns.run(for: app.id, alone: isLarge, waiting: isByDevice ? places / 2 : places) { done in
      change {
        done()
        reply($0)
      }
    }
    if !hasPlace { reply(nil) }
  }

  /// Tag names of a change that delays others no more than any.
  private static let fewNames = 32
  /// Small changes, and reads that go behind them, of an app that wait for a large one before.
  private static let mostWaiting = 8192

  private func store(
    _ changes: [RegistrationChange], in app: App, passingOverUnknown: Bool, noting entry: AuditRow?,
    reply: @escaping @Sendable (Result<Void, RegistrationRefusal>) -> Void
  ) {
    let now = time.now()
    let day = zone.local(now).date.dayNumber
    let kept = Kept()
    store.write(of: app.id) { [tagLimits] transaction throws(StorageError) -> [DeviceChange.Applied?] in
      kept.refusal.withLock { $0 = nil }
      var (applied, refused): ([DeviceChange.Applied?], [(RegistrationNumber, DeviceFailure)]) = ([], [])
      for one in changes {
        let room = app.directory.tagRoom(tagLimits, maker: one.change.isByDevice ? one.number : nil, day: day)
        switch try one.change.apply(to: one.number, app: app.id, making: room, at: now, in: transaction) {
        case .success(let done): applied.append(done)
        case .failure(.unknownRegistration) where passingOverUnknown: applied.append(nil)
        case .failure(let failure): refused.append((one.number, failure))
        }
      }
      if let failure = refused.first?.1 {
        kept.refusal.withLock {
          $0 = RegistrationRefusal(
            failure: failure,
            numbers: failure == .appTagsFull ? [] : refused.filter { $0.1 == failure }.map(\.0))
        }
        // Undoes what was changed for the others.
        throw StorageError(.constraint, "a registration does not allow a change")
      }
      if let entry, zip(changes, applied).contains(where: { !$0.change.wasIdle($1) }) {
        try transaction.audit.add(entry)
      }
      return applied
    } completion: { result in
      switch result {
      case .failure:
        reply(
          .failure(kept.refusal.withLock { $0 } ?? RegistrationRefusal(failure: .unavailable, numbers: [])))
      case .success(let applied):
        app.directory.apply(
          zip(changes, applied).compactMap { one, applied in applied.map { (one, $0) } }, on: day)
        reply(.success(()))
      }
    }
  }
}

/// The error of a job.
private final class Kept: Sendable {
  let refusal = Mutex<RegistrationRefusal?>(nil)
}

extension AppDirectory {
  /// Applies changes that were stored. With a lock for each, event loops that look up registrations
  /// meanwhile would wait at each of them.
  fileprivate func apply(_ changes: [(RegistrationChange, DeviceChange.Applied)], on day: Int64) {
    for start in stride(from: 0, to: changes.count, by: Self.appliedTogether) {
      state.withLock { state in
        for (one, applied) in changes[start..<min(start + Self.appliedTogether, changes.count)] {
          for (name, tag) in applied.names { state.table.tags.define(name, tag) }
          if one.change.isByDevice, applied.made > 0 {
            state.newTags.add(applied.made, of: one.number, on: day)
          }
          guard state.table.isActive(one.number) else { continue }
          state.table.changeTags(of: one.number, added: applied.added, removed: applied.removed)
          if let alias = applied.alias { state.table.setAlias(alias.text, of: one.number) }
        }
      }
    }
  }

  private static var appliedTogether: Int { 128 }
}
