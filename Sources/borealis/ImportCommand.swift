import Glibc
import PushBase
import PushDomain
import PushJSON
import PushOps
import PushRouter
import PushStorage
import Synchronization

struct ImportCommand: Command {
  static let name = "import"
  static let summary = "Imports registrations of another platform from a CSV file."
  static let details = """
    Adds the registrations in FILE to the app with the key --app. A running server knows them within a second or two. The
    first line names the columns: registration_id and platform (android, ios, hmos, quickapp), and any of alias, tags
    (separated by ;), apns_token, apns_environment (production, the default, or sandbox) and mobile. For each channel, such
    as fcm or huawei, there may be token.NAME with the device's token, and beside token.apns there may be service.apns with
    production or sandbox.

    With --from getui the columns are Getui's: cid and phone_type (android, ios, harmony, or Getui's numbers 1 and 2), and
    any of alias, custom_tag (separated by spaces), device_token and apns_environment. Getui's API still accepts the CIDs.

    Notifications go to the tokens immediately. A device that registers with its token of APNs takes over its
    registration: ID, alias and tags stay. With --adopt-by-id, a device without one does so with its former ID (see
    Docs/protocol.md).

    Prints a line of JSON for each invalid line, and for each ID that was replaced because it has another form; then the
    totals. The command may be repeated: existing registrations stay unchanged.
    """
  static let operands = ["FILE"]
  static let settings =
    DataFolder.settings + [
      SettingDefinition(name: "app", valueName: "KEY", help: "The app's key.", kind: .text),
      SettingDefinition(
        name: "from", valueName: "PLATFORM",
        help: "The origin of FILE: jpush (the default) or getui.",
        kind: .text),
      SettingDefinition(
        name: "adopt-by-id", valueName: "",
        help: "Lets a device take over a registration by its former ID, which others may know.", kind: .flag),
      SettingDefinition(
        name: "dry-run", valueName: "", help: "Checks all lines and changes nothing.", kind: .flag),
    ]

  static func run(_ input: Input) throws(Failure) {
    let key = try input.required("app")
    guard AppKey(key) != nil else { throw .usage("--app: KEY has 24 lower-case hexadecimal digits") }
    guard let source = ImportSource(rawValue: input.settings.text("from") ?? ImportSource.jpush.rawValue)
    else {
      throw .usage("--from: expected jpush or getui")
    }
    let folder = try DataFolder(input)
    let path = input.operands[0]
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .failed("cannot read \(path): \(SystemCalls.reason(errno))") }
    defer { close(descriptor) }
    try folder.withApp(key) { store, app throws(Failure) in
      var work = ImportWork(
        store: store, folder: folder, app: app, source: source,
        adoption: input.settings.flag("adopt-by-id") ? .registrationID : .token,
        isDryRun: input.settings.flag("dry-run"))
      try read(descriptor, path, into: &work)
    }
  }

  private static func read(_ descriptor: Int32, _ path: String, into work: inout ImportWork) throws(Failure) {
    var reader = CSVReader()
    var buffer = [UInt8](repeating: 0, count: 256 * 1024)
    while true {
      let count = Glibc.read(descriptor, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw .failed("cannot read \(path): \(SystemCalls.reason(errno))") }
      if count == 0 { break }
      for record in reader.read(buffer.span.extracting(first: count)) { try work.take(record) }
    }
    if let record = reader.finish() { try work.take(record) }
    try work.finish()
  }
}

/// The lines of a file on their way into the database.
private struct ImportWork {
  /// Registrations that share a commit while a server runs: so few that pushes hardly wait for it.
  private static let batchBesideServer = 1000
  /// The same without a running server. Neighbours in an index share pages, so that fewer are written in all.
  private static let batchAlone = 20_000
  /// Nanoseconds after which a commit beside a server ends: a thousand registrations may bring a million tags.
  private static let longestCommit: UInt64 = 50_000_000
  /// The longest rest for a server, in microseconds.
  private static let longestRest: UInt64 = 50_000

  let store: Store
  let folder: DataFolder
  let app: AppRow
  let source: ImportSource
  let adoption: Adoption
  let isDryRun: Bool

  private let names = TagNameCount()
  private var columns: ImportColumns?
  private var waiting: [(line: Int, registration: ImportedRegistration)] = []
  private var batch = Self.batchBesideServer
  private var lines: Int64 = 0
  private var added: Int64 = 0
  private var known: Int64 = 0
  private var refused: Int64 = 0

  init(
    store: Store, folder: DataFolder, app: AppRow, source: ImportSource, adoption: Adoption, isDryRun: Bool
  ) {
    self.store = store
    self.folder = folder
    self.app = app
    self.source = source
    self.adoption = adoption
    self.isDryRun = isDryRun
  }

