import BorealisBase
import Model

/// A device that is connected, as a home knows it.
package struct ConnectedDevice: Sendable {
  /// Its registration.
  package let number: RegistrationNumber
  /// The registration's public ID.
  package let id: RegistrationID
  /// Its connection.
  package let location: Location
  /// Whether its app is in the foreground.
  package let isForeground: Bool
}

/// The result of telling a directory of a session that another home accepted.
package enum BindOutcome: Equatable, Sendable {
  /// It is the registration's session now.
  case bound
  /// The registration's session is another one than expected, or with nil there is none.
  case held(by: Location?)
  /// There is no such registration, or its number is another one.
  case unknown
}

/// Sessions that outlive a home.
extension AppDirectory {
  /// The largest ID of all pushes opened so far.
  package var newest: MessageID { state.withLock { $0.newest } }

  /// Where a registration is connected; nil if it is not.
  package func location(of number: RegistrationNumber) -> Location? {
    state.withLock { $0.table.isActive(number) ? $0.table.records[number.rawValue].location : nil }
  }

  /// Connects a device that another home has let in, in place of `expected`.
  package func bind(
    _ id: RegistrationID, _ number: RegistrationNumber, at location: Location, isForeground: Bool,
    replacing expected: Location?, since seconds: UInt32
  ) -> BindOutcome {
    state.withLock { state in
      guard state.table.find(id) == number else { return .unknown }
      let held = state.table.records[number.rawValue].location
      guard held == expected else { return .held(by: held) }
      state.connect(number, at: location, isForeground: isForeground, since: seconds)
      return .bound
    }
  }

  /// Connects a device that was let in before this directory was read from the database, with which its
  /// numbers are the same. False if the registration is gone, or has another session.
  func resume(
    _ number: RegistrationNumber, at location: Location, isForeground: Bool, since seconds: UInt32
  ) -> Bool {
    state.withLock { state in
      guard state.table.isActive(number), state.table.records[number.rawValue].location == nil else {
        return false
      }
      state.connect(number, at: location, isForeground: isForeground, since: seconds)
      // It was connected all the time: what is stored of it may be an hour old.
      state.table.records[number.rawValue].awaySince = seconds
      return true
    }
  }

  /// The connected devices on loops below one.
  package func connected(below loop: UInt16) -> [ConnectedDevice] {
    var found: [ConnectedDevice] = []
    // In parts, so that nobody waits long for the lock.
    online.forEachSlice(of: 1000) { numbers in
      found += state.withLock { state in
        numbers.compactMap { number in
          guard state.table.isActive(number), let location = state.table.records[number.rawValue].location,
            location.loop < loop
          else { return nil }
          return ConnectedDevice(
            number: number, id: state.table.records[number.rawValue].id, location: location,
            isForeground: state.table.records[number.rawValue].isForeground)
        }
      }
    }
    return found
  }
}

extension AppDirectory.State {
  /// Connects a device that has no session, or another one.
  fileprivate mutating func connect(
    _ number: RegistrationNumber, at location: Location, isForeground: Bool, since seconds: UInt32
  ) {
    if table.records[number.rawValue].location == nil {
      table.records[number.rawValue].noteLogin(at: seconds, serverStart: start)
    }
    onlineSet.insert(number)
    activity.online.insert(number)
    seen.insert(number)
    table.records[number.rawValue].connect(at: location, isForeground: isForeground)
    updateReachability(of: number)
  }
}
