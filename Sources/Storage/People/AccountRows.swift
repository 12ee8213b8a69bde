import BorealisBase

/// The limits of an app on a plan. Nil means the server's own setting, or no limit if there is none.
package struct PlanRow: Sendable, Equatable {
  /// Its name: 1 to 40 lower-case letters, digits, `-` and `_`.
  package var name: String
  /// Calls of the push API in a minute, for each app.
  package var pushCalls: Int?
  /// Calls of the device API in a minute, for each app.
  package var deviceCalls: Int?
  /// Calls of the report API in a minute, for each app.
  package var reportCalls: Int?
  /// Calls of the schedule API in a minute, for each app.
  package var scheduleCalls: Int?
  /// Calls of the file API in a minute, for each app.
  package var fileCalls: Int?
  /// Pushes to everybody in a day, for each app.
  package var broadcasts: Int?
  /// The longest time to live, in seconds.
  package var maxTimeToLive: Int?
  /// Devices that pushes are accepted for in a second.
  package var speed: Int?
  /// Registrations of an app.
  package var registrations: Int?
  /// Whether `speed` is for all apps of the plan together.
  package var sharesSpeed: Bool

  /// The default plan of apps.
  package static let unlimited = "unlimited"

  /// All fields; without limits unless they are given.
  package init(
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
package struct AccountRow: Sendable, Equatable {
  /// Row number.
  package var id: AccountID
  /// For people.
  package var name: String
  /// Public key; it has the form of an app's.
  package var key: AppKey
  /// 32 bytes; the caller chooses the hash.
  package var secretHash: [UInt8]
  /// The plan of its new apps.
  package var plan: String
  /// When it was made.
  package var createdAt: Timestamp
  /// A disabled account's requests are refused, and those of its apps.
  package var isDisabled: Bool
}

/// The result of changing an account's plan.
package struct AccountPlanChange: Sendable {
  /// The plan before.
  package var before: String
  /// The apps that changed with it, as they were.
  package var moved: [AppRow]
  /// Apps that keep another plan of their own.
  package var others: Int
}

/// A new app.
package struct NewApp: Sendable {
  /// Its public key.
  package var key: AppKey
  /// For people.
  package var name: String
  /// 32 bytes; the caller chooses the hash.
  package var secretHash: [UInt8]
  /// Whose it is.
  package var account: AccountID
  /// Its plan; nil for the one that the account gives.
  package var plan: String?
  /// Its Android package, which no other app of the account has.
  package var androidPackage: String?
  /// The group from the admin API.
  package var groupName: String?

  package init(
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
package struct DeletedApp: Sendable, Equatable {
  /// Row number.
  package var id: AppID
  /// The key that it had.
  package var key: AppKey

  package init(id: AppID, key: AppKey) {
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
