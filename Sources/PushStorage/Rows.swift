import PushBase
import PushDomain

/// An app as it is stored.
public struct AppRow: Sendable, Equatable {
  /// Row number.
  public var id: AppID
  /// Public key.
  public var key: AppKey
  /// For people.
  public var name: String
  /// 32 bytes; the caller chooses the hash.
  public var secretHash: [UInt8]
  /// When it was made.
  public var createdAt: Timestamp
  /// Number of the next registration; all numbers in use are smaller.
  public var nextNumber: UInt32
  /// A disabled app's requests and devices are refused. So are those of a disabled account's apps.
  public var isDisabled: Bool
  /// Whose it is.
  public var account: AccountID
  /// Hash of the secret before, which is still accepted; nil if there is none.
  public var oldSecretHash: [UInt8]?
  /// Its Android package, if the admin API set one.
  public var androidPackage: String?
  /// Networks that its calls may come from, with spaces between them; nil for everywhere.
  public var allowedNetworks: String?
  /// From when on imported registrations get pushes although their devices have not come.
  public var importsFrom: Timestamp
  /// What it may ask for.
  public var plan: PlanRow

  init(
    id: AppID, key: AppKey, name: String, secretHash: [UInt8], createdAt: Timestamp, nextNumber: UInt32,
    isDisabled: Bool, account: AccountID = .standard, oldSecretHash: [UInt8]? = nil,
    androidPackage: String? = nil, allowedNetworks: String? = nil,
    importsFrom: Timestamp = Timestamp(milliseconds: 0),
    plan: PlanRow = PlanRow(name: PlanRow.unlimited)
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
    self.plan = plan
  }
}

/// What a device brings for a new registration.
public struct NewRegistration: Sendable {
  /// Chosen by the caller at random.
  public var registrationID: RegistrationID
  /// 16 bytes; the caller chooses the hash.
  public var secretHash: [UInt8]
  /// What the device runs.
  public var platform: Platform
  /// The device's own mark, by which a reinstall is recognised; empty for none.
  public var fingerprint: [UInt8]
  /// Its tokens, each in a slot of its own.
  public var tokens: [PushToken]
  /// Version of the app, as the device says.
  public var appVersion: String
  /// The registration of another platform that the device says it had, by the names that it may have here; none if it says
  /// nothing.
  public var imported: [RegistrationID]

