import BorealisBase

/// The access of a transaction that reads.
package enum Reading {}

/// The access of a transaction that may change everything.
package enum Writing {}

/// What a job or a read may do with the database, by feature. Valid only while the body that got it runs, and
/// on its thread. All reads see one state of the database, with the job's own changes. Every function throws
/// `.diskFull`, `.io` and the like.
package struct Transaction<Access> {
  let database: Database

  init(_ database: Database) { self.database = database }

  /// Since when everything is stored of a push from which the places of its targets follow: on SQLite since
  /// version 9 of the schema; the schema of PostgreSQL began with it.
  package func targetsAreWholeSince() throws(StorageError) -> Timestamp {
    guard database.postgres == nil else { return Timestamp(milliseconds: 0) }
    let applied = try database.first("SELECT applied_at FROM schema_migration WHERE version = 9") {
      $0.time()
    }
    return applied ?? Timestamp(milliseconds: .max)
  }
}

/// What can be read.
package typealias ReadTransaction = Transaction<Reading>

/// The changes that a job can make, and what it can read.
package typealias WriteTransaction = Transaction<Writing>

extension Transaction<Writing> {
  /// The same for those who only read.
  package var reading: ReadTransaction { ReadTransaction(database) }

  /// Throws `.movedAway` if an app has left this home: its rows are another one's. For jobs that may wait for
  /// long after the app's entrances were closed.
  package func expectHome(of app: AppID) throws(StorageError) {
    guard database.home?.hasLeft(app) == true else { return }
    throw StorageError(.movedAway, "the app has another home")
  }

  /// Has something done on the writer's thread, before the job's completion, if and only if the job's changes
  /// are stored: for those who take part in a job of others and have a state in memory. It must be short.
  package func whenCommitted(_ action: @escaping () -> Void) { database.committed.append(action) }
}

extension Transaction {
  package var accounts: AccountRepository<Access> { .init(database: database) }
  /// Who did something in an hour or a day.
  package var activity: ActivityRepository<Access> { .init(database: database) }
  /// Pushes on their way by vendors' channels.
  package var channelQueue: ChannelQueueRepository<Access> { .init(database: database) }
  /// Groups of apps and the pushes to them.
  package var appGroups: AppGroupRepository<Access> { .init(database: database) }
  /// API keys of apps.
  package var apiKeys: APIKeyRepository<Access> { .init(database: database) }
  /// The log of requests to the HTTP APIs.
  package var apiRequests: APIRequestRepository<Access> { .init(database: database) }
  package var apps: AppRepository<Access> { .init(database: database) }
  /// What was wrong with apps.
  package var incidents: IncidentRepository<Access> { .init(database: database) }
  /// The audit log.
  package var audit: AuditRepository<Access> { .init(database: database) }
  /// Callbacks: settings, events, batches and attempts.
  package var callbacks: CallbackRepository<Access> { .init(database: database) }
  /// Browsers that are logged in to the console.
  package var consoleSessions: ConsoleSessionRepository<Access> { .init(database: database) }
  /// Credentials for channels, and the reminders of their ends.
  package var credentials: CredentialRepository<Access> { .init(database: database) }
  /// Which tokens have worked with the credentials of channels.
  package var tokenProofs: TokenProofRepository<Access> { .init(database: database) }
  /// Deleted apps whose rows are not all gone.
  package var deletedApps: DeletedAppRepository<Access> { .init(database: database) }
  /// The outcomes of pushes for their targets: who waits, who has one, how it ended.
  package var deliveries: DeliveryRepository<Access> { .init(database: database) }
  /// Erasures of people.
  package var erasures: ErasureRepository<Access> { .init(database: database) }
  /// Pushes that go to vendors' channels if devices do not acknowledge them in time.
  package var fallbacks: FallbackRepository<Access> { .init(database: database) }
  /// Files that apps uploaded for pushes by file.
  package var files: FileRepository<Access> { .init(database: database) }
  /// Access, tokens and tasks of Getui's API.
  package var getui: GetuiRepository<Access> { .init(database: database) }
  /// Which apps' contents are sealed, and with what.
  package var sealing: SealingRepository<Access> { .init(database: database) }
  /// Keys for contents that only devices read.
  package var deviceKeys: DeviceKeyRepository<Access> { .init(database: database) }
  /// Facts of devices.
  package var facts: FactRepository<Access> { .init(database: database) }
  /// Templates of apps.
  package var templates: TemplateRepository<Access> { .init(database: database) }
  /// A/B tests of apps.
  package var abTests: ABTestRepository<Access> { .init(database: database) }
  /// Runs of A/B tests.
  package var abTestRuns: ABTestRunRepository<Access> { .init(database: database) }
  /// Pushes that go to a share of their audience first.
  package var canaries: CanaryRepository<Access> { .init(database: database) }
  /// Segments of apps.
  package var segments: SegmentRepository<Access> { .init(database: database) }
  /// Which home each app has.
  package var homes: HomeRepository<Access> { .init(database: database) }
  /// Registrations that come from other platforms.
  package var imports: ImportRepository<Access> { .init(database: database) }
  /// Invitations to accounts.
  package var invitations: InvitationRepository<Access> { .init(database: database) }
  /// Mail that is to be sent.
  package var mail: MailRepository<Access> { .init(database: database) }
  /// Who belongs to which account, in which role.
  package var members: MemberRepository<Access> { .init(database: database) }
  /// Pushes that wait for the end of quiet hours.
  package var heldPushes: HeldPushRepository<Access> { .init(database: database) }
  /// Pushes whose delivery is spread over some time.
  package var pacedPushes: PacedPushRepository<Access> { .init(database: database) }
  /// People who may log in to the console.
  package var people: PeopleRepository<Access> { .init(database: database) }
  /// The plans that apps are on.
  package var plans: PlanRepository<Access> { .init(database: database) }
  /// Push plans: names under which an app counts its pushes.
  package var pushPlans: PushPlanRepository<Access> { .init(database: database) }
  /// Accepted pushes: content, sender, and `cid`s.
  package var pushes: PushRepository<Access> { .init(database: database) }
  /// Registrations of apps: one for each install on a device.
  package var registrations: RegistrationRepository<Access> { .init(database: database) }
  /// Schedules and the results of their occurrences.
  package var schedules: ScheduleRepository<Access> { .init(database: database) }
  /// Counts by hour.
  package var statistics: StatisticsRepository<Access> { .init(database: database) }
  /// The names of tags, and the tags of registrations.
  package var tags: TagRepository<Access> { .init(database: database) }
  /// Apps' devices for tests.
  package var testDevices: TestDeviceRepository<Access> { .init(database: database) }
  /// Push tokens of registrations.
  package var tokens: TokenRepository<Access> { .init(database: database) }
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
