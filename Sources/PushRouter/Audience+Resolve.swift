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

  /// A Live Activity whose token they have; nothing else is asked for then.
  public var liveActivityID: String?

  /// Starts as everybody.
  public init() {}

  /// Whether nothing narrows the audience: a broadcast.
  public var meansEverybody: Bool {
    !namesRegistrations && tags.isEmpty && tagsAnd.isEmpty && tagsNot.isEmpty && aliases.isEmpty
      && liveActivityID == nil
  }
}

extension RegistrationTable {
  /// The registrations that an audience means now, on the given platforms.
  func resolve(_ terms: AudienceTerms, platforms: PlatformSet) -> Recipients {
    if let name = terms.liveActivityID {
      guard let slot = APNsTokenSlot(.liveActivity, name: name) else { return .few([]) }
      var holders = members(tokensFor: [.production, .sandbox], as: slot)
      holders.formIntersection(members(platforms: platforms))
      return Recipients(holders)
    }
    // The narrow keys first: a push to one alias never touches a set of a million.
    if let named = named(terms) {
      return Recipients(
        those(of: named, with: terms).filter { platforms.contains(rawValue: self[$0].platform) })
    }
    var found: NumberSet?
    func narrow(_ members: NumberSet) {
      if found == nil { found = members } else { found?.formIntersection(members) }
    }
    if !terms.tags.isEmpty { narrow(union(ofTags: terms.tags)) }
    for tag in terms.tagsAnd { narrow(members(tag: tag)) }
    if !platforms.isSuperset(of: .all) || found == nil { narrow(members(platforms: platforms)) }
    guard var result = found else { return .few([]) }
    for tag in terms.tagsNot { result.subtract(members(tag: tag)) }
    return Recipients(result)
  }

  /// What aliases and registration IDs name, ascending; nil when the audience has neither key.
  private func named(_ terms: AudienceTerms) -> [RegistrationNumber]? {
    guard !terms.aliases.isEmpty || terms.namesRegistrations else { return nil }
    let byAlias = terms.aliases.flatMap { registrations(alias: $0) }
    guard terms.namesRegistrations else { return byAlias.ascending() }
    let byID = terms.registrationIDs.compactMap { find($0) }
    guard !terms.aliases.isEmpty else { return byID.ascending() }
    let both = Set(byAlias)
    return byID.filter { both.contains($0) }.ascending()
  }

  /// Those of some registrations whose tags are as wanted.
  private func those(
    of numbers: [RegistrationNumber], with terms: AudienceTerms
  ) -> [RegistrationNumber] {
    guard !terms.tags.isEmpty || !terms.tagsAnd.isEmpty || !terms.tagsNot.isEmpty else { return numbers }
    let (any, all, none) = (
      terms.tags.map { members(tag: $0) }, terms.tagsAnd.map { members(tag: $0) },
      terms.tagsNot.map { members(tag: $0) }
    )
    return numbers.filter { number in
      (any.isEmpty || any.contains { $0.contains(number) }) && all.allSatisfy { $0.contains(number) }
        && !none.contains { $0.contains(number) }
    }
  }

  private func union(ofTags tags: [String]) -> NumberSet {
    guard let first = tags.first else { return NumberSet() }
    var union = members(tag: first)
    for tag in tags.dropFirst() { union.formUnion(members(tag: tag)) }
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
