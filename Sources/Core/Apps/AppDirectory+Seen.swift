import BorealisBase
import Model
import Synchronization

/// What the database is to learn of a device's connection.
struct SeenDevice: Sendable {
  let number: RegistrationNumber
  /// When it was last connected, in Unix seconds.
  let at: UInt32
  /// How its connection ended; `connected` if it has not.
  let end: ConnectionEnd
}

/// Connections write nothing when they begin or end. They are stored in the background, at most once in some
/// minutes per device, so that a flapping device costs no more than a stable one.
extension AppDirectory {
  /// Devices that are looked at before the lock is let go.
  private static let activitySlice = 1024

  /// Those of some devices who were there, or were not, as conditions say. Who is connected is there now.
  func those(
    of recipients: Recipients, meeting conditions: [ActivityCondition], at now: Timestamp
  ) -> Recipients {
    let bounds = conditions.map {
      (since: now.adding(seconds: -Int64($0.days) * 86_400).seconds, keepsActive: $0.keepsActive)
    }
    let all = recipients.numbers.members()
    var kept: [RegistrationNumber] = []
    for start in stride(from: 0, to: all.count, by: Self.activitySlice) {
      state.withLock { state in
        for number in all[start..<min(all.count, start + Self.activitySlice)]
        where state.table.isActive(number) {
          let (isOnline, last) = (
            state.table.records[number.rawValue].isOnline,
            Int64(state.table.records[number.rawValue].lastSeen)
          )
          if bounds.allSatisfy({ (isOnline || last >= $0.since) == $0.keepsActive }) { kept.append(number) }
        }
      }
    }
    return Recipients(kept)
  }

  /// Removes last contacts to store, at most `limit`, of devices whose contact was not stored for `coarse`
  /// seconds. The others keep their places until they are due. Examines no more than `looks` devices, which
  /// takes microseconds for a thousand, and continues there at the next call; `isComplete` says that this was
  /// the last of them.
  func popSeen(
    limit: Int, looks: Int, coarse: UInt32, at now: UInt32
  ) -> (late: [SeenDevice], isComplete: Bool) {
    state.withLock { state in
      let numbers = state.seen.members(from: state.seenPlace, limit: looks)
      var late: [SeenDevice] = []
      for number in numbers {
        guard late.count < limit else {
          state.seenPlace = number
          return (late, false)
        }
        if let device = state.popSeen(number, coarse: coarse, at: now) { late.append(device) }
      }
      let isComplete = numbers.count < looks
      state.seenPlace = isComplete ? RegistrationNumber(0) : numbers.last?.next ?? RegistrationNumber(0)
      return (late, isComplete)
    }
  }

  /// Has the next `popSeen` begin with the first device.
  func seeFromStart() { state.withLock { $0.seenPlace = RegistrationNumber(0) } }

  /// Marks connected devices whose contact was not stored for `period` seconds, so that a lasting connection
  /// is known after a crash. Examines the next `looks` connections.
  func noteLasting(looks: Int, period: UInt32, at now: UInt32) {
    state.withLock { state in
      let numbers = state.onlineSet.members(from: state.lastingPlace, limit: looks)
      for number in numbers where now >= state.table.records[number.rawValue].notedAt &+ period {
        state.seen.insert(number)
      }
      let isComplete = numbers.count < looks
      state.lastingPlace = isComplete ? RegistrationNumber(0) : numbers.last?.next ?? RegistrationNumber(0)
    }
  }
}

extension AppDirectory.State {
  fileprivate mutating func popSeen(
    _ number: RegistrationNumber, coarse: UInt32, at now: UInt32
  ) -> SeenDevice? {
    guard now >= table.records[number.rawValue].notedAt &+ coarse else { return nil }
    seen.remove(number)
    table.records[number.rawValue].notedAt = now
    guard !table.records[number.rawValue].isOnline else {
      return SeenDevice(number: number, at: now, end: .connected)
    }
    let end = ConnectionEnd(rawValue: table.records[number.rawValue].lastEnd) ?? .unknown
    return SeenDevice(number: number, at: table.records[number.rawValue].lastSeen, end: end)
  }
}

extension RegistrationNumber {
  /// The one behind it; after the last of all, that one again.
  fileprivate var next: RegistrationNumber { RegistrationNumber(rawValue < .max ? rawValue + 1 : .max) }
}
