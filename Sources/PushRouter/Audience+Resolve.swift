import PushBase

/// The parts of an audience filter, already checked for form and counts. All keys that are present must hold (AND);
/// within `tags`, `aliases` and `registrationIDs` one match is enough (OR).
public struct AudienceTerms: Sendable {
  /// At least one of these tags, if there are any.
  public var tags: [String] = []
  /// Every one of these tags.
  public var tagsAnd: [String] = []
  /// None of these tags.
  public var tagsNot: [String] = []
  /// At least one of these aliases, if there are any.
  public var aliases: [String] = []
  /// One of these registrations, if there are any.
  public var registrationIDs: [RegistrationID] = [] {
    didSet { namesRegistrations = namesRegistrations || !registrationIDs.isEmpty }
  }
  /// Whether the request named registrations at all. Set it when all of them were malformed: such a request means nobody,
  /// not everybody.
  public var namesRegistrations = false

  /// Starts as everybody.
  public init() {}
}

extension RegistrationTable {
  /// The registrations that an audience means now, on the given platforms.
  func resolve(_ terms: AudienceTerms, platforms: PlatformSet) -> NumberSet {
    // The narrow keys first: a push to one alias never touches a set of a million.
    var found = namedRegistrations(terms)
    func narrow(_ members: NumberSet) {
      if found == nil { found = members } else { found?.formIntersection(members) }
    }
    if !terms.tags.isEmpty {
      var union = NumberSet()
      for tag in terms.tags { union.formUnion(members(tag: tag)) }
      narrow(union)
    }
    for tag in terms.tagsAnd { narrow(members(tag: tag)) }
    guard var result = found else {
      var everyone = members(platforms: platforms)
      for tag in terms.tagsNot { everyone.subtract(members(tag: tag)) }
      return everyone
    }
    for tag in terms.tagsNot { result.subtract(members(tag: tag)) }
    if result.count <= 1000 {
      return NumberSet(result.members().filter { platforms.contains(rawValue: self[$0].platform) })
    }
    result.formIntersection(members(platforms: platforms))
    return result
  }

  /// What aliases and registration IDs name; nil when the audience has neither key.
  private func namedRegistrations(_ terms: AudienceTerms) -> NumberSet? {
    guard !terms.aliases.isEmpty || terms.namesRegistrations else { return nil }
    let byAlias = terms.aliases.isEmpty ? nil : NumberSet(terms.aliases.flatMap { registrations(alias: $0) })
    guard terms.namesRegistrations else { return byAlias }
    var byID = NumberSet(terms.registrationIDs.compactMap { find($0) })
    if let byAlias { byID.formIntersection(byAlias) }
    return byID
  }
}

extension PlatformSet {
  fileprivate func contains(rawValue platform: UInt8) -> Bool { rawValue & (1 << platform) != 0 }
}
