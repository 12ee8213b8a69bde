import BorealisBase
import BorealisProtocol
import Core
import Model

/// Converts operations of the device protocol to those of the home: validates them and chooses the code of an
/// error.
enum OperationCheck {
  /// The error of an operation.
  struct Fault: Error {
    let code: ResultCode
  }

  /// The validated operation for the home; nil for operations of the connection itself.
  static func check(_ operation: Operation) -> Result<DeviceOperation, Fault> {
    switch operation {
    case .setAlias(let alias): result(.setAlias(alias), unless: aliasFault(alias))
    case .deleteAlias: .success(.setAlias(nil))
    case .setTags(let tags): result(.changeTags(.set(tags)), unless: tagFault(tags))
    case .addTags(let tags): result(.changeTags(.edit(add: tags, remove: [])), unless: tagFault(tags))
    case .deleteTags(let tags): result(.changeTags(.edit(add: [], remove: tags)), unless: tagFault(tags))
    case .cleanTags: .success(.changeTags(.clean))
    case .getAlias: .success(.readAlias)
    case .getTags: .success(.readTags)
    case .checkTag(let tag): result(.checkTag(tag), unless: tagFault([tag]))
    case .setBadge(let badge):
      result(.setBadge(Int64(badge)), unless: badge <= 99_999 ? nil : .requestInvalid)
    case .setToken(let token): .success(.setToken(PushToken(token.environment, token.bytes)))
    case .setOtherToken(let other):
      .success(.setToken(PushToken(other.slot, other.token.environment, other.token.bytes)))
    case .setChannelToken(let told): .success(.reportToken(told))
    case .setKey(let key): .success(.setKey(key.kind, key.bytes))
    case .setFacts(let facts):
      result(.setFacts(facts), unless: facts.allSatisfy { $0.accepts($1) } ? nil : .requestInvalid)
    case .getKey(let id): .success(.readKey(id))
    case .appState, .logout: .failure(Fault(code: .requestInvalid))
    }
  }

  /// The code of an operation that failed.
  static func code(_ failure: DeviceFailure) -> ResultCode {
    switch failure {
    case .aliasFull: .aliasFull
    case .tooManyTags: .deviceTagsFull
    case .appTagsFull: .appTagsFull
    case .newTagsUsedUp: .newTagsUsedUp
    case .unknownRegistration: .userInvalid
    case .unknownKey: .keyMissing
    case .invalidToken: .requestInvalid
    case .unavailable: .serverError
    }
  }

  private static func result(
    _ operation: DeviceOperation, unless code: ResultCode?
  ) -> Result<DeviceOperation, Fault> {
    code.map { .failure(Fault(code: $0)) } ?? .success(operation)
  }

  private static func aliasFault(_ alias: String) -> ResultCode? {
    switch NameRules.check(alias, as: .alias) {
    case .ok: nil
    case .empty: .nothingSet
    case .tooLong: .aliasTooLong
    case .illegalCharacter: .aliasIllegal
    }
  }

  private static func tagFault(_ tags: [String]) -> ResultCode? {
    guard tags.count <= WireLimits.tagsPerOperation else { return .tooManyTags }
    for tag in tags {
      switch NameRules.check(tag, as: .tag) {
      case .ok: continue
      case .empty: return .nothingSet
      case .tooLong: return .tagTooLong
      case .illegalCharacter: return .tagIllegal
      }
    }
    return nil
  }
}
