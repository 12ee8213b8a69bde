import BorealisBase
import Model
import Storage

/// What the home of an app says to a gateway, about a connection there.
package enum HomeMessage: Sendable {
  /// The result of a login.
  case loginResult(Location, LoginResult)
  /// The app of a login has been loaded: if the connection is still there, it asks once more.
  case loginAgain(DeviceLogin)
  /// The result of a registration.
  case registerResult(Location, RegisterResult)
  /// The app's state was recorded; pushes up to this one were accepted before.
  case stateApplied(Location, newest: MessageID)
  /// Acknowledgements count from now on.
  case acknowledgementsReceived([ReceivedAcknowledgements])
  /// The database has acknowledgements.
  case stored([StoredAcknowledgements])
  /// The result of an operation.
  case result(Location, sequence: UInt32, OperationAnswer)
  /// What waits for a device.
  case pulled(Location, PulledPushes)
  /// How many pushes wait that were asked about.
  case waiting(Location, count: Int)
  /// A push for one device.
  case push(LivePush, RegistrationNumber, Location)
  /// A push for all devices of a set that are connected here, to each in its language.
  case broadcast(LivePush, targets: NumberSet)
  /// A push was recalled: devices that got it are told, the others do not get it.
  case recall(MessageID, AppID, audience: NumberSet)
  /// A connection is to be ended.
  case endSession(Location, EndReason)
  /// An app asks its devices for other facts than before.
  case factsWanted(AppID, DeviceFactSet)
  /// An app was deleted: what connections it has left end.
  case forget(AppID)
  /// Pushes of an app may have been lost on the way, or with nil of all apps: its sessions catch up.
  case missed(AppID?)
  /// The home of an app, or with nil of all apps, is gone, and with it whatever it was asked: sessions ask
  /// the next one again.
  case abandoned(AppID?)
}

/// A committed push for connected devices.
package struct LivePush: Sendable {
  /// The app it belongs to.
  package let app: AppID
  /// Its ID, the same on every channel.
  package let id: MessageID
  package let push: StoredPush
  /// Whether newer pushes may have been sent before it: another channel had it until now, or its delivery is
  /// paced.
  package let isLate: Bool
  /// Whether it may have come before older ones that are still on their way, as from a home on another node.
  package let mayOvertake: Bool
  /// From when on it is not sent any more; nil if only its home knows.
  package let expires: Timestamp?

  /// Makes a live push.
  package init(
    app: AppID, id: MessageID, push: StoredPush, isLate: Bool = false, mayOvertake: Bool = false,
    expires: Timestamp? = nil
  ) {
    self.app = app
    self.id = id
    self.push = push
    self.isLate = isLate
    self.mayOvertake = mayOvertake
    self.expires = expires
  }

  /// The same with something else for its devices.
  package func with(_ push: StoredPush) -> LivePush {
    LivePush(
      app: app, id: id, push: push, isLate: isLate, mayOvertake: mayOvertake, expires: expires)
  }

  /// Whether its time is over.
  package func isOver(at now: Timestamp) -> Bool { expires.map { $0 <= now } ?? false }
}

/// Why the home ends a device's connection.
package enum EndReason: Sendable {
  /// The same registration logged in elsewhere.
  case replacedByLogin
  /// Another registration took this one's place.
  case registrationReplaced
  /// The operator turned the app off.
  case appDisabled
  /// The device is to log in again: the home cannot tell which of two logins is the newer, or does not know
  /// this one.
  case loginAgain
}

/// Why a device is refused before it has a session.
package enum DeviceRefusal: Sendable {
  /// No app has the key.
  case unknownApp
  /// The app takes nothing now.
  case appDisabled
  /// No such registration, or not with this secret.
  case notRegistered
  /// The database does not answer.
  case unavailable
  /// The device has logged in on a newer connection.
  case overtaken
}

/// The result of a login.
package enum LoginResult: Sendable {
  /// The device is connected.
  case accepted(LoggedIn)
  case refused(DeviceRefusal)
}

/// A device that is connected.
package struct LoggedIn: Sendable {
  package let app: AppID
  /// Its registration.
  package let number: RegistrationNumber
  /// What it runs on.
  package let platform: Platform?
  /// Pushes up to this one were accepted before the login.
  package let newest: MessageID
  /// About how many pushes wait for it, for display.
  package let pending: Int
  /// Whether any may wait: the count looks at the newest only.
  package let mayWait: Bool
  /// The facts that the app asks the device for.
  package let facts: DeviceFactSet
  /// Whether what was accepted after the login comes behind this answer, also when that comes by mail.
  /// Otherwise it may have come before, and found no session.
  package let isInOrder: Bool

  package init(
    app: AppID, number: RegistrationNumber, platform: Platform?, newest: MessageID, pending: Int,
    mayWait: Bool, facts: DeviceFactSet = [], isInOrder: Bool = false
  ) {
    self.app = app
    self.number = number
    self.platform = platform
    self.newest = newest
    self.pending = pending
    self.mayWait = mayWait
    self.facts = facts
    self.isInOrder = isInOrder
  }
}

/// The result of a registration.
package enum RegisterResult: Sendable {
  /// It is stored; the secret is what the device logs in with.
  case registered(RegistrationID, secret: [UInt8])
  case refused(DeviceRefusal)
}

/// The result of acknowledgements of one connection.
package struct ReceivedAcknowledgements: Sendable {
  /// The connection.
  package let location: Location
  /// How many they were.
  package let count: Int
  /// How many of these pushes waited for them; there is nothing to store about the others.
  package let awaited: Int

  package init(location: Location, count: Int, awaited: Int) {
    self.location = location
    self.count = count
    self.awaited = awaited
  }
}

/// Acknowledgements of one connection that the database has now: a crash no longer makes the server send
/// these pushes again.
package struct StoredAcknowledgements: Sendable {
  /// The connection that they came on.
  package let location: Location
  /// How many they are.
  package let count: Int

  /// Both fields.
  package init(location: Location, count: Int) {
    self.location = location
    self.count = count
  }
}

/// The result of an operation.
package enum OperationAnswer: Sendable {
  case done
  case alias(String?)
  case tags([String])
  case hasTag(Bool)
  /// A shared key, enciphered for the device.
  case key([UInt8])
  case failed(DeviceFailure)
}

/// What waits for a device.
package enum PulledPushes: Sendable {
  case nothing
  /// All waiting pushes up to `through`, oldest first, without those that ended in the meantime.
  case pushes([KeptPush], through: MessageID)
  /// It cannot be read now.
  case unavailable
}

/// A push that waits for a device.
package struct KeptPush: Sendable {
  package let id: MessageID
  package let push: StoredPush

  /// Both fields.
  package init(id: MessageID, push: StoredPush) {
    self.id = id
    self.push = push
  }
}
