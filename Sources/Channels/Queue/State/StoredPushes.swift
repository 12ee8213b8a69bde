import BorealisBase
import Core
import Model
import Storage

/// Reads the pushes of an app's queue from the database.
struct StoredPushes: Sendable {
  typealias Rows = Result<[OpenChannelPush], StorageError>
  /// With the minutes of their paced delivery, of those that have it.
  typealias PacedRows = (rows: [OpenChannelPush], pacingMinutes: [MessageID: Int64])

  /// Of the sets of targets that are looked through, larger ones than this have several members: bytes.
  private static let setBytes = 32

  let channel: ChannelID
  let app: AppID
  let triedOnce: Set<UInt8>
  let store: Store

  /// The oldest ones above an ID.
  func load(
    after id: MessageID, limit: Int, completion: @escaping @Sendable (Result<PacedRows, StorageError>) -> Void
  ) {
    store.read { transaction throws(StorageError) -> PacedRows in
      (
        rows: try transaction.channelQueue.open(
          of: channel, app: app, after: id, limit: limit, triedOnce: triedOnce),
        pacingMinutes: try transaction.pacedPushes.all(in: .of(app))
      )
    } completion: {
      completion($0)
    }
  }

  /// Some of them, without those that are over by now or were recalled.
  func find(
    _ ids: [MessageID], completion: @escaping @Sendable (Result<PacedRows, StorageError>) -> Void
  ) {
    store.read { transaction throws(StorageError) -> PacedRows in
      var found: PacedRows = (rows: [], pacingMinutes: [:])
      for id in ids {
        let row = try transaction.channelQueue.find(id, of: channel, app: app, triedOnce: triedOnce)
        guard let row, !row.isWithdrawn else { continue }
        found.rows.append(row)
        found.pacingMinutes[id] = try transaction.pacedPushes.minutes(of: id)
      }
      return found
    } completion: {
      completion($0)
    }
  }

  /// Those whose time is over.
  func expired(at now: Timestamp, limit: Int, completion: @escaping @Sendable (Rows) -> Void) {
    store.read { transaction throws(StorageError) -> [OpenChannelPush] in
      try transaction.channelQueue.expired(
        of: channel, app: app, at: now, limit: limit, triedOnce: triedOnce)
    } completion: {
      completion($0)
    }
  }

  /// Those on a page that are for one device each, of some devices. Not those with paced delivery: they are
  /// not late.
  func look(
    through page: LeftPushes.Page,
    completion: @escaping @Sendable (Result<LeftPushes.Found, StorageError>) -> Void
  ) {
    // All apps share a turn: a report waits for one page at most, however many apps wait for a service.
    store.read(inTurnOf: .installation) { transaction throws(StorageError) -> LeftPushes.Found in
      let rows = try transaction.channelQueue.targets(
        of: channel, app: app, after: page.after, limit: page.limit, setBytes: Self.setBytes)
      var found = LeftPushes.Found(next: rows.count == page.limit ? rows.last?.id : nil)
      for row in rows {
        guard row.id < page.until else {
          found.next = nil
          break
        }
        guard let number = row.targets.flatMap(Self.onlyMember), page.devices.contains(number),
          let push = try transaction.channelQueue.find(row.id, of: channel, app: app, triedOnce: triedOnce),
          !push.isWithdrawn
        else { continue }
        found.pushes.append((push, number))
        if found.pushes.count == page.mostFound {
          found.next = row.id
          break
        }
      }
      if !found.pushes.isEmpty {
        let paced = try transaction.pacedPushes.all(in: .of(app))
        found.pushes.removeAll { paced[$0.row.push.id] != nil }
      }
      return found
    } completion: {
      completion($0)
    }
  }

  private static func onlyMember(of bytes: [UInt8]) -> RegistrationNumber? {
    guard let set = NumberSet(serialized: bytes), set.count == 1 else { return nil }
    return set.member(at: 0)
  }
}