  /// All fields.
  public init(
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
public struct RegistrationRow: Sendable, Equatable {
  /// Its app.
  public var app: AppID
  /// Its number within the app.
  public var number: RegistrationNumber
  /// Its public name.
  public var registrationID: RegistrationID
  /// 16 bytes.
  public var secretHash: [UInt8]
  /// What the device runs.
  public var platform: Platform
  /// The device's own mark, empty for none.
  public var fingerprint: [UInt8]
  /// The customer's name for the user.
  public var alias: String?
  /// Numbers of its tags, ascending.
  public var tags: [UInt32]
  /// The number on the app's icon, as the server last knew it.
  public var badge: Int64
  /// The phone number that the customer attached.
  public var mobile: String?
  /// Version of the app.
  public var appVersion: String
  /// When it registered.
  public var createdAt: Timestamp
  /// When it was last online.
  public var lastSeenAt: Timestamp
}

/// What deliveries need of a registration.
public struct DeliveryRow: Sendable {
  /// Its number within the app.
  public var number: RegistrationNumber
  /// Its public name.
  public var registrationID: RegistrationID
  /// Both halves of the stored 16 bytes, most significant byte first.
  public var secretHash: (UInt64, UInt64)
  /// What the device runs.
  public var platform: Platform
  /// The customer's name for the user.
  public var alias: String?
  /// Numbers of its tags, ascending.
  public var tags: [UInt32]
  /// When it was last online.
  public var lastSeenAt: Timestamp
  /// The service of the token that stands in its row, `none` without one. The others are in `TokenRepository.others`.
  var token: ServiceID
  /// How its last connection ended; `connected` if it had not when that was noted.
  public var lastEnd: ConnectionEnd
  /// Whether it gets no pushes.
  public var isBlocked: Bool
  /// Whether a device was given it and has not logged in, as far as is known.
  public var isUnconfirmed: Bool
  /// Whether it was imported, and no device has come for it.
  public var isAwaited: Bool

  /// The tokens that stand in its row.
  public var tokens: [HeldToken] {
    token == .none ? [] : [HeldToken(number: number, slot: .ofRegistration, service: token)]
  }
}

/// Who gets a leg of a push, as it is stored.
public struct LegTargetsRow: Sendable, Equatable {
  /// The leg.
  public var leg: DeliveryLeg
  /// Its targets, in the router's encoding.
  public var targets: [UInt8]

  /// All fields.
  public init(leg: DeliveryLeg, targets: [UInt8]) {
    self.leg = leg
    self.targets = targets
  }
}

/// An accepted push as it is stored.
public struct PushRow: Sendable, Equatable {
  /// Chosen by the caller, growing.
  public var id: MessageID
  /// Its app.
  public var app: AppID
  /// When it was accepted.
  public var createdAt: Timestamp
  /// When it ends.
  public var expiresAt: Timestamp
  /// The caller's own number.
  public var sendno: Int64
  /// Its platforms.
  public var platforms: PlatformSet
  /// The only target, nil for a group.
  public var target: RegistrationNumber?
  /// The targets of a group in the router's encoding, nil for a single.
  public var targets: [UInt8]?
  /// Who waits for it over the direct connection, in the router's encoding; nil for all targets.
  public var ownTargets: [UInt8]?
  /// Who gets it from vendors' channels.
  public var legs: [LegTargetsRow]
  /// The members of its audience on iOS, in the router's encoding; nil for nobody.
  public var iosTargets: [UInt8]?
  /// The members of its audience whom no channel reaches, in the router's encoding; nil for nobody. They are not among
  /// `target` and `targets`.
  public var unreached: [UInt8]?
  /// Whether it is only for those who are online when it is accepted.
  public var isOnlineOnly: Bool
  /// How many members its audience has.
  public var targetCount: UInt32
  /// Number of the channel strategy.
  public var strategy: UInt8
  /// The push that this one replaces.
  public var overrides: MessageID?
  /// What the devices get, in the router's encoding.
  public var content: [UInt8]

  /// All fields.
  public init(
    id: MessageID, app: AppID, createdAt: Timestamp, expiresAt: Timestamp, sendno: Int64,
    platforms: PlatformSet, target: RegistrationNumber?, targets: [UInt8]?, ownTargets: [UInt8]? = nil,
    legs: [LegTargetsRow] = [], iosTargets: [UInt8]? = nil,
    unreached: [UInt8]? = nil, isOnlineOnly: Bool = false, targetCount: UInt32, strategy: UInt8 = 0,
    overrides: MessageID? = nil,
    content: [UInt8]
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
    self.isOnlineOnly = isOnlineOnly
    self.targetCount = targetCount
    self.strategy = strategy
    self.overrides = overrides
    self.content = content
  }
}

/// Whose a push is.
public struct PushOrigin: Sendable, Equatable {
  /// Its app.
  public var app: AppID
  /// When it was accepted.
  public var createdAt: Timestamp
  /// Whether a later push has replaced it.
  public var isReplaced: Bool
}

/// A push of which something is undelivered.
public struct OpenPush: Sendable, Equatable {
  /// The push; of a single the content is left out (empty), `PushRepository.contents` fetches it.
  public var push: PushRow
  /// Who of a group acknowledged, in the router's encoding; nil if no one was saved.
  public var delivered: [UInt8]?
}

/// How a push ended. The raw values are stored in the database.
public enum OutcomeStatus: UInt8, Sendable {
  /// Not ended, but something is known of it.
  case open = 0
  /// Acknowledged.
  case delivered = 1
  /// Its time ran out.
  case expired = 2
  /// The customer took it back.
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
  public var isWithdrawn: Bool { self == .recalled || self == .overridden }
}

/// The facts about a push's end.
public struct OutcomeRow: Sendable, Equatable {
  /// How its way over the direct connection ended.
  public var status: OutcomeStatus
  /// When it ended.
  public var at: Timestamp
  /// When the device showed it.
  public var shownAt: Timestamp?
  /// When the user tapped it.
  public var tappedAt: Timestamp?
  /// Whether and when it was recalled or overridden; nil if not.
  public var withdrawal: Withdrawal?
  /// Whether every target is known to have it.
  public var hasReachedAll = false

  /// That a push was recalled.
  public struct Withdrawal: Sendable, Equatable {
    /// `recalled` or `overridden`.
    public var status: OutcomeStatus
    /// When.
    public var at: Timestamp
  }
}

/// A push that was recalled, with its targets: one, or a set in the router's encoding.
public struct RecalledRow: Sendable {
  /// The push.
  public let id: MessageID
  /// Its app.
  public let app: AppID
  /// Its target, if it is one.
  public let target: RegistrationNumber?
  /// Its targets; nil for one target, and if they are too many.
  public let targets: [UInt8]?
}

/// The end of one push, for `DeliveryRepository.settle`.
public struct Settlement: Sendable {
  /// The push.
  public var id: MessageID
  /// How it ended.
  public var status: OutcomeStatus
  /// When.
  public var at: Timestamp
  /// Who of several acknowledged it, in the router's encoding; nil if nobody did, or all did.
  public var delivered: [UInt8]?

  /// All fields.
  public init(id: MessageID, status: OutcomeStatus, at: Timestamp, delivered: [UInt8]? = nil) {
    self.id = id
    self.status = status
    self.at = at
    self.delivered = delivered
  }
}

/// The stored result of a `cid`.
public struct CIDRow: Sendable, Equatable {
  /// The push that the first request made.
  public var id: MessageID
  /// The number that the first request got.
  public var sendno: Int64
  /// How many targets its push had; 0 if the push is swept.
  public var targetCount: UInt32
  /// A digest of the request; nil if none was stored.
  public var digest: [UInt8]?
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
      unreached: row.optionalBlob("unreached"),
      isOnlineOnly: row.bool("online_only"),
      targetCount: row.integer("target_count", as: UInt32.self),
      strategy: row.integer("strategy", as: UInt8.self),
      overrides: row.optionalInteger("overrides").map { MessageID(UInt64(truncatingIfNeeded: $0)) },
      content: row.blob("content"))
  }
}
