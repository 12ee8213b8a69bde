import BorealisBase
import Model
import Storage

/// The result of importing a registration.
package struct ImportResult: Sendable, Equatable {
  /// The outcome for the registration.
  package enum Outcome: Sendable, Equatable {
    /// It was added.
    case added
    /// The app has it already, and something of it was changed.
    case updated
    /// The app has it already; nothing was changed.
    case known
    /// Another imported registration of the app has one of its tokens.
    case tokenTaken(by: RegistrationID)
    /// The app has used up its numbers.
    case numbersUsedUp
  }

  /// Something that was not imported of a registration.
  package enum Loss: Sendable, Equatable {
    /// As many registrations as allowed have its alias.
    case aliasFull
    /// The app would have too many tags.
    case appTagsFull
    /// The app has as many values of a fact as it may have.
    case factFull(DeviceFact)
    /// Another registration of the app has its token of a channel.
    case tokenTaken(ChannelID, by: RegistrationID)
  }

  /// The outcome for the registration.
  package var outcome: Outcome
  /// What was not imported of it.
  package var losses: [Loss] = []
  /// The ID that the device has from now on.
  package var registrationID: RegistrationID

  /// A result without losses.
  package init(_ outcome: Outcome, _ registrationID: RegistrationID) {
    self.outcome = outcome
    self.registrationID = registrationID
  }
}

