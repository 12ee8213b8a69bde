import PushBase
import PushDomain
import PushStorage

/// What became of an imported registration.
public enum ImportOutcome: Sendable, Equatable {
  /// It was added.
  case added
  /// The app has it already; nothing was changed.
  case known
  /// As many registrations as allowed have its alias.
  case aliasFull
  /// It has, or the app has, too many tags.
  case tooManyTags
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

  /// An import into an app, at a moment.
  public init(into app: AppID, adoption: Adoption, at now: Timestamp) {
    self.app = app
    self.adoption = adoption
    self.now = now
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
    guard let tags = try tagNumbers(one.tags, in: transaction, &known) else { return .tooManyTags }
    try transaction.imports.insert(one, tags: tags, app: app, number: number, adoption: adoption, at: now)
    return .added
  }

  /// The numbers of tags, made where there are none; nil, and none made, if the registration or the app has too many.
  /// `known` holds those that were asked for before in this transaction.
  private func tagNumbers(
    _ names: [String], in transaction: WriteTransaction, _ known: inout [ExactName: UInt32]
  ) throws(StorageError) -> [UInt32]? {
    let names = Set(names.map { ExactName($0) })
    guard names.count <= RegistrationLimits.tags else { return nil }
    let asked = names.filter { known[$0] == nil }.map(\.text)
    let found = try transaction.tags.numbers(app: app, names: asked)
    let new = found.count { $0 == nil }
    let limit = RegistrationLimits.tagsPerApp
    if new > 0, try transaction.tags.made(app: app) + new > limit { return nil }
    let made = try transaction.tags.numbers(app: app, names: asked, creatingUpTo: limit)
    for (name, number) in zip(asked, made) { known[ExactName(name)] = number }
    return names.compactMap { known[$0] }.sorted()
  }
}
