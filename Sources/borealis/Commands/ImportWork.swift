import BorealisBase
import Channels
import Core
import Glibc
import Model
import Storage

/// How a file is imported.
struct ImportOptions {
  /// The platform that it comes from.
  let source: ImportSource
  /// How devices adopt what it has.
  let adoption: Adoption
  /// Whether registrations that are there are brought in line with it.
  let updates: Bool
  /// Whether nothing is changed.
  let isDryRun: Bool
}

/// The totals of an import, which tell its exit status also when it ends early.
final class ImportCounts {
  fileprivate(set) var lines: Int64 = 0
  fileprivate(set) var added: Int64 = 0
  fileprivate(set) var updated: Int64 = 0
  fileprivate(set) var known: Int64 = 0
  /// Lines of which something was left out.
  fileprivate(set) var incomplete: Int64 = 0
  fileprivate(set) var refused: Int64 = 0

  /// Lines whose devices the app has now.
  var imported: Int64 { added + updated + known }
}

/// The lines of a file on their way into the database.
struct ImportWork {
  /// Registrations that share a commit while a server runs: so few that pushes hardly wait for it.
  private static let batchBesideServer = 1000
  /// The same without a running server. Neighbours in an index share pages, so that fewer are written in all.
  private static let batchAlone = 20_000
  /// Nanoseconds after which a commit beside a server ends: a thousand registrations may bring a million
  /// tags.
  private static let longestCommit: UInt64 = 50_000_000
  /// The longest rest for a server, in microseconds.
  private static let longestRest: UInt64 = 50_000

  /// A line whose registration is to be stored.
  private struct Line {
    let number: Int
    /// The ID in the file.
    let id: String
    let registration: ImportedRegistration
    let leftOut: [String]
  }

  private let store: Store
  private let folder: DataFolder
  private let app: AppRow
  private let options: ImportOptions
  private let counts: ImportCounts

  private let names = TagNameCount()
  private var columns: ImportColumns?
  private var waiting: [Line] = []
  private var batch = Self.batchBesideServer
  /// The line of each registration so far.
  private var seen: [RegistrationID: Int] = [:]
  private var forecast = ImportForecast()

  init(store: Store, folder: DataFolder, app: AppRow, _ options: ImportOptions, _ counts: ImportCounts) {
    self.store = store
    self.folder = folder
    self.app = app
    self.options = options
    self.counts = counts
  }

  mutating func process(_ record: CSVReader.Record) throws(Failure) {
    guard let columns else {
      guard let fields = record.fields else { throw .failed("line 1: \(Self.unreadable)") }
      do throws(ImportFault) {
        self.columns = try ImportColumns(
          fields, from: options.source, channels: ChannelRegistry.infos, facts: app.facts)
      } catch {
        throw .failed("line 1: \(error.reason)")
      }
      return
    }
    counts.lines += 1
    guard let fields = record.fields else {
      refuse(record.line, Self.unreadable)
      return
    }
    do throws(ImportFault) {
      try add(try line(fields, columns), at: record.line)
    } catch {
      refuse(record.line, error.reason)
    }
    if waiting.count >= batch { try store(waiting) }
  }

  private static let unreadable = "the line is too long, is not UTF-8, or has a quote that does not fit"

  /// Reads a line, with a subscription of a browser in the form in which devices' are stored.
  private func line(_ fields: [String], _ columns: ImportColumns) throws(ImportFault) -> ImportLine {
    guard let place = columns.place(ofTokensOf: .webPush), fields.indices.contains(place),
      !fields[place].isEmpty
    else { return try ImportLine(fields, columns) }
    var fields = fields
    let subscription = WebPush.stored(fields[place])
    fields[place] = subscription ?? ""
    var line = try ImportLine(fields, columns)
    if subscription == nil {
      line.leftOut.append("the subscription must be JSON with endpoint, keys.p256dh and keys.auth")
    }
    return line
  }

  private mutating func add(_ line: ImportLine, at number: Int) throws(ImportFault) {
    let ids = ImportedID.candidates(line.registrationID, in: app.key)
    if let first = seen.updateValue(number, forKey: ids[0]) {
      seen[ids[0]] = first
      throw ImportFault(reason: "line \(first) has the same \(options.source.columns[0])")
    }
    let registration = ImportedRegistration(
      registrationID: ids[0], platform: line.platform, alias: line.alias, tags: line.tags,
      tokens: line.tokens, mobile: line.mobile, facts: line.facts,
      fingerprints: ImportedID.fingerprints(line.registrationID), olderIDs: Array(ids.dropFirst()),
      formerID: line.registrationID)
    waiting.append(
      Line(number: number, id: line.registrationID, registration: registration, leftOut: line.leftOut))
  }

