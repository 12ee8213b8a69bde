import BorealisBase
import Model
import Storage

/// A change of one registration's tags, by name.
package enum TagEdit: Sendable {
  /// Exactly these.
  case set([String])
  /// More, and fewer.
  case edit(add: [String], remove: [String])
  /// None.
  case clean
}

/// A change of a text.
package enum TextEdit: Sendable {
  /// The text goes.
  case clear
  /// The text is replaced.
  case set(String)

  /// The new text, nil for none.
  var text: String? { if case .set(let text) = self { text } else { nil } }
}

/// A change of a registration's alias.
package enum AliasEdit: Sendable {
  /// It goes, whatever it is.
  case clear
  /// It goes if it is this one when the change is made: another one, set in the meantime, stays.
  case remove(String)
  /// It is replaced.
  case set(String)

  /// The new alias, nil for none.
  var text: String? { if case .set(let text) = self { text } else { nil } }

  /// Whether it leaves an alias, or none, as it is.
  fileprivate func keeps(_ present: String?) -> Bool {
    if case .remove(let alias) = self { present?.hasSameBytes(as: alias) != true } else { false }
  }
}

/// What changes about one registration; nil leaves a thing as it is.
package struct DeviceChange: Sendable {
  /// The change of its tags.
  package var tags: TagEdit?
  /// The change of its alias.
  package var alias: AliasEdit?
  /// The change of its mobile number.
  package var mobile: TextEdit?
  /// How many tags it may have afterwards.
  package var tagLimit: Int
  /// Whether the device asks for it, which may make fewer names of tags than its app's server.
  package var isByDevice = false

  /// How many tags it names.
  var names: Int {
    switch tags {
    case .set(let names): names.count
    case .edit(let add, let remove): add.count + remove.count
    case .clean, nil: 0
    }
  }

  /// Makes a change.
  package init(
    tags: TagEdit? = nil, alias: AliasEdit? = nil, mobile: TextEdit? = nil,
    tagLimit: Int = RegistrationLimits.tags
  ) {
    self.tagLimit = tagLimit
    self.tags = tags
    self.alias = alias
    self.mobile = mobile
  }

  /// What memory must learn of a change that was stored.
  struct Applied: Sendable {
    var names: [(String, UInt32)] = []
    /// How many of the names are new.
    var made = 0
    var added: [UInt32] = []
    var removed: [UInt32] = []
    /// The change of the alias that was made.
    var alias: AliasEdit?
  }

  /// Whether there was nothing to do: all it was for was to remove an alias that is another one by now.
  func wasIdle(_ applied: Applied?) -> Bool {
    guard case .remove = alias, tags == nil, mobile == nil else { return false }
    return applied?.alias == nil
  }

  /// Stores the change, on the writer's thread: whatever may be refused comes before the first change.
  func apply(
    to number: RegistrationNumber, app: AppID, making room: TagRoom, at now: Timestamp,
    in transaction: WriteTransaction
  ) throws(StorageError) -> Result<Applied, DeviceFailure> {
    let places = RegistrationLimits.devicesPerAlias
    var applied = Applied()
    let outcome = try transaction.registrations.checkAlias(
      app: app, number: number, alias: alias?.text, limit: places)
    switch outcome {
    case .unknownRegistration: return .failure(.unknownRegistration)
    case .full: return .failure(.aliasFull)
    case .ok(let previous): applied.alias = alias.flatMap { $0.keeps(previous) ? nil : $0 }
    }
    if let tags {
      let change: TagChange
      switch try numbers(of: tags, app: app, making: room, in: transaction, &applied) {
      case .success(let found): change = found
      case .failure(.app): return .failure(.appTagsFull)
      case .failure(.maker): return .failure(.newTagsUsedUp)
      }
      switch try transaction.tags.change(
        app: app, number: number, change, limit: tagLimit, at: now)
      {
      case .unknownRegistration: return .failure(.unknownRegistration)
      case .tooMany: return .failure(.tooManyTags)
      case .ok(let added, let removed): (applied.added, applied.removed) = (added, removed)
      }
    }
    if let alias = applied.alias {
      _ = try transaction.registrations.setAlias(
        app: app, number: number, alias: alias.text, limit: places, at: now)
    }
    if let mobile { _ = try transaction.registrations.setMobile(app: app, number: number, mobile.text) }
    return .success(applied)
  }

  /// The change in tag numbers; names that it adds and that are unknown are made.
  private func numbers(
    of edit: TagEdit, app: AppID, making room: TagRoom, in transaction: WriteTransaction,
    _ applied: inout Applied
  ) throws(StorageError) -> Result<TagChange, TagRefusal> {
    let (wanted, unwanted): ([String], [String]) =
      switch edit {
      case .clean: ([], [])
      case .set(let tags): (tags, [])
      case .edit(let add, let remove): (add, remove)
      }
    let adding: TagNumbers
    switch try transaction.tags.numbers(app: app, names: wanted, making: room) {
    case .success(let found): adding = found
    case .failure(let refusal): return .failure(refusal)
    }
    let removing = try transaction.tags.numbers(app: app, names: unwanted)
    applied.made = adding.made
    applied.names += zip(wanted, adding.numbers)
    for case (let name, let number?) in zip(unwanted, removing) { applied.names.append((name, number)) }
    let change: TagChange =
      switch edit {
      case .clean: .clean
      case .set: .set(adding.numbers)
      case .edit: .edit(add: adding.numbers, remove: removing.compactMap { $0 })
      }
    return .success(change)
  }
}
