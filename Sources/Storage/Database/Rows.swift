import BorealisBase
import Model

/// An app as it is stored.
package struct AppRow: Sendable, Equatable {
  /// Row number.
  package var id: AppID
  /// Public key.
  package var key: AppKey
  /// For people.
  package var name: String
  /// 32 bytes; the caller chooses the hash.
  package var secretHash: [UInt8]
  /// When it was made.
  package var createdAt: Timestamp
  /// Number of the next registration; all numbers in use are smaller.
  package var nextNumber: UInt32
  /// A disabled app's requests and devices are refused. So are those of a disabled account's apps.
  package var isDisabled: Bool
  /// Whose it is.
  package var account: AccountID
  /// Hash of the secret before, which is still accepted; nil if there is none.
  package var oldSecretHash: [UInt8]?
  /// Its Android package, if the admin API set one.
  package var androidPackage: String?
  /// Networks that its calls may come from, with spaces between them; nil for everywhere.
  package var allowedNetworks: String?
  /// From when on imported registrations get pushes although their devices have not come.
  package var importsFrom: Timestamp
  /// The facts of devices that it asks for.
  package var facts: DeviceFactSet
  /// Whether registrations have numbers of erased facts left.
  package var hasErasedFacts: Bool
  /// What it may ask for.
  package var plan: PlanRow
  /// What keeps a person from pushing to many devices alone.
  package var brakes = BrakesRow()
  /// How many notifications a device gets in a day.
  package var caps = CapsRow()
  /// When devices get no notifications; nil for at no time.
  package var quietHours: QuietHours?
  /// Its API keys that are not revoked, by number.
  package var keys: [APIKeyRow] = []

  init(
    id: AppID, key: AppKey, name: String, secretHash: [UInt8], createdAt: Timestamp, nextNumber: UInt32,
    isDisabled: Bool, account: AccountID = .standard, oldSecretHash: [UInt8]? = nil,
    androidPackage: String? = nil, allowedNetworks: String? = nil,
    importsFrom: Timestamp = Timestamp(milliseconds: 0), facts: DeviceFactSet = [],
    hasErasedFacts: Bool = false, plan: PlanRow = PlanRow(name: PlanRow.unlimited)
  ) {
    self.id = id
    self.key = key
    self.name = name
    self.secretHash = secretHash
    self.createdAt = createdAt
    self.nextNumber = nextNumber
    self.isDisabled = isDisabled
    self.account = account
    self.oldSecretHash = oldSecretHash
    self.androidPackage = androidPackage
    self.allowedNetworks = allowedNetworks
    self.importsFrom = importsFrom
    self.facts = facts
    self.hasErasedFacts = hasErasedFacts
    self.plan = plan
  }
}

/// What a device brings for a new registration.
package struct NewRegistration: Sendable {
  /// Chosen by the caller at random.
  package var registrationID: RegistrationID
  /// 16 bytes; the caller chooses the hash.
  package var secretHash: [UInt8]
  /// What the device runs.
  package var platform: Platform
  /// The device's own mark, by which a reinstall is recognised; empty for none.
  package var fingerprint: [UInt8]
  /// Its tokens, each in a slot of its own.
  package var tokens: [PushToken]
  /// Version of the app, as the device says.
  package var appVersion: String
  /// The registration of another platform that the device says it had, by the names that it may have here;
  /// none if it says nothing.
  package var imported: [RegistrationID]

  package init(
    registrationID: RegistrationID, secretHash: [UInt8], platform: Platform, fingerprint: [UInt8] = [],
    tokens: [PushToken] = [], appVersion: String = "", imported: [RegistrationID] = []
  ) {
    self.imported = imported
    self.registrationID = registrationID
    self.secretHash = secretHash
    self.platform = platform
    self.fingerprint = fingerprint
    self.tokens = tokens.filter { !$0.bytes.isEmpty }
    self.appVersion = appVersion
  }
}

/// A registration as it is stored.
package struct RegistrationRow: Sendable, Equatable {
  package var app: AppID
  /// Its number within the app.
  package var number: RegistrationNumber
  /// Its public name.
  package var registrationID: RegistrationID
  /// 16 bytes.
  package var secretHash: [UInt8]
  /// What the device runs.
  package var platform: Platform
  /// The device's own mark, empty for none.
  package var fingerprint: [UInt8]
  /// The customer's name for the user.
  package var alias: String?
  /// Numbers of its tags, ascending.
  package var tags: [UInt32]
  /// The number on the app's icon, as the server last knew it.
  package var badge: Int64
  /// The phone number that the customer attached.
  package var mobile: String?
  package var appVersion: String
  /// When it registered.
  package var createdAt: Timestamp
  /// When it was last online.
  package var lastSeenAt: Timestamp
}

