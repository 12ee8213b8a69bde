import BorealisBase
import Model
import Storage

/// What an erasure looks through, in order. The raw values are stored in the database.
enum ErasureStep: UInt8 {
  /// Names of tags and values of facts.
  case values = 0
  case pushes = 1
  case schedules = 2
  case files = 3
  case waitingCallbacks = 4
  case doneCallbacks = 5
  case failedCallbacks = 6
  case audit = 7
  /// The unused parts of the database's file. What was looked for is forgotten before.
  case file = 8

  /// What comes next; the last one is its own.
  var next: ErasureStep { ErasureStep(rawValue: rawValue + 1) ?? .file }
}

/// A row without the names that an erasure looks for.
enum ErasureChange: Sendable {
  /// The push of a schedule; nil if the schedule has nobody left.
  case schedule(Int64, [UInt8]?)
  /// An A/B test; nil if it has nobody left.
  case abTest(Int64, [UInt8]?)
  /// Lines of a piece of a file, and how many are gone.
  case piece(Int64, [UInt8], Int)
  /// Events of a callback, and how many are left.
  case callback(Int64, [UInt8], Int)

  func make(in transaction: WriteTransaction, app: AppID) throws(StorageError) {
    switch self {
    case .schedule(let id, let push): try transaction.erasures.setSchedulePush(push, of: id, app: app)
    case .abTest(let id, let body): try transaction.erasures.setABTest(body, of: id, app: app)
    case .piece(let place, let lines, let gone):
      try transaction.erasures.setPiece(lines, at: place, app: app, without: gone)
    case .callback(let id, let body, let left):
      try transaction.erasures.setCallback(body, of: id, app: app, events: left)
    }
  }
}

extension ErasablePush {
  /// Whether it was for some registrations and for nobody else.
  func isFor(nobodyBut numbers: NumberSet) -> Bool {
    if let target { return numbers.contains(target) }
    guard let targets = targets.flatMap({ NumberSet(serialized: $0) }), !targets.isEmpty else { return false }
    return targets.subtracting(numbers).isEmpty
  }
}

/// The names that an erasure looks for in an app's rows.
struct SoughtNames: Sendable {
  let ids: [String]
  private let askedAt: Timestamp
  private let aliases: [String]
  /// Without the aliases that somebody has again.
  private let unusedAliases: [String]

  init(_ row: ErasureRow, in transaction: ReadTransaction) throws(StorageError) {
    (ids, askedAt, aliases) = (row.names.ids, row.askedAt, row.names.aliases)
    var unused: [String] = []
    for alias in aliases where try transaction.registrations.count(app: row.app, alias: alias) == 0 {
      unused.append(alias)
    }
    unusedAliases = unused
  }

  /// The aliases that are removed from a row: what is newer than the erasure may be for somebody who has
  /// registered again.
  func aliases(inRowOf createdAt: Timestamp) -> [String] { createdAt > askedAt ? unusedAliases : aliases }

  /// The same in the audience of a push object.
  func removed(
    from object: [UInt8], of createdAt: Timestamp, tags: [String] = []
  ) -> ErasedAudience.Outcome {
    ErasedAudience(aliases: aliases(inRowOf: createdAt), ids: ids, tags: tags).removed(from: object)
  }
}

/// Names that are removed from the audiences of push objects.
struct ErasedAudience: Sendable {
  enum Outcome: Equatable {
    case unchanged
    case changed([UInt8])
    /// The audience has no other name.
    case nobodyLeft
  }

  private let names: [String: Set<ExactName>]

  init(aliases: [String], ids: [String], tags: [String]) {
    func set(_ texts: [String]) -> Set<ExactName> { Set(texts.map { ExactName($0) }) }
    names = [
      "alias": set(aliases), "registration_id": set(ids), "tag": set(tags), "tag_and": set(tags),
      "tag_not": set(tags),
    ]
  }

  /// A push object without the names.
  func removed(from object: [UInt8]) -> Outcome {
    guard case .object(var push)? = try? parseJSON(object), case .object(var audience)? = push["audience"]
    else { return .unchanged }
    var isChanged = false
    for (key, erased) in names {
      guard let values = audience[key]?.array else { continue }
      let kept = values.filter { value in !(value.string.map { erased.contains(ExactName($0)) } ?? false) }
      guard kept.count < values.count else { continue }
      isChanged = true
      // The keys are combined by AND: without the name it would mean more devices than before.
      guard key == "tag_not" || key != "tag_and" && !kept.isEmpty else { return .nobodyLeft }
      if kept.isEmpty { _ = audience.remove(key) } else { audience.set(key, .array(kept)) }
    }
    guard isChanged else { return .unchanged }
    // Everybody but those with tags that nobody has.
    push.set("audience", audience.isEmpty ? "all" : .object(audience))
    return .changed(JSONWriter.serialize(.object(push)))
  }
}
