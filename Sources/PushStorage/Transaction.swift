import PushBase

/// The access of a transaction that reads.
public enum Reading {}

/// The access of a transaction that may change everything.
public enum Writing {}

/// What a job or a read may do with the database, by feature. Valid only while the body that got it runs, and on its thread. All
/// reads see one state of the database, with the job's own changes. Every function throws `.diskFull`, `.io` and the like.
public struct Transaction<Access> {
  let database: Database

  init(_ database: Database) { self.database = database }

  /// Since when everything is stored of a push from which the places of its targets follow: on SQLite since version 9 of the schema; the
  /// schema of PostgreSQL began with it.
  public func targetsAreWholeSince() throws(StorageError) -> Timestamp {
    guard database.postgres == nil else { return Timestamp(milliseconds: 0) }
    let applied = try database.first("SELECT applied_at FROM schema_migration WHERE version = 9") {
      $0.time()
    }
    return applied ?? Timestamp(milliseconds: .max)
  }
}

/// What can be read.
public typealias ReadTransaction = Transaction<Reading>

/// The changes that a job can make, and what it can read.
public typealias WriteTransaction = Transaction<Writing>

extension Transaction<Writing> {
  /// The same for those who only read.
  public var reading: ReadTransaction { ReadTransaction(database) }

  /// Throws `.movedAway` if an app has left this home: its rows are another one's. For jobs that may wait for long after the app's
  /// entrances were closed.
  public func expectHome(of app: AppID) throws(StorageError) {
    guard database.home?.hasLeft(app) == true else { return }
    throw StorageError(.movedAway, "the app has another home")
  }

  /// Has something done on the writer's thread, before the job's completion, if and only if the job's changes are stored: for those
  /// who take part in a job of others and have a state in memory. It must be short.
  public func whenCommitted(_ action: @escaping () -> Void) { database.committed.append(action) }
}

extension Transaction {
  /// Accounts.
  public var accounts: AccountRepository<Access> { .init(database: database) }
  /// Who did something in an hour or a day.
  public var activity: ActivityRepository<Access> { .init(database: database) }
  /// Pushes on their way by vendors' channels.
  public var channelQueue: ChannelQueueRepository<Access> { .init(database: database) }
  /// Groups of apps and the pushes to them.
  public var appGroups: AppGroupRepository<Access> { .init(database: database) }
  /// Apps.
  public var apps: AppRepository<Access> { .init(database: database) }
  /// The audit log.
  public var audit: AuditRepository<Access> { .init(database: database) }
  /// Callbacks: settings, events, batches and attempts.
  public var callbacks: CallbackRepository<Access> { .init(database: database) }
  /// Browsers that are logged in to the console.
  public var consoleSessions: ConsoleSessionRepository<Access> { .init(database: database) }
  /// APNs credentials and the reminders of their ends.
  public var credentials: CredentialRepository<Access> { .init(database: database) }
  /// What apps authenticate with at the services of other channels.
  public var channelCredentials: ChannelCredentialRepository<Access> { .init(database: database) }
  /// Which tokens have worked with the credentials of channels.
  public var tokenProofs: TokenProofRepository<Access> { .init(database: database) }
  /// Deleted apps whose rows are not all gone.
  public var deletedApps: DeletedAppRepository<Access> { .init(database: database) }
  /// The outcomes of pushes for their targets: who waits, who has one, how it ended.
  public var deliveries: DeliveryRepository<Access> { .init(database: database) }
  /// Pushes that go to vendors' channels if devices do not acknowledge them in time.
  public var fallbacks: FallbackRepository<Access> { .init(database: database) }
  /// Files that apps uploaded for pushes by file.
  public var files: FileRepository<Access> { .init(database: database) }
  /// Access, tokens and tasks of Getui's API.
  public var getui: GetuiRepository<Access> { .init(database: database) }
  /// Which apps' contents are sealed, and with what.
  public var sealing: SealingRepository<Access> { .init(database: database) }
  /// Keys for contents that only devices read.
  public var deviceKeys: DeviceKeyRepository<Access> { .init(database: database) }
  /// Which home each app has.
  public var homes: HomeRepository<Access> { .init(database: database) }
  /// Registrations that come from other platforms.
  public var imports: ImportRepository<Access> { .init(database: database) }
  /// Invitations to accounts.
  public var invitations: InvitationRepository<Access> { .init(database: database) }
  /// Mail that is to be sent.
  public var mail: MailRepository<Access> { .init(database: database) }
  /// Who belongs to which account, in which role.
  public var members: MemberRepository<Access> { .init(database: database) }
  /// Pushes whose delivery is spread over some time.
  public var pacedPushes: PacedPushRepository<Access> { .init(database: database) }
  /// People who may log in to the console.
  public var people: PeopleRepository<Access> { .init(database: database) }
  /// The plans that apps are on.
  public var plans: PlanRepository<Access> { .init(database: database) }
  /// Push plans: names under which an app counts its pushes.
  public var pushPlans: PushPlanRepository<Access> { .init(database: database) }
  /// Accepted pushes: content, sender, and `cid`s.
  public var pushes: PushRepository<Access> { .init(database: database) }
  /// Registrations of apps: one for each install on a device.
  public var registrations: RegistrationRepository<Access> { .init(database: database) }
  /// Schedules and the results of their occurrences.
  public var schedules: ScheduleRepository<Access> { .init(database: database) }
  /// Counts by hour.
  public var statistics: StatisticsRepository<Access> { .init(database: database) }
  /// The names of tags, and the tags of registrations.
  public var tags: TagRepository<Access> { .init(database: database) }
  /// Apps' devices for tests.
  public var testDevices: TestDeviceRepository<Access> { .init(database: database) }
  /// Push tokens of registrations.
  public var tokens: TokenRepository<Access> { .init(database: database) }
}

/// The rows of one feature. Functions that change them are there for `Writing` only.
protocol Repository<Access> {
  associatedtype Access
  var database: Database { get }
}

extension Repository {
  /// The other features, in the same transaction.
  var transaction: Transaction<Access> { Transaction(database) }
}
