import BorealisBase
import Model
import Storage

extension PushReports {
  /// How the pushes stand of which some pushes to a group consist, in their order: those of apps that are
  /// there still, also of apps that have left the group since. Nil for a push that the group does not have,
  /// or that is swept.
  package func reports(
    onGroupPushes ids: [MessageID], of group: AppGroup,
    reply: @escaping @Sendable (Result<[[PushReport]?], DeviceFailure>) -> Void
  ) {
    report(onGroupPushes: ids[...], of: group, after: [], reply)
  }

  /// One after the other, so that what else waits for a reader does not wait for all of them.
  private func report(
    onGroupPushes ids: ArraySlice<MessageID>, of group: AppGroup, after known: [[PushReport]?],
    _ reply: @escaping @Sendable (Result<[[PushReport]?], DeviceFailure>) -> Void
  ) {
    guard let id = ids.first else {
      reply(.success(known))
      return
    }
    let goOn = { @Sendable (found: [PushReport]?) in
      report(onGroupPushes: ids.dropFirst(), of: group, after: known + [found], reply)
    }
    store.read { transaction throws(StorageError) in
      try transaction.appGroups.push(id: id, group: group.id)
    } completion: { result in
      switch result {
      case .failure: reply(.failure(.unavailable))
      case .success(nil): goOn(nil)
      case .success(let push?):
        report(onMembers: push.members[...], after: []) { result in
          switch result {
          case .failure(let failure): reply(.failure(failure))
          case .success(let reports): goOn(reports)
          }
        }
      }
    }
  }

  private func report(
    onMembers members: ArraySlice<AppGroupPushRow.Member>, after known: [PushReport],
    _ reply: @escaping @Sendable (Result<[PushReport], DeviceFailure>) -> Void
  ) {
    guard let member = members.first else {
      reply(.success(known))
      return
    }
    let goOn = { @Sendable (found: PushReport?) in
      report(onMembers: members.dropFirst(), after: found.map { known + [$0] } ?? known, reply)
    }
    guard case .success(let id) = member.result else { return goOn(nil) }
    apps.find(member.app) { result in
      switch result {
      case .failure(let failure): reply(.failure(failure))
      case .success(nil): goOn(nil)
      case .success(let app?):
        report(on: id, in: app) { result in
          switch result {
          case .failure(let failure): reply(.failure(failure))
          case .success(let report): goOn(report)
          }
        }
      }
    }
  }
}
