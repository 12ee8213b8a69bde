import BorealisBase
import Core
import HTTP
import Model
import Storage

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
    for cid in cids {
      guard let number = registration(cid) else { throw .unknownTarget(cid) }
      numbers.append(number)
    }
    return numbers
  }

  /// Whether a CID is online in Getui's sense: connected, and on iOS with its app in the foreground.
  func isReachable(_ number: RegistrationNumber) -> Bool { directory.isReachable(number) }
}

/// The names of devices in answers: the CID that a device had at Getui, if it was imported from there, else
/// its registration ID.
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
    guard values.count <= most else {
      throw .overLimit(capture, "it has \(values.count) values, at most \(most) are allowed")
    }
    try GetuiError.refuseDuplicates(values, of: capture)
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
    case .tooManyTags:
      self = .overLimit("custom_tag", "a cid has at most \(RegistrationLimits.getuiTags) tags")
    case .appTagsFull, .newTagsUsedUp:
      self = .parameter("the app has \(RegistrationLimits.tagsPerApp) tags already")
    case .unknownRegistration, .unknownKey, .invalidToken: self = .unknownTarget
    case .unavailable: self = .busy
    }
  }

  /// Refuses an alias that breaks the rules.
  static func check(alias: String, at name: String = "alias") throws(GetuiError) {
    try check(NameRules.checkGetuiAlias(alias), alias, at: name, NameRules.maximumGetuiAlias)
  }

  /// Refuses a tag that breaks the rules.
  static func check(tag: String, at name: String = "custom_tag") throws(GetuiError) {
    try check(NameRules.checkGetuiTag(tag), tag, at: name, NameRules.maximumGetuiTag)
  }

  private static func check(
    _ check: NameCheck, _ text: String, at name: String, _ most: Int
  ) throws(GetuiError) {
    switch check {
    case .ok: return
    case .empty: throw .missing(name)
    case .tooLong:
      throw .overLimit(name, "it has \(text.unicodeScalars.count) characters, at most \(most) are allowed")
    case .illegalCharacter: throw .invalid(name, check.complaint(ofGetui: text) ?? "")
    }
  }

  /// Refuses a list that has a value twice.
  static func refuseDuplicates(_ values: [String], of key: String) throws(GetuiError) {
    var seen: Set<String> = []
    guard let twice = values.first(where: { !seen.insert($0).inserted }) else { return }
    throw .parameter("contains duplicate \(key): '\(twice.prefix(64))' is given twice")
  }

  /// Reads the name of a task of some kinds.
  static func task(
    _ text: String, _ kinds: [GetuiTaskID.Kind] = GetuiTaskID.Kind.allCases, at name: String = "taskid"
  ) throws(GetuiError) -> GetuiTaskID {
    guard let task = GetuiTaskID(text), kinds.contains(task.kind) else {
      let forms = kinds.map { $0.rawValue + "_NUMBER" }.joined(separator: " or ")
      throw .invalid(name, "it must be the name of a task, \(forms), not '\(text.prefix(64))'")
    }
    return task
  }
}
