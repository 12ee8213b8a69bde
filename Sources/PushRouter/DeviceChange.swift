import PushBase
import PushDomain
import PushStorage

/// A change of one registration's tags, by name.
public enum TagEdit: Sendable {
  /// Exactly these.
  case set([String])
  /// More, and fewer.
  case edit(add: [String], remove: [String])
  /// None.
  case clean
}

/// A change of a text.
public enum TextEdit: Sendable {
  /// The text goes.
  case clear
  /// The text is replaced.
  case set(String)

  /// The new text, nil for none.
  var text: String? { if case .set(let text) = self { text } else { nil } }
}

/// What changes about one registration; nil leaves a thing as it is.
public struct DeviceChange: Sendable {
  /// The change of its tags.
  public var tags: TagEdit?
  /// The change of its alias.
  public var alias: TextEdit?
  /// The change of its mobile number.
  public var mobile: TextEdit?
  /// How many tags it may have afterwards.
  public var tagLimit: Int

  /// How many tags it names.
  var names: Int {
    switch tags {
    case .set(let names): names.count
    case .edit(let add, let remove): add.count + remove.count
    case .clean, nil: 0
    }
  }

  /// Makes a change.
  public init(
    tags: TagEdit? = nil, alias: TextEdit? = nil, mobile: TextEdit? = nil,
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
    var added: [UInt32] = []
    var removed: [UInt32] = []
  }

  /// Stores the change, on the writer's thread: whatever may be refused comes before the first change.
  func apply(
    to number: RegistrationNumber, app: AppID, at now: Timestamp, in transaction: WriteTransaction
  ) throws(StorageError) -> Result<Applied, DeviceFailure> {
    let places = RegistrationLimits.devicesPerAlias
    let outcome = try transaction.registrations.checkAlias(
      app: app, number: number, alias: alias?.text, limit: places)
    switch outcome {
    case .unknownRegistration: return .failure(.unknownRegistration)
    case .full: return .failure(.aliasFull)
    case .ok: break
    }
    var applied = Applied()
    if let tags {
      guard let change = try numbers(of: tags, app: app, in: transaction, names: &applied.names) else {
        return .failure(.tooManyTags)
      }
      switch try transaction.tags.change(
        app: app, number: number, change, limit: tagLimit, at: now)
      {
      case .unknownRegistration: return .failure(.unknownRegistration)
      case .tooMany: return .failure(.tooManyTags)
      case .ok(let added, let removed): (applied.added, applied.removed) = (added, removed)
      }
    }
    if let alias {
      _ = try transaction.registrations.setAlias(
        app: app, number: number, alias: alias.text, limit: places, at: now)
    }
    if let mobile { _ = try transaction.registrations.setMobile(app: app, number: number, mobile.text) }
    return .success(applied)
  }

  /// The change in tag numbers; nil when the app has as many tags as it may have.
  private func numbers(
    of edit: TagEdit, app: AppID, in transaction: WriteTransaction, names: inout [(String, UInt32)]
  ) throws(StorageError) -> TagChange? {
    func known(_ wanted: [String], create: Bool) throws(StorageError) -> [UInt32?] {
      let numbers = try transaction.tags.numbers(
        app: app, names: wanted, creatingUpTo: create ? RegistrationLimits.tagsPerApp : nil)
      for case (let name, let number?) in zip(wanted, numbers) { names.append((name, number)) }
      return numbers
    }
    switch edit {
    case .clean: return .clean
    case .set(let wanted):
      let numbers = try known(wanted, create: true)
      return numbers.contains(nil) ? nil : .set(numbers.compactMap { $0 })
    case .edit(let add, let remove):
      let adding = try known(add, create: true)
      let removing = try known(remove, create: false).compactMap { $0 }
      return adding.contains(nil) ? nil : .edit(add: adding.compactMap { $0 }, remove: removing)
    }
  }
}
