import PushBase
import PushDomain
import PushStorage
import Synchronization

/// What became of an imported registration.
public enum ImportOutcome: Sendable, Equatable {
  /// It was added.
  case added
  /// The app has it already; nothing was changed.
  case known
  /// As many registrations as allowed have its alias.
  case aliasFull
  /// It has too many tags.
  case tooManyTags
  /// The app would have too many tags.
  case appTagsFull
  /// Another registration of the app has one of its tokens.
  case tokenTaken(by: RegistrationID)
  /// Another app has a registration with its ID.
  case foreign
  /// The app has used up its numbers.
  case numbersUsedUp
}

/// Takes registrations of other platforms over into an app, by the rules that hold for its own. Needs no router: a program of its own
/// may do it beside a running server, which learns of them (`Imports`).
public struct RegistrationImport: Sendable {
  /// Registrations of which a server learns in one step.
  private static let step = 1000

  private let app: AppID
  private let adoption: Adoption
  private let now: Timestamp
  private let names: TagNameCount
  private let tagLimit: Int

  /// An import into an app, at a moment. Imports that follow one another share `names`.
  public init(
    into app: AppID, adoption: Adoption, at now: Timestamp, names: TagNameCount = TagNameCount(),
    tagLimit: Int = RegistrationLimits.tagsPerApp
  ) {
    self.app = app
    self.adoption = adoption
    self.now = now
    self.names = names
    self.tagLimit = tagLimit
  }

  /// Adds registrations, at least one, as long as `goesOn` says; the outcome of each that was looked at, in order. What is refused
  /// changes nothing.
  public func add(
    _ imported: [ImportedRegistration], in transaction: WriteTransaction, while goesOn: () -> Bool = { true }
  ) throws(StorageError) -> [ImportOutcome] {
    guard let first = try transaction.imports.firstNumber(app: app) else {
      return imported.map { _ in .numbersUsedUp }
    }
    var outcomes: [ImportOutcome] = []
    outcomes.reserveCapacity(imported.count)
    var next = first
    var known: [ExactName: UInt32] = [:]
    for one in imported {
      let outcome = try add(one, as: next, in: transaction, &known)
      if outcome == .added { next = RegistrationNumber(next.rawValue + 1) }
      outcomes.append(outcome)
      guard goesOn() else { break }
    }
    if next != first { try transaction.imports.noteTaken(app: app, from: first, to: next, step: Self.step) }
    return outcomes
  }

  private func add(
    _ one: ImportedRegistration, as number: RegistrationNumber, in transaction: WriteTransaction,
    _ known: inout [ExactName: UInt32]
  ) throws(StorageError) -> ImportOutcome {
    // One that is there already has its own token and alias, which are in nobody's way.
    if let owner = try transaction.imports.owner(of: one.registrationID) {
      return owner == app ? .known : .foreign
    }
    guard number.rawValue < .max else { return .numbersUsedUp }
    for token in one.tokens {
      if let holder = try transaction.imports.holder(of: token, app: app) { return .tokenTaken(by: holder) }
    }
    if let alias = one.alias,
      try transaction.registrations.count(app: app, alias: alias) >= RegistrationLimits.devicesPerAlias
    {
      return .aliasFull
    }
    guard Set(one.tags.map { ExactName($0) }).count <= RegistrationLimits.tags else { return .tooManyTags }
    guard let tags = try tagNumbers(one.tags, in: transaction, &known) else { return .appTagsFull }
    try transaction.imports.insert(one, tags: tags, app: app, number: number, adoption: adoption, at: now)
    return .added
  }

  /// The numbers of tags, made where there are none; nil, and none made, if the app has too many.
  /// `known` holds those that were asked for before in this transaction.
  private func tagNumbers(
    _ tags: [String], in transaction: WriteTransaction, _ known: inout [ExactName: UInt32]
  ) throws(StorageError) -> [UInt32]? {
    let tags = Set(tags.map { ExactName($0) })
    let asked = tags.filter { known[$0] == nil }.map(\.text)
    let found = try names.numbers(app: app, names: asked, limit: tagLimit, in: transaction)
    guard let found else { return nil }
    for (name, number) in zip(asked, found) { known[ExactName(name)] = number }
    return tags.compactMap { known[$0] }.sorted()
  }
}

/// How many tags an app has, for programs that do not have them in memory. Counted when it matters.
public final class TagNameCount: Sendable {
  private let known = Mutex((names: 0, next: 0))

  /// Names that come between two counts.
  private static let step = 1000

  /// None is counted.
  public init() {}

  /// The numbers of tags, made where there are none; nil, and none made, if the app has too many.
  fileprivate func numbers(
    app: AppID, names: [String], limit: Int, in transaction: WriteTransaction
  ) throws(StorageError) -> [UInt32]? {
    // Before the first count, as if the app had all names that it ever had.
    let before = known.withLock { $0 }
    let room = TagRoom(limit: limit, known: before)
    if case .success(let found) = try transaction.tags.numbers(app: app, names: names, making: room) {
      return found.numbers
    }
    let next = try transaction.tags.next(app: app)
    guard before.next == 0 || next >= before.next + Self.step else { return nil }
    let now = (names: try transaction.tags.count(app: app), next: next)
    known.withLock { $0 = now }
    let counted = TagRoom(limit: limit, known: now)
    guard case .success(let found) = try transaction.tags.numbers(app: app, names: names, making: counted)
    else { return nil }
    return found.numbers
  }
}
