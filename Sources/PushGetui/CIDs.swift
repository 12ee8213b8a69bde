import PushBase
import PushDomain
import PushHTTP
import PushRouter
import PushStorage

/// Looks up CIDs: registration IDs, and CIDs that were imported from Getui.
extension App {
  /// Returns the registration of a CID. Throws 20001 if the app has none.
  func device(_ cid: String) throws(GetuiError) -> RegistrationNumber {
    guard let number = registration(cid) else { throw .unknownTarget }
    return number
  }

  /// Returns the registrations of CIDs, in their order. Throws 20001 if one is unknown.
  func devices(_ cids: [String]) throws(GetuiError) -> [RegistrationNumber] {
    var numbers: [RegistrationNumber] = []
    numbers.reserveCapacity(cids.count)
    for cid in cids { numbers.append(try device(cid)) }
    return numbers
  }

  /// Whether a CID is online in Getui's sense: connected, and on iOS with its app in the foreground.
  func isReachable(_ number: RegistrationNumber) -> Bool { directory.isReachable(number) }
}

/// The names of devices in answers: the CID that a device had at Getui, if it was imported from there, else its registration ID.
struct CIDs: Sendable {
  private let app: App
  private let former: [RegistrationNumber: String]

  fileprivate init(_ app: App, former: [RegistrationNumber: String]) {
    (self.app, self.former) = (app, former)
  }

  /// The CID of a device; nil for one that is no longer registered.
  subscript(number: RegistrationNumber) -> String? {
    app.directory.identity(number).map { former[number] ?? $0.id.text }
  }
}

extension GetuiAPI {
  /// Reads the CIDs of devices for an answer. Devices have their registration IDs if they cannot be read.
  func readCIDs(
    of numbers: [RegistrationNumber], in app: App, then goOn: @escaping @Sendable (CIDs) -> Void
  ) {
    guard !numbers.isEmpty else { return goOn(CIDs(app, former: [:])) }
    store.read { transaction throws(StorageError) in
      try transaction.registrations.formerIDs(app: app.id, of: numbers)
    } completion: {
      goOn(CIDs(app, former: (try? $0.get()) ?? [:]))
    }
  }
}

extension GetuiCall {
  /// Returns the values of a path parameter, which commas separate.
  func list(_ capture: String, most: Int) throws(GetuiError) -> [String] {
    let values = (captures[capture] ?? "").split(separator: ",").map(String.init)
    guard !values.isEmpty else { throw .missing(capture) }
    guard values.count <= most else { throw .overLimit(capture) }
    guard Set(values).count == values.count else { throw .parameter("contains duplicate \(capture)") }
    return values
  }

  /// Answers a change whose answer has no `data`.
  func answer(_ result: Result<Void, DeviceFailure>) {
    switch result {
    case .success: answer()
    case .failure(let failure): fail(GetuiError(failure))
    }
  }
}

extension GetuiError {
  /// Translates the failure of a change of devices.
  init(_ failure: DeviceFailure) {
    switch failure {
    case .aliasFull: self = .parameter("alias has \(RegistrationLimits.devicesPerAlias) cids already")
    case .tooManyTags: self = .overLimit("custom_tag")
    case .appTagsFull, .newTagsUsedUp:
      self = .parameter("the app has \(RegistrationLimits.tagsPerApp) tags already")
    case .unknownRegistration, .unknownKey, .invalidToken: self = .unknownTarget
    case .unavailable: self = .busy
    }
  }

  /// Returns the error for an alias; nil if it is valid.
  init?(alias: String) {
    switch NameRules.checkGetuiAlias(alias) {
    case .ok: return nil
    case .empty: self = .missing("alias")
    case .tooLong: self = .overLimit("alias")
    case .illegalCharacter: self = .invalid("alias")
    }
  }

  /// Returns the error for a tag; nil if it is valid.
  init?(tag: String) {
    switch NameRules.checkGetuiTag(tag) {
    case .ok: return nil
    case .empty: self = .missing("custom_tag")
    case .tooLong: self = .tagTooLong
    case .illegalCharacter: self = .invalid("custom_tag")
    }
  }
}