  mutating func take(_ record: CSVReader.Record) throws(Failure) {
    guard let columns else {
      guard let fields = record.fields else { throw .failed("line 1: the line cannot be read") }
      do throws(ImportFault) {
        self.columns = try ImportColumns(fields, from: source, channels: HomeService.channelInfos)
      } catch {
        throw .failed("line 1: \(error.reason)")
      }
      return
    }
    lines += 1
    guard let fields = record.fields else {
      refuse(record.line, "the line is too long, is not UTF-8, or has a quote that does not fit")
      return
    }
    do throws(ImportFault) {
      let line = try ImportLine(fields, columns)
      let id = ImportedID.registrationID(line.registrationID, in: app.key)
      if id.text != line.registrationID {
        Console.print([
          "line": .number(JSONNumber(Int64(record.line))),
          .init(source.columns[0]): .string(line.registrationID),
          "becomes": .string(id.text),
        ])
      }
      let registration = ImportedRegistration(
        registrationID: id, platform: line.platform, alias: line.alias, tags: line.tags,
        tokens: line.tokens, mobile: line.mobile)
      waiting.append((record.line, registration))
    } catch {
      refuse(record.line, error.reason)
    }
    if waiting.count >= batch { try store(waiting) }
  }

  mutating func finish() throws(Failure) {
    if !waiting.isEmpty { try store(waiting) }
    Console.print([
      "lines": .number(JSONNumber(lines)), "added": .number(JSONNumber(added)),
      "known": .number(JSONNumber(known)), "refused": .number(JSONNumber(refused)),
      "dry_run": .bool(isDryRun),
    ])
  }

  private mutating func refuse(_ line: Int, _ reason: String) {
    refused += 1
    Console.print(["line": .number(JSONNumber(Int64(line))), "refused": .string(reason)])
  }

  private mutating func store(_ batch: [(line: Int, registration: ImportedRegistration)]) throws(Failure) {
    waiting = []
    var rest = batch[...]
    while !rest.isEmpty {
      let start = SystemTime().monotonic()
      let outcomes = try outcomes(rest.map(\.registration))
      note(outcomes, of: rest)
      rest = rest.dropFirst(outcomes.count)
      guard folder.mayBeServed else {
        self.batch = Self.batchAlone
        continue
      }
      // A server on the same folder needs its turn.
      self.batch = Self.batchBesideServer
      let taken = (SystemTime().monotonic() &- start) / 1000
      usleep(UInt32(clamping: min(taken, Self.longestRest)))
    }
  }

  private mutating func note(
    _ outcomes: [ImportOutcome], of batch: ArraySlice<(line: Int, registration: ImportedRegistration)>
  ) {
    for (one, outcome) in zip(batch, outcomes) {
      switch outcome {
      case .added: added += 1
      case .known: known += 1
      case .aliasFull:
        refuse(one.line, "the alias belongs to \(RegistrationLimits.devicesPerAlias) devices already")
      case .tooManyTags: refuse(one.line, "the device has more than \(RegistrationLimits.tags) tags")
      case .appTagsFull: refuse(one.line, "the app has \(RegistrationLimits.tagsPerApp) tags already")
      case .tokenTaken(let id): refuse(one.line, "the token belongs to \(id.text)")
      case .foreign: refuse(one.line, "the registration ID belongs to another app")
      case .numbersUsedUp: refuse(one.line, "the app has used up its numbers, or is deleted")
      }
    }
  }

  /// Stores registrations in a commit, some of them if all would take too long for a running server.
  private func outcomes(_ registrations: [ImportedRegistration]) throws(Failure) -> [ImportOutcome] {
    let (app, adoption, isDryRun, names) = (app.id, adoption, isDryRun, names)
    let mostTime = folder.mayBeServed ? Self.longestCommit : .max
    let found = Mutex<[ImportOutcome]>([])
    do throws(StorageError) {
      try Store.wait { done in
        store.write { transaction throws(StorageError) in
          let work = RegistrationImport(
            into: app, adoption: adoption, at: SystemTime().now(), names: names)
          let start = SystemTime().monotonic()
          let outcomes = try work.add(registrations, in: transaction) {
            SystemTime().monotonic() &- start < mostTime
          }
          found.withLock { $0 = outcomes }
          // Takes back what was done.
          if isDryRun { throw StorageError(.other, "dry run") }
        } completion: {
          done($0)
        }
      }
    } catch {
      let outcomes = found.withLock { $0 }
      guard isDryRun, !outcomes.isEmpty else {
        throw DataFolder.failure("cannot store registrations", error)
      }
    }
    return found.withLock { $0 }
  }
}
