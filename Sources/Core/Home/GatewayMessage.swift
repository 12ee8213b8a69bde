import BorealisBase
import Model

/// A connected device as gateway and home both name it.
package struct BoundSession: Sendable {
  package let app: AppID
  /// The registration.
  package let number: RegistrationNumber
  /// The connection. Only the gateway that it names knows what is there.
  package let location: Location

  /// Makes the value from its parts.
  package init(app: AppID, number: RegistrationNumber, location: Location) {
    self.app = app
    self.number = number
    self.location = location
  }
}

/// A session that goes on under another home.
package struct ResumedSession: Sendable {
  package let bound: BoundSession
  /// Whether its app is in the foreground.
  package let isForeground: Bool

  /// Both fields.
  package init(bound: BoundSession, isForeground: Bool) {
    self.bound = bound
    self.isForeground = isForeground
  }
}

/// What a gateway says to the home of an app, about a connection of its own. All of it is values: it could be
/// sent to another process.
package enum GatewayMessage: Sendable {
  /// A device logs in; answered by `loginResult`.
  case login(DeviceLogin)
  /// A device wants a registration; answered by `registerResult`.
  case register(NewDevice)
  /// A connection has ended, or waits no longer, that had no answer to its login or registration.
  case withdraw(Location)
  /// A session has ended.
  case close(BoundSession, ConnectionEnd)
  /// The app went to the foreground or background; answered by `stateApplied` if the gateway wants to know
  /// the newest push.
  case state(BoundSession, isForeground: Bool, wantsNewest: Bool)
  /// Devices acknowledged pushes of an app; answered by `acknowledgementsReceived`, and by `stored` when the
  /// database has them.
  case acknowledgements(AppID, AcknowledgementBatch)
  /// Connections wait for acknowledgements to be stored.
  case flushSoon
  /// A device showed pushes, or its user tapped them.
  case receipts(BoundSession, [DeviceReceipt])
  /// A device reads or changes what is kept about it; answered by `result` with the same sequence. `askedAt`
  /// is when it asked, on the clock since boot.
  case operation(BoundSession, sequence: UInt32, DeviceOperation, askedAt: UInt64)
  /// Requests the waiting pushes of a device after a push, at most this many, oldest first; answered by
  /// `pulled`.
  case pull(BoundSession, after: MessageID, limit: Int)
  /// Asks how many of the pushes up to one wait for a device; answered by `waiting`.
  case recount(BoundSession, through: MessageID)
}

/// The login of a device.
package struct DeviceLogin: Sendable {
  package let app: AppKey
  package let registrationID: RegistrationID
  /// The digest of its secret.
  package let secretHash: (UInt64, UInt64)
  /// Whether its app is in the foreground.
  package let isForeground: Bool
  /// Its connection.
  package let location: Location
  /// When it asked, on the clock since boot.
  package let askedAt: UInt64

  package init(
    app: AppKey, registrationID: RegistrationID, secretHash: (UInt64, UInt64), isForeground: Bool,
    location: Location, askedAt: UInt64
  ) {
    self.app = app
    self.registrationID = registrationID
    self.secretHash = secretHash
    self.isForeground = isForeground
    self.location = location
    self.askedAt = askedAt
  }
}

/// A device that wants a registration.
package struct NewDevice: Sendable {
  package let app: AppKey
  /// What it runs on.
  package let platform: Platform
  /// The fingerprint of the install.
  package let fingerprint: [UInt8]
  package let tokens: [PushToken]
  package let appVersion: String
  /// Its connection.
  package let location: Location
  /// When it asked, on the clock since boot.
  package let askedAt: UInt64

  package init(
    app: AppKey, platform: Platform, fingerprint: [UInt8], tokens: [PushToken],
    appVersion: String, location: Location, askedAt: UInt64
  ) {
    self.app = app
    self.platform = platform
    self.fingerprint = fingerprint
    self.tokens = tokens
    self.appVersion = appVersion
    self.location = location
    self.askedAt = askedAt
  }
}

/// A device's word that it showed a push or its in-app message, or that its user tapped it.
package struct DeviceReceipt: Sendable {
  /// The push.
  package let id: MessageID
  /// What the device says of it.
  package let kind: PushReceipt

  /// Makes a receipt.
  package init(id: MessageID, kind: PushReceipt) {
    self.id = id
    self.kind = kind
  }
}

/// What a device reads or changes of what is kept about it. Names were checked for form.
package enum DeviceOperation: Sendable {
  /// Sets an alias, or with nil clears it.
  case setAlias(String?)
  case changeTags(TagEdit)
  case readAlias
  case readTags
  case checkTag(String)
  case setBadge(Int64)
  /// An empty token takes the stored one away.
  case setToken(PushToken)
  /// A token of any channel, which is checked by what the channel says of its tokens.
  case reportToken(ReportedToken)
  /// The device's public key; an empty one takes the stored one away.
  case setKey(DeviceKeyKind, [UInt8])
  /// Facts about the device; those that are empty are not known.
  case setFacts([DeviceFact: String])
  /// Reads a key that an app server shares with the device.
  case readKey(ContentKeyID)
}
