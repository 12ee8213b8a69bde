import PushBase

/// The limits of an app on a plan. Nil means the server's own setting, or no limit if there is none.
public struct PlanRow: Sendable, Equatable {
  /// Its name: 1 to 40 lower-case letters, digits, `-` and `_`.
  public var name: String
  /// Calls of the push API in a minute, for each app.
  public var pushCalls: Int?
  /// Calls of the device API in a minute, for each app.
  public var deviceCalls: Int?
  /// Calls of the report API in a minute, for each app.
  public var reportCalls: Int?
  /// Calls of the schedule API in a minute, for each app.
  public var scheduleCalls: Int?
  /// Calls of the file API in a minute, for each app.
  public var fileCalls: Int?
  /// Pushes to everybody in a day, for each app.
  public var broadcasts: Int?
  /// The longest time to live, in seconds.
  public var maxTimeToLive: Int?
  /// Devices that pushes are accepted for in a second.
  public var speed: Int?
  /// Registrations of an app.
  public var registrations: Int?
  /// Whether `speed` is for all apps of the plan together.
  public var sharesSpeed: Bool

  /// The default plan of apps.
  public static let unlimited = "unlimited"

  /// All fields; without limits unless they are given.
  public init(
    name: String, pushCalls: Int? = nil, deviceCalls: Int? = nil, reportCalls: Int? = nil,
    scheduleCalls: Int? = nil, fileCalls: Int? = nil, broadcasts: Int? = nil, maxTimeToLive: Int? = nil,
    speed: Int? = nil, sharesSpeed: Bool = false, registrations: Int? = nil
  ) {
    self.registrations = registrations
    self.name = name
    self.pushCalls = pushCalls
    self.deviceCalls = deviceCalls
    self.reportCalls = reportCalls
    self.scheduleCalls = scheduleCalls
    self.fileCalls = fileCalls
    self.broadcasts = broadcasts
    self.maxTimeToLive = maxTimeToLive
    self.speed = speed
    self.sharesSpeed = sharesSpeed
  }
}

/// An account as it is stored.
public struct AccountRow: Sendable, Equatable {
  /// Row number.
  public var id: AccountID
  /// For people.
  public var name: String
  /// Public key; it has the form of an app's.
  public var key: AppKey
  /// 32 bytes; the caller chooses the hash.
  public var secretHash: [UInt8]
  /// The plan of its new apps.
  public var plan: String
  /// When it was made.
  public var createdAt: Timestamp
  /// A disabled account's requests are refused, and those of its apps.
  public var isDisabled: Bool
}

/// The result of changing an account's plan.
public struct AccountPlanChange: Sendable {
  /// The plan before.
  public var before: String
  /// The apps that changed with it, as they were.
  public var moved: [AppRow]
  /// Apps that keep another plan of their own.
  public var others: Int
}

/// A new app.
public struct NewApp: Sendable {
  /// Its public key.
  public var key: AppKey
  /// For people.
  public var name: String
  /// 32 bytes; the caller chooses the hash.
  public var secretHash: [UInt8]
  /// Whose it is.
  public var account: AccountID
  /// Its plan; nil for the one that the account gives.
  public var plan: String?
  /// Its Android package, which no other app of the account has.
  public var androidPackage: String?
  /// The group from the admin API.
  public var groupName: String?

  /// All fields.
  public init(
    key: AppKey, name: String, secretHash: [UInt8], account: AccountID = .standard, plan: String? = nil,
    androidPackage: String? = nil, groupName: String? = nil
  ) {
    self.key = key
    self.name = name
    self.secretHash = secretHash
    self.account = account
    self.plan = plan
    self.androidPackage = androidPackage
    self.groupName = groupName
  }
}

/// An app that was deleted and has data left.
public struct DeletedApp: Sendable, Equatable {
  /// Row number.
  public var id: AppID
  /// The key that it had.
  public var key: AppKey

  /// All fields.
  public init(id: AppID, key: AppKey) {
    self.id = id
    self.key = key
  }
}

extension PlanRow {
  /// Reads the columns of `plan`; its name stands in the given one.
  init(_ row: Row, name: StaticString = "name") {
    func limit(_ column: StaticString) -> Int? { row.optionalInteger(column).map { Int($0) } }
    self.init(
      name: row.text(name), pushCalls: limit("push_calls"), deviceCalls: limit("device_calls"),
      reportCalls: limit("report_calls"), scheduleCalls: limit("schedule_calls"),
      fileCalls: limit("file_calls"), broadcasts: limit("broadcasts"),
      maxTimeToLive: limit("max_time_to_live"), speed: limit("speed"), sharesSpeed: row.bool("shares_speed"),
      registrations: limit("registrations"))
  }
}
