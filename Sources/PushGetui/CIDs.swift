import PushBase
import PushDomain
import PushHTTP
import PushRouter

/// CIDs: our registration IDs, and those of Getui's that were imported.
extension App {
  /// The registration of a CID. 20001 if the app has none.
  func device(_ cid: String) throws(GetuiError) -> RegistrationNumber {
    guard let number = registration(cid) else { throw .unknownTarget }
    return number
  }

  /// The registrations of CIDs, in their order. 20001 if one is unknown: then nothing is changed.
  func devices(_ cids: [String]) throws(GetuiError) -> [RegistrationNumber] {
    var numbers: [RegistrationNumber] = []
    numbers.reserveCapacity(cids.count)
    for cid in cids { numbers.append(try device(cid)) }
    return numbers
  }

  /// Whether a CID is online in Getui's sense: connected, and on iOS with its app in the foreground.
  func isReachable(_ number: RegistrationNumber) -> Bool {
    guard let status = directory.status(number), let identity = directory.identity(number) else {
      return false
    }
    return Routing.isReachable(
      identity.platform, isOnline: status.isOnline, status.isForeground ? .foreground : .background)
  }
}

extension GetuiCall {
  /// The values of a path's last part, with commas between them.
  func list(_ capture: String, most: Int) throws(GetuiError) -> [String] {
    let values = (captures[capture] ?? "").split(separator: ",").map(String.init)
    guard !values.isEmpty else { throw .missing(capture) }
    guard values.count <= most else { throw .overLimit(capture) }
    guard Set(values).count == values.count else { throw .parameter("contains duplicate \(capture)") }
    return values
  }

  /// Answers a change that has nothing to say.
  func answer(_ result: Result<Void, DeviceFailure>) {
    switch result {
    case .success: answer()
    case .failure(let failure): fail(GetuiError(failure))
    }
  }
}

extension GetuiError {
  /// What an operation on devices failed with.
  init(_ failure: DeviceFailure) {
    switch failure {
    case .aliasFull: self = .parameter("alias has \(RegistrationLimits.devicesPerAlias) cids already")
    case .tooManyTags: self = .overLimit("custom_tag")
    case .unknownRegistration, .unknownKey: self = .unknownTarget
    case .unavailable: self = .busy
    }
  }

  /// What is wrong with an alias, nil for a good one.
  init?(alias: String) {
    switch NameRules.checkGetuiAlias(alias) {
    case .ok: return nil
    case .empty: self = .missing("alias")
    case .tooLong: self = .overLimit("alias")
    case .illegalCharacter: self = .invalid("alias")
    }
  }

  /// What is wrong with a tag, nil for a good one.
  init?(tag: String) {
    switch NameRules.checkGetuiTag(tag) {
    case .ok: return nil
    case .empty: self = .missing("custom_tag")
    case .tooLong: self = .tagTooLong
    case .illegalCharacter: self = .invalid("custom_tag")
    }
  }
}