  mutating func finish() throws(Failure) {
    guard columns != nil else { throw .failed("the file is empty; its first line must name the columns") }
    if !waiting.isEmpty { try store(waiting) }
    Terminal.print([
      "lines": .number(JSONNumber(counts.lines)), "added": .number(JSONNumber(counts.added)),
      "updated": .number(JSONNumber(counts.updated)), "known": .number(JSONNumber(counts.known)),
      "incomplete": .number(JSONNumber(counts.incomplete)),
      "refused": .number(JSONNumber(counts.refused)), "dry_run": .bool(options.isDryRun),
    ])
  }

  private func refuse(_ line: Int, _ reason: String) {
    counts.refused += 1
    Terminal.print(["line": .number(JSONNumber(Int64(line))), "refused": .string(reason)])
  }

  private mutating func store(_ lines: [Line]) throws(Failure) {
    BlockingCall.assertAllowed()
    waiting = []
    var rest = lines[...]
    while !rest.isEmpty {
      let start = SystemTime().monotonic()
      let results = try results(rest.map(\.registration))
      for (line, result) in zip(rest, results) { note(result, of: line) }
      rest = rest.dropFirst(results.count)
      guard folder.mayBeServed else {
        batch = Self.batchAlone
        continue
      }
      // A server on the same folder needs its turn.
      batch = Self.batchBesideServer
      let taken = (SystemTime().monotonic() &- start) / 1000
      usleep(UInt32(clamping: min(taken, Self.longestRest)))
    }
  }

  private func note(_ result: ImportResult, of line: Line) {
    switch result.outcome {
    case .added: counts.added += 1
    case .updated: counts.updated += 1
    case .known: counts.known += 1
    case .tokenTaken(let id): return refuse(line.number, "the token belongs to \(id.text)")
    case .numbersUsedUp: return refuse(line.number, "the app has used up its numbers, or is deleted")
    }
    if result.registrationID.text != line.id {
      Terminal.print([
        "line": .number(JSONNumber(Int64(line.number))), .init(options.source.columns[0]): .string(line.id),
        "becomes": .string(result.registrationID.text),
      ])
    }
    let leftOut = line.leftOut + result.losses.map(Self.reason)
    guard !leftOut.isEmpty else { return }
    counts.incomplete += 1
    Terminal.print([
      "line": .number(JSONNumber(Int64(line.number))), "left_out": .array(leftOut.map { .string($0) }),
    ])
  }

  private static func reason(_ loss: ImportResult.Loss) -> String {
    switch loss {
    case .aliasFull: "the alias belongs to \(RegistrationLimits.devicesPerAlias) devices already"
    case .factFull(let fact): "the app has \(FactTable.mostValues) values of the fact \(fact.name) already"
    case .appTagsFull: "the app has \(RegistrationLimits.tagsPerApp) tags already"
    case .tokenTaken(let channel, let id):
      "the token of \(ChannelRegistry.infos.first { $0.id == channel }?.name ?? "a channel") belongs to \(id.text)"
    }
  }

  // MARK: The database

  /// Stores registrations in a commit, some of them if all would take too long for a running server. In a dry
  /// run it only finds out what the results would be.
  private mutating func results(_ registrations: [ImportedRegistration]) throws(Failure) -> [ImportResult] {
    let work = RegistrationImport(
      into: app.id, adoption: options.adoption, updating: updated, at: SystemTime().now(), names: names)
    guard !options.isDryRun else {
      let (results, forecast) = try store.readNow(orFail: "cannot read registrations") {
        [forecast] transaction throws(StorageError) in
        var forecast = forecast
        let results = try work.foretell(registrations, after: &forecast, in: transaction)
        return (results, forecast)
      }
      self.forecast = forecast
      return results
    }
    let mostTime = folder.mayBeServed ? Self.longestCommit : .max
    return try store.writeNow(orFail: "cannot store registrations") { transaction throws(StorageError) in
      let start = SystemTime().monotonic()
      return try work.add(registrations, in: transaction) { SystemTime().monotonic() &- start < mostTime }
    }
  }

  /// The fields that the file has and that are to be updated.
  private var updated: ImportFields { options.updates ? columns?.fields ?? [] : [] }
}