/// Takes registrations of other platforms over into an app, by the rules that hold for its own. Needs no
/// router: a program of its own may do it beside a running server, which learns of them (`Imports`).
package struct RegistrationImport: Sendable {
  let app: AppID
  let adoption: Adoption
  let updated: ImportFields
  let now: Timestamp
  let names: TagNameCount
  let tagLimit: Int

  /// An import into an app, at a moment. Imports that follow one another share `names`. Of registrations that
  /// the app has already the fields in `updating` are changed, unless their devices have come.
  package init(
    into app: AppID, adoption: Adoption, updating updated: ImportFields = [], at now: Timestamp,
    names: TagNameCount = TagNameCount(), tagLimit: Int = RegistrationLimits.tagsPerApp
  ) {
    self.app = app
    self.adoption = adoption
    self.updated = updated
    self.now = now
    self.names = names
    self.tagLimit = tagLimit
  }

  /// Imports registrations, at least one, as long as `goesOn` says; the result of each that was looked at, in
  /// order. What is refused changes nothing.
  package func add(
    _ imported: [ImportedRegistration], in transaction: WriteTransaction, while goesOn: () -> Bool = { true }
  ) throws(StorageError) -> [ImportResult] {
    guard let first = try transaction.imports.firstNumber(app: app) else {
      return imported.map { ImportResult(.numbersUsedUp, $0.registrationID) }
    }
    var results: [ImportResult] = []
    results.reserveCapacity(imported.count)
    var writing = ImportWriting(self, from: first)
    for one in imported {
      let (step, losses) = try decide(one, next: writing.next, in: transaction.reading)
      var result = try writing.apply(step, in: transaction)
      result.losses = losses + result.losses
      // The device may have come before, or the registration was imported before former IDs were stored.
      if let former = one.formerID, result.outcome != .added {
        try transaction.imports.noteFormerID(former, of: result.registrationID, app: app)
      }
      results.append(result)
      guard goesOn() else { break }
    }
    try writing.finish(in: transaction)
    return results
  }

  /// The results that imports would have one after the other, in order; `forecast` knows those before.
  package func foretell(
    _ imported: [ImportedRegistration], after forecast: inout ImportForecast, in transaction: ReadTransaction
  ) throws(StorageError) -> [ImportResult] {
    guard let first = try transaction.imports.firstNumber(app: app) else {
      return imported.map { ImportResult(.numbersUsedUp, $0.registrationID) }
    }
    var results: [ImportResult] = []
    results.reserveCapacity(imported.count)
    for one in imported {
      let next = RegistrationNumber(UInt32(clamping: Int(first.rawValue) + forecast.added))
      let (step, losses) = try decide(one, next: next, after: forecast, in: transaction)
      var result = try forecast.apply(step, self, in: transaction)
      result.losses = losses + result.losses
      results.append(result)
    }
    return results
  }

  // MARK: Decisions

  /// What is to be done for a registration.
  enum Step {
    /// It is new.
    case insert(ImportedRegistration)
    /// It is there, and its device has not come.
    case change(ImportedBefore, ImportChange)
    /// Its device has come before, as another registration.
    case give(ImportGift)
    /// Nothing is to be done.
    case nothing(ImportResult)
  }

  private func decide(
    _ one: ImportedRegistration, next: RegistrationNumber, after forecast: ImportForecast? = nil,
    in transaction: ReadTransaction
  ) throws(StorageError) -> (Step, [ImportResult.Loss]) {
    var known: ImportedBefore?
    for id in [one.registrationID] + one.olderIDs where known == nil {
      known = try transaction.imports.find(id, app: app)
    }
    if let known, known.adoption == nil {
      return (.nothing(ImportResult(.known, known.registrationID)), [])
    }
    if let device = try device(of: one, in: transaction) {
      return try give(one, to: device, insteadOf: known, after: forecast, in: transaction)
    }
    if let known { return try change(known, as: one, after: forecast, in: transaction) }
    func refused(_ outcome: ImportResult.Outcome) -> (Step, [ImportResult.Loss]) {
      (.nothing(ImportResult(outcome, one.registrationID)), [])
    }
    guard next.rawValue < .max else { return refused(.numbersUsedUp) }
    for token in one.tokens {
      if let holder = try holder(of: token, after: forecast, in: transaction) {
        return refused(.tokenTaken(by: holder))
      }
    }
    var new = one
    guard let alias = one.alias, try isFull(alias, after: forecast, in: transaction) else {
      return (.insert(new), [])
    }
    new.alias = nil
    return (.insert(new), [.aliasFull])
  }

  /// The registration of a device that came before: it named the ID, or has a token. Where several devices
  /// name the ID, none is believed.
  private func device(
    of one: ImportedRegistration, in transaction: ReadTransaction
  ) throws(StorageError) -> ImportedBefore? {
    if adoption == .registrationID {
      for fingerprint in one.fingerprints {
        let found = try transaction.imports.device(naming: fingerprint, on: one.platform, app: app)
        if let found { return found }
      }
    }
    for token in one.tokens {
      guard let number = try transaction.imports.holder(of: token, app: app),
        let holder = try transaction.imports.find(number, app: app)
      else { continue }
      if holder.adoption == nil, holder.platform == one.platform { return holder }
    }
    return nil
  }

  private func holder(
    of token: PushToken, but number: RegistrationNumber? = nil, after forecast: ImportForecast?,
    in transaction: ReadTransaction
  ) throws(StorageError) -> RegistrationID? {
    if let known = forecast?.holder(of: token) { return known }
    guard let holder = try transaction.imports.holder(of: token, app: app), holder != number else {
      return nil
    }
    return try transaction.imports.find(holder, app: app)?.registrationID
  }

  /// Whether an alias has as many registrations as it may have, besides one that is about to lose it.
  private func isFull(
    _ alias: String, after forecast: ImportForecast?, but leaving: ImportedBefore? = nil,
    in transaction: ReadTransaction
  ) throws(StorageError) -> Bool {
    var count = try transaction.registrations.count(app: app, alias: alias)
    count += forecast?.added(to: alias) ?? 0
    if leaving?.alias?.hasSameBytes(as: alias) == true { count -= 1 }
    return count >= RegistrationLimits.devicesPerAlias
  }

  private func change(
    _ known: ImportedBefore, as one: ImportedRegistration, after forecast: ImportForecast?,
    in transaction: ReadTransaction
  ) throws(StorageError) -> (Step, [ImportResult.Loss]) {
    var change = ImportChange()
    var losses: [ImportResult.Loss] = []
    if known.adoption != adoption { change.adoption = adoption }
    if updated.contains(.alias), known.alias.map({ ExactName($0) }) != one.alias.map({ ExactName($0) }) {
      // The alias before may be another user's by now.
      change.alias = .some(nil)
      if let alias = one.alias {
        if try isFull(alias, after: forecast, in: transaction) {
          losses.append(.aliasFull)
        } else {
          change.alias = alias
        }
      }
    }
    if updated.contains(.tags) { change.tags = one.tags }
    if updated.contains(.mobile), known.mobile != one.mobile { change.mobile = .some(one.mobile) }
    if updated.contains(.facts), !one.facts.isEmpty {
      let before = try transaction.facts.values(app: app, of: known.number) ?? []
      let texts = Dictionary(before.map { ($0.fact, $0.text) }) { first, _ in first }
      change.facts = one.facts.filter { texts[$0.key] != $0.value }
    }
    if updated.contains(.tokens) {
      for token in one.tokens where try transaction.imports.holder(of: token, app: app) != known.number {
        if let holder = try holder(of: token, but: known.number, after: forecast, in: transaction) {
          losses.append(.tokenTaken(token.slot.channel, by: holder))
        } else {
          change.tokens.append(token)
        }
      }
    }
    return (.change(known, change), losses)
  }

  private func give(
    _ one: ImportedRegistration, to device: ImportedBefore, insteadOf known: ImportedBefore?,
    after forecast: ImportForecast?, in transaction: ReadTransaction
  ) throws(StorageError) -> (Step, [ImportResult.Loss]) {
    var gift = ImportGift(device: device, leaving: known)
    var losses: [ImportResult.Loss] = []
    if device.alias == nil, let alias = known?.alias ?? one.alias {
      if try isFull(alias, after: forecast, but: known, in: transaction) {
        losses.append(.aliasFull)
      } else {
        gift.alias = alias
      }
    }
    if device.tags.isEmpty {
      gift.tags =
        if let known { try transaction.tags.names(app: app, numbers: known.tags) } else { one.tags }
    }
    if device.mobile == nil { gift.mobile = known?.mobile ?? one.mobile }
    return (.give(gift), losses)
  }
}

/// What an import changes of an imported registration whose device has not come.
struct ImportChange {
  var adoption: Adoption?
  /// Nil for no change.
  var alias: String??
  var mobile: String??
  /// All that it has from then on; nil for no change.
  var tags: [String]?
  var tokens: [PushToken] = []
  /// Those that are others than before.
  var facts: [DeviceFact: String] = [:]

  /// Whether something besides the tags is changed.
  var isOfFields: Bool {
    adoption != nil || alias != nil || mobile != nil || !tokens.isEmpty || !facts.isEmpty
  }
}

/// What an import gives the registration of a device that came before.
struct ImportGift {
  let device: ImportedBefore
  /// What was imported for it earlier, which ends.
  let leaving: ImportedBefore?
  var alias: String?
  var tags: [String] = []
  var mobile: String?

  var isEmpty: Bool { leaving == nil && alias == nil && tags.isEmpty && mobile == nil }
}