/// What deliveries need of a registration.
package struct DeliveryRow: Sendable {
  /// Its number within the app.
  package var number: RegistrationNumber
  /// Its public name.
  package var registrationID: RegistrationID
  /// Both halves of the stored 16 bytes, most significant byte first.
  package var secretHash: (UInt64, UInt64)
  /// What the device runs.
  package var platform: Platform
  /// The customer's name for the user.
  package var alias: String?
  /// Numbers of its tags, ascending.
  package var tags: [UInt32]
  /// When it was last online.
  package var lastSeenAt: Timestamp
  /// When it registered; of an imported one, when its first device did.
  package var createdAt: Timestamp
  /// The service of the token that stands in its row, `none` without one. The others are in
  /// `TokenRepository.others`.
  var token: ServiceID
  /// How its last connection ended; `connected` if it had not when that was noted.
  package var lastEnd: ConnectionEnd
  /// Whether it gets no pushes.
  package var isBlocked: Bool
  /// Whether a device was given it and has not logged in, as far as is known.
  package var isUnconfirmed: Bool
  /// Whether it was imported, and no device has come for it.
  package var isAwaited: Bool
  /// Numbers of the values of its facts.
  package var facts: [UInt32]

  /// The tokens that stand in its row.
  package var tokens: [HeldToken] {
    token == .none ? [] : [HeldToken(number: number, slot: .ofRegistration, service: token)]
  }
}

/// Who gets a leg of a push, as it is stored.
package struct LegTargetsRow: Sendable, Equatable {
  package var leg: DeliveryLeg
  /// Its targets, in the router's encoding.
  package var targets: [UInt8]

  package init(leg: DeliveryLeg, targets: [UInt8]) {
    self.leg = leg
    self.targets = targets
  }
}

/// An accepted push as it is stored.
package struct PushRow: Sendable, Equatable {
  /// Chosen by the caller, growing.
  package var id: MessageID
  package var app: AppID
  /// When it was accepted.
  package var createdAt: Timestamp
  /// When it ends.
  package var expiresAt: Timestamp
  /// The caller's own number.
  package var sendno: Int64
  package var platforms: PlatformSet
  /// The only target, nil for a group.
  package var target: RegistrationNumber?
  /// The targets of a group in the router's encoding, nil for a single.
  package var targets: [UInt8]?
  /// Who waits for it over the direct connection, in the router's encoding; nil for all targets.
  package var ownTargets: [UInt8]?
  /// Who gets it from vendors' channels.
  package var legs: [LegTargetsRow]
  /// The members of its audience on iOS, in the router's encoding; nil for nobody.
  package var iosTargets: [UInt8]?
  /// The members of its audience whom no channel reaches, in the router's encoding; nil for nobody. They are
  /// not among `target` and `targets`.
  package var unreached: [UInt8]?
  /// Those that it left out since they show no notifications, in the router's encoding; nil for nobody. They
  /// are not members of its audience.
  package var leftOut: [UInt8]?
  /// Members of its audience that had as many notifications as they may, the same way; nil for none.
  package var capped: [UInt8]?
  /// Members of its audience that were in their quiet hours and do not get it, the same way; nil for none.
  package var quiet: [UInt8]?
  /// Whether some of its targets wait for the end of their quiet hours, as far as that was looked up.
  package var isHeld = false
  /// Whether it is only for those who are online when it is accepted.
  package var isOnlineOnly: Bool
  /// How many members its audience has.
  package var targetCount: UInt32
  /// Number of the channel strategy.
  package var strategy: UInt8
  /// The push that this one replaces.
  package var overrides: MessageID?
  /// What the devices get, in the router's encoding.
  package var content: [UInt8]
  /// What some targets get in their language, and who, in the router's encoding; nil for nobody.
  package var languages: [UInt8]?

  package init(
    id: MessageID, app: AppID, createdAt: Timestamp, expiresAt: Timestamp, sendno: Int64,
    platforms: PlatformSet, target: RegistrationNumber?, targets: [UInt8]?, ownTargets: [UInt8]? = nil,
    legs: [LegTargetsRow] = [], iosTargets: [UInt8]? = nil,
    unreached: [UInt8]? = nil, leftOut: [UInt8]? = nil, isOnlineOnly: Bool = false, targetCount: UInt32,
    strategy: UInt8 = 0, overrides: MessageID? = nil,
    content: [UInt8], languages: [UInt8]? = nil
  ) {
    self.id = id
    self.app = app
    self.createdAt = createdAt
    self.expiresAt = expiresAt
    self.sendno = sendno
    self.platforms = platforms
    self.target = target
    self.targets = targets
    self.ownTargets = ownTargets
    self.legs = legs
    self.iosTargets = iosTargets
    self.unreached = unreached
    self.leftOut = leftOut
    self.isOnlineOnly = isOnlineOnly
    self.targetCount = targetCount
    self.strategy = strategy
    self.overrides = overrides
    self.content = content
    self.languages = languages
  }
}

