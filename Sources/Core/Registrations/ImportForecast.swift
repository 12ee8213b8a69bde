import BorealisBase
import Model
import Storage

/// What an import that is only tried would have changed so far: later lines are judged as if it were stored.
package struct ImportForecast: Sendable {
  private struct Token: Hashable {
    let channel: ChannelID
    let bytes: [UInt8]
  }

  /// Registrations that would have been added.
  private(set) var added = 0
  /// Registrations that each alias would have gained.
  private var aliases: [ExactName: Int] = [:]
  private var holders: [Token: RegistrationID] = [:]
  /// Tags that exist or would have been made.
  private var tags: Set<ExactName> = []
  private var newTags = 0
  /// Tags that the app has.
  private var tagCount: Int?

  /// Values of facts that exist or would have been made, and how many of each fact the app would have.
  private var values: [DeviceFact: Set<String>] = [:]
  private var valueCounts: [DeviceFact: Int]?

  /// Nothing so far.
  package init() {}

  /// Registrations that an alias would have gained.
  func added(to alias: String) -> Int { aliases[ExactName(alias)] ?? 0 }

  /// The registration that would have got a token.
  func holder(of token: PushToken) -> RegistrationID? {
    holders[Token(channel: token.slot.channel, bytes: token.bytes)]
  }

  mutating func apply(
    _ step: RegistrationImport.Step, _ work: RegistrationImport, in transaction: ReadTransaction
  ) throws(StorageError) -> ImportResult {
    switch step {
    case .nothing(let result): return result
    case .insert(let new):
      added += 1
      var result = ImportResult(.added, new.registrationID)
      move(nil, to: new.alias)
      assign(new.tokens, to: new.registrationID)
      result.losses += try losses(of: new.facts, work, in: transaction)
      if try !makes(new.tags, work, in: transaction) { result.losses.append(.appTagsFull) }
      return result
    case .change(let known, let change):
      var result = ImportResult(change.isOfFields ? .updated : .known, known.registrationID)
      if let alias = change.alias { move(known.alias, to: alias) }
      assign(change.tokens, to: known.registrationID)
      result.losses += try losses(of: change.facts, work, in: transaction)
      guard let names = change.tags else { return result }
      guard try makes(names, work, in: transaction) else {
        result.losses.append(.appTagsFull)
        return result
      }
      let before = try transaction.tags.names(app: work.app, numbers: known.tags)
      if Set(before.map { ExactName($0) }) != Set(names.map { ExactName($0) }) { result.outcome = .updated }
      return result
    case .give(let gift):
      var result = ImportResult(gift.isEmpty ? .known : .updated, gift.device.registrationID)
      move(gift.leaving?.alias, to: gift.alias)
      if try !makes(gift.tags, work, in: transaction) { result.losses.append(.appTagsFull) }
      return result
    }
  }

  private mutating func move(_ before: String?, to after: String?) {
    if let before { aliases[ExactName(before), default: 0] -= 1 }
    if let after { aliases[ExactName(after), default: 0] += 1 }
  }

  private mutating func assign(_ tokens: [PushToken], to id: RegistrationID) {
    for token in tokens { holders[Token(channel: token.slot.channel, bytes: token.bytes)] = id }
  }

  /// The facts for whose values the app has no room.
  private mutating func losses(
    of facts: [DeviceFact: String], _ work: RegistrationImport, in transaction: ReadTransaction
  ) throws(StorageError) -> [ImportResult.Loss] {
    var losses: [ImportResult.Loss] = []
    for (fact, text) in facts.sorted(by: { $0.key.rawValue < $1.key.rawValue })
    where values[fact]?.contains(text) != true {
      if try transaction.facts.number(of: text, fact, app: work.app) == nil {
        var counts = if let valueCounts { valueCounts } else { try transaction.facts.counts(app: work.app) }
        let isFull = counts[fact, default: 0] >= FactTable.mostValues
        if !isFull { counts[fact, default: 0] += 1 }
        valueCounts = counts
        guard !isFull else {
          losses.append(.factFull(fact))
          continue
        }
      }
      values[fact, default: []].insert(text)
    }
    return losses
  }

  /// Whether the app has room for tags.
  private mutating func makes(
    _ names: [String], _ work: RegistrationImport, in transaction: ReadTransaction
  ) throws(StorageError) -> Bool {
    let unknown = Set(names.map { ExactName($0) }).subtracting(tags)
    guard !unknown.isEmpty else { return true }
    let texts = unknown.map(\.text)
    let found = try transaction.tags.numbers(app: work.app, names: texts)
    let new = found.count { $0 == nil }
    if tagCount == nil { tagCount = try transaction.tags.count(app: work.app) }
    guard let tagCount, tagCount + newTags + new <= work.tagLimit else { return false }
    newTags += new
    tags.formUnion(unknown)
    return true
  }
}
