import BorealisBase
import Model

extension RegistrationTable {
  /// All registrations on the given platforms.
  func everybody(on platforms: PlatformSet) -> Recipients { Recipients(members(platforms: platforms)) }

  /// The registrations that meet all conditions now, on the given platforms.
  func resolve(_ filter: AudienceFilter, platforms: PlatformSet) -> Recipients {
    // Whom a test chose is stored with its pushes.
    guard !filter.isEmpty, filter.abTest == nil else { return .few([]) }
    if let slot = filter.heldToken {
      var holders = members(holding: slot)
      holders.formIntersection(members(platforms: platforms))
      return Recipients(holders)
    }
    // The narrow keys first: a push to one alias never touches a set of a million.
    if let named = named(filter) {
      return Recipients(
        those(of: named, with: filter).filter { platforms.contains(rawValue: records[$0.rawValue].platform) })
    }
    var found: NumberSet?
    func narrow(_ members: NumberSet) {
      if found == nil { found = members } else { found?.formIntersection(members) }
    }
    if !filter.tags.isEmpty { narrow(union(ofTags: filter.tags)) }
    for tag in filter.tagsAnd { narrow(tags.members(tag)) }
    // Tags that must be absent say nothing of who is there.
    if !platforms.isSuperset(of: .all) || found == nil { narrow(members(platforms: platforms)) }
    guard var result = found else { return .few([]) }
    for tag in filter.tagsNot { result.subtract(tags.members(tag)) }
    return Recipients(result)
  }

  /// What aliases and registration IDs name, ascending; nil when the audience has neither key.
  private func named(_ filter: AudienceFilter) -> [RegistrationNumber]? {
    guard !filter.aliases.isEmpty || !filter.registrationIDs.isEmpty else { return nil }
    let byAlias = filter.aliases.flatMap { registrations(alias: $0) }
    guard !filter.registrationIDs.isEmpty else { return byAlias.ascending() }
    // Malformed ones match no device.
    let byID = filter.registrationIDs.compactMap { RegistrationID($0).flatMap { find($0) } }
    guard !filter.aliases.isEmpty else { return byID.ascending() }
    let both = Set(byAlias)
    return byID.filter { both.contains($0) }.ascending()
  }

  /// Those of some registrations whose tags are as wanted.
  private func those(
    of numbers: [RegistrationNumber], with filter: AudienceFilter
  ) -> [RegistrationNumber] {
    guard filter.hasTags else { return numbers }
    let (any, all, none) = (
      filter.tags.map { tags.members($0) }, filter.tagsAnd.map { tags.members($0) },
      filter.tagsNot.map { tags.members($0) }
    )
    return numbers.filter { number in
      (any.isEmpty || any.contains { $0.contains(number) }) && all.allSatisfy { $0.contains(number) }
        && !none.contains { $0.contains(number) }
    }
  }

  private func union(ofTags names: [String]) -> NumberSet {
    guard let first = names.first else { return NumberSet() }
    var union = tags.members(first)
    for tag in names.dropFirst() { union.formUnion(tags.members(tag)) }
    return union
  }
}

extension [RegistrationNumber] {
  /// In order, each once.
  fileprivate func ascending() -> [RegistrationNumber] {
    guard count > 1 else { return self }
    var result: [RegistrationNumber] = []
    result.reserveCapacity(count)
    for number in sorted() where number != result.last { result.append(number) }
    return result
  }
}

extension PlatformSet {
  fileprivate func contains(rawValue platform: UInt8) -> Bool { rawValue & (1 << platform) != 0 }
}