/// Whose a push is.
package struct PushOrigin: Sendable, Equatable {
  package var app: AppID
  /// When it was accepted.
  package var createdAt: Timestamp
  /// Whether a later push has replaced it.
  package var isReplaced: Bool
}

/// A push of which something is undelivered.
package struct OpenPush: Sendable, Equatable {
  /// The push; of a single the content is left out (empty), `PushRepository.contents` fetches it.
  package var push: PushRow
  /// Who of a group acknowledged, in the router's encoding; nil if no one was saved.
  package var delivered: [UInt8]?
  /// Whether some of its targets may have waited for the end of their quiet hours.
  package var keepsQuietHours = false
}

/// How a push ended. The raw values are stored in the database.
package enum OutcomeStatus: UInt8, Sendable {
  /// Not ended, but something is known of it.
  case open = 0
  /// Acknowledged.
  case delivered = 1
  /// Its time ran out.
  case expired = 2
  /// The customer recalled it.
  case recalled = 3
  /// A later push replaced it.
  case overridden = 4
  /// Given up for lack of room.
  case dropped = 5
  /// No channel took it for any device.
  case refused = 6
  /// Given up because its registration was replaced.
  case replaced = 7

  /// Whether the customer stopped it.
  package var isWithdrawn: Bool { self == .recalled || self == .overridden }
}

/// The facts about a push's end.
package struct OutcomeRow: Sendable, Equatable {
  /// How its way over the direct connection ended.
  package var status: OutcomeStatus
  /// When it ended.
  package var at: Timestamp
  /// When the device showed it.
  package var shownAt: Timestamp?
  /// When the user tapped it.
  package var tappedAt: Timestamp?
  /// Whether and when it was recalled or overridden; nil if not.
  package var withdrawal: Withdrawal?
  /// Whether every target is known to have it.
  package var hasReachedAll = false

  /// That a push was recalled.
  package struct Withdrawal: Sendable, Equatable {
    /// `recalled` or `overridden`.
    package var status: OutcomeStatus
    /// When.
    package var at: Timestamp
  }
}

/// A push that was recalled, with its targets: one, or a set in the router's encoding.
package struct RecalledRow: Sendable {
  /// The push.
  package let id: MessageID
  package let app: AppID
  /// Its target, if it is one.
  package let target: RegistrationNumber?
  /// Its targets; nil for one target, and if they are too many.
  package let targets: [UInt8]?
}

/// The end of one push, for `DeliveryRepository.settle`.
package struct Settlement: Sendable {
  /// The push.
  package var id: MessageID
  /// How it ended.
  package var status: OutcomeStatus
  /// When.
  package var at: Timestamp
  /// Who of several acknowledged it, in the router's encoding; nil if nobody did, or all did.
  package var delivered: [UInt8]?

  package init(id: MessageID, status: OutcomeStatus, at: Timestamp, delivered: [UInt8]? = nil) {
    self.id = id
    self.status = status
    self.at = at
    self.delivered = delivered
  }
}

/// The stored result of a `cid`.
package struct CIDRow: Sendable, Equatable {
  /// The push that the first request made.
  package var id: MessageID
  /// The number that the first request got.
  package var sendno: Int64
  /// How many targets its push had; 0 if the push is swept.
  package var targetCount: UInt32
  /// A digest of the request; nil if none was stored.
  package var digest: [UInt8]?
}

extension PushRow {
  /// Reads all columns of `push` that are no part of `PushSource`.
  init(_ row: Row) {
    self.init(
      id: row.message("msg_id"), app: row.app("app_id"), createdAt: row.time("created_at"),
      expiresAt: row.time("expires_at"),
      sendno: row.integer("sendno"),
      platforms: PlatformSet(rawValue: row.integer("platforms", as: UInt8.self)),
      target: row.optionalInteger("target").map { RegistrationNumber(UInt32(truncatingIfNeeded: $0)) },
      targets: row.optionalBlob("targets"), ownTargets: row.optionalBlob("own_targets"),
      iosTargets: row.optionalBlob("ios_targets"),
      unreached: row.optionalBlob("unreached"), leftOut: row.optionalBlob("left_out"),
      isOnlineOnly: row.bool("online_only"),
      targetCount: row.integer("target_count", as: UInt32.self),
      strategy: row.integer("strategy", as: UInt8.self),
      overrides: row.optionalInteger("overrides").map { MessageID(UInt64(truncatingIfNeeded: $0)) },
      content: row.blob("content"), languages: row.optionalBlob("languages"))
    (capped, quiet) = (row.optionalBlob("capped"), row.optionalBlob("quiet"))
    isHeld = row.bool("is_held")
  }

  /// The same with what it says opened, if that was sealed.
  func opened(in database: Database) throws(StorageError) -> PushRow {
    var push = self
    push.content = try database.opened(content, of: app, .pushContent)
    push.languages = try database.opened(ifAny: languages, of: app, .pushLanguages)
    return push
  }
}
