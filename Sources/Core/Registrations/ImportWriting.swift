import BorealisBase
import Model
import Storage
import Synchronization

/// Carries out what an import decides, in one transaction.
struct ImportWriting {
  /// Registrations of which a server learns in one step.
  private static let step = 1000

  private let work: RegistrationImport
  private let first: RegistrationNumber
  /// The number of the next new registration.
  private(set) var next: RegistrationNumber
  /// The numbers of names of tags that were looked up before.
  private var known: [ExactName: UInt32] = [:]
  /// How many values of each fact the app has; nil before it matters.
  private var factRoom: FactRoom?
  /// Registrations that were changed, but lost no tags.
  private var changed: [RegistrationNumber] = []

  init(_ work: RegistrationImport, from first: RegistrationNumber) {
    self.work = work
    self.first = first
    next = first
  }

  mutating func apply(
    _ step: RegistrationImport.Step, in transaction: WriteTransaction
  ) throws(StorageError) -> ImportResult {
    switch step {
    case .nothing(let result): return result
    case .insert(let new): return try insert(new, in: transaction)
    case .change(let known, let change): return try self.change(known, change, in: transaction)
    case .give(let gift): return try give(gift, in: transaction)
    }
  }

  /// Has servers learn of all.
  func finish(in transaction: WriteTransaction) throws(StorageError) {
    if next != first {
      try transaction.imports.noteImported(app: work.app, from: first, to: next, step: Self.step)
    }
    try transaction.imports.noteChanged(changed, in: work.app, step: Self.step)
  }

  private mutating func insert(
    _ new: ImportedRegistration, in transaction: WriteTransaction
  ) throws(StorageError) -> ImportResult {
    var result = ImportResult(.added, new.registrationID)
    let tags = try tagNumbers(new.tags, in: transaction)
    if tags == nil { result.losses.append(.appTagsFull) }
    try transaction.imports.insert(
      new, tags: tags ?? [], app: work.app, number: next, adoption: work.adoption, at: work.now)
    result.losses += try setFacts(new.facts, of: next, in: transaction)
    next = RegistrationNumber(next.rawValue + 1)
    return result
  }

  private mutating func change(
    _ known: ImportedBefore, _ change: ImportChange, in transaction: WriteTransaction
  ) throws(StorageError) -> ImportResult {
    let (app, number) = (work.app, known.number)
    var result = ImportResult(change.isOfFields ? .updated : .known, known.registrationID)
    if let adoption = change.adoption {
      try transaction.imports.setAdoption(adoption, of: number, app: app)
    }
    if let alias = change.alias { try setAlias(alias, of: number, in: transaction) }
    if let mobile = change.mobile {
      _ = try transaction.registrations.setMobile(app: app, number: number, mobile)
    }
    for token in change.tokens {
      _ = try transaction.tokens.set(app: app, number: number, token, at: work.now)
    }
    result.losses += try setFacts(change.facts, of: number, in: transaction)
    if let names = change.tags {
      if let tags = try tagNumbers(names, in: transaction) {
        let removed = try setTags(tags, of: number, in: transaction)
        if tags != known.tags { result.outcome = .updated }
        if !removed.isEmpty {
          try transaction.imports.noteChanged(number, removed: removed, in: app)
          return result
        }
      } else {
        result.losses.append(.appTagsFull)
      }
    }
    if result.outcome == .updated { changed.append(number) }
    return result
  }

  private mutating func give(
    _ gift: ImportGift, in transaction: WriteTransaction
  ) throws(StorageError) -> ImportResult {
    let (app, device) = (work.app, gift.device)
    var result = ImportResult(gift.isEmpty ? .known : .updated, device.registrationID)
    if let leaving = gift.leaving {
      try transaction.imports.remove(leaving, app: app, replacedBy: device.registrationID, at: work.now)
    }
    if let alias = gift.alias { try setAlias(alias, of: device.number, in: transaction) }
    if let mobile = gift.mobile {
      _ = try transaction.registrations.setMobile(app: app, number: device.number, mobile)
    }
    if !gift.tags.isEmpty {
      if let tags = try tagNumbers(gift.tags, in: transaction) {
        _ = try setTags(tags, of: device.number, in: transaction)
      } else {
        result.losses.append(.appTagsFull)
      }
    }
    if !gift.isEmpty { changed.append(device.number) }
    return result
  }

  private func setAlias(
    _ alias: String?, of number: RegistrationNumber, in transaction: WriteTransaction
  ) throws(StorageError) {
    _ = try transaction.registrations.setAlias(
      app: work.app, number: number, alias: alias, limit: RegistrationLimits.devicesPerAlias, at: work.now)
  }

  /// Sets facts; returns those for whose values there is no room.
  private mutating func setFacts(
    _ facts: [DeviceFact: String], of number: RegistrationNumber, in transaction: WriteTransaction
  ) throws(StorageError) -> [ImportResult.Loss] {
    guard !facts.isEmpty else { return [] }
    var room = if let factRoom { factRoom } else { try FactTable.room(of: work.app, in: transaction.reading) }
    let change = try transaction.facts.set(app: work.app, number: number, facts, making: room)
    for value in change?.made ?? [] { room.known[value.fact, default: 0] += 1 }
    factRoom = room
    return (change?.cleared ?? []).map { .factFull($0) }
  }

  /// Sets tags; returns those that the registration has no more.
  private func setTags(
    _ tags: [UInt32], of number: RegistrationNumber, in transaction: WriteTransaction
  ) throws(StorageError) -> [UInt32] {
    let outcome = try transaction.tags.change(
      app: work.app, number: number, .set(tags), limit: RegistrationLimits.tags, at: work.now)
    guard case .ok(_, let removed) = outcome else { return [] }
    return removed
  }

  /// The numbers of tags, made where there are none; nil, and none made, if the app has too many.
  private mutating func tagNumbers(
    _ tags: [String], in transaction: WriteTransaction
  ) throws(StorageError) -> [UInt32]? {
    let tags = Set(tags.map { ExactName($0) })
    let asked = tags.filter { known[$0] == nil }.map(\.text)
    let found = try work.names.numbers(app: work.app, names: asked, limit: work.tagLimit, in: transaction)
    guard let found else { return nil }
    for (name, number) in zip(asked, found) { known[ExactName(name)] = number }
    return tags.compactMap { known[$0] }.sorted()
  }
}

/// How many tags an app has, for programs that do not have them in memory. Counted when it matters.
package final class TagNameCount: Sendable {
  private let known = Mutex((names: 0, next: 0))

  /// Names that come between two counts.
  private static let step = 1000

  /// None is counted.
  package init() {}

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
