import BorealisBase

/// Whether a device is in a push's audience, which was fixed when the push was accepted, and if not, why not.
extension WhyJudge {
  var audience: WhyStep {
    if facts.isTarget { return WhyStep(.audience, .ok, at: push.createdAt) }
    if facts.isLeftOut { return fault(.leftOut, at: push.createdAt) }
    if facts.isQuiet { return fault(.quietHours, at: push.createdAt) }
    if facts.isCapped { return fault(.capped, at: push.createdAt) }
    if let canary = facts.canary { return place(canary) }
    // Then it is in no audience, whatever the push names.
    if let at = facts.device?.blockedAt, at <= push.createdAt { return fault(.blocked, at: at) }
    guard let device = facts.device, let audience = push.audience else { return unknownAudience }
    // All later conditions would look as if they held.
    guard device.registeredAt <= push.createdAt else { return notApplicable(.audience) }
    let filter = audience.filter ?? AudienceFilter()
    return liveActivityFault(filter, device) ?? aliasFault(filter, device) ?? tagFault(filter, device)
      ?? exclusion(filter, device) ?? testFault(audience, device) ?? zoneFault(audience, filter)
      ?? nameFault(audience, filter) ?? segmentFault(filter) ?? abTestFault(filter)
      ?? presentExclusion(filter, device) ?? unknownAudience
  }

  private var unknownAudience: WhyStep { WhyStep(.audience, .unknown, .audienceUnknown) }

  private func fault(_ cause: WhyCause, _ detail: String? = nil, at: Timestamp? = nil) -> WhyStep {
    WhyStep(.audience, .failed, at: at, cause, detail: detail)
  }

  private func place(_ canary: WhyFacts.CanaryPlace) -> WhyStep {
    switch canary {
    case .waits(let moment): WhyStep(.audience, .waiting, at: moment, .canaryWaiting)
    case .stopped(let at, let reason): fault(.canaryStopped, reason, at: at)
    case .other(let id): fault(.otherPart, id.text)
    }
  }

  private func liveActivityFault(_ filter: AudienceFilter, _ device: WhyFacts.Device) -> WhyStep? {
    guard let activity = filter.liveActivityID, !device.hasLiveActivity else { return nil }
    return fault(.noLiveActivity, activity)
  }

  // MARK: Aliases

  private func aliasFault(_ filter: AudienceFilter, _ device: WhyFacts.Device) -> WhyStep? {
    guard !filter.aliases.isEmpty else { return nil }
    guard let alias = device.alias, filter.aliases.contains(where: { $0.hasSameBytes(as: alias) }) else {
      if let full = filter.aliases.first(where: { name in
        device.fullAliases.contains { $0.hasSameBytes(as: name) }
      }) {
        return fault(.aliasFull, full)
      }
      return fault(.aliasNotBound, Self.list(filter.aliases), at: device.aliasAt)
    }
    guard let at = device.aliasAt, at > push.createdAt else { return nil }
    return fault(.aliasBoundLater, alias, at: at)
  }

  // MARK: Tags

  /// What a tag was to the device when the push was accepted.
  private enum TagState {
    case had
    case missing(WhyCause, Timestamp?)
  }

  /// The times of tags are whole seconds. Within the second of the push the device's not being a target
  /// decides: a tag that it needed was not there, one that is excluded was.
  private func state(_ tag: WhyFacts.Tag, isExcluded: Bool) -> TagState {
    func isLater(_ at: Timestamp, ifSame: Bool) -> Bool {
      at.seconds > push.createdAt.seconds || ifSame && at.seconds == push.createdAt.seconds
    }
    if tag.isBound {
      guard let at = tag.boundAt, isLater(at, ifSame: !isExcluded) else { return .had }
      return .missing(.tagBoundLater, at)
    }
    guard let at = tag.removedAt else { return .missing(.tagNotBound, nil) }
    return isLater(at, ifSame: isExcluded) ? .had : .missing(.tagRemoved, at)
  }

  private func state(_ name: String, _ device: WhyFacts.Device, isExcluded: Bool = false) -> TagState {
    device.tags.first { $0.name.hasSameBytes(as: name) }.map { state($0, isExcluded: isExcluded) }
      ?? .missing(.tagNotBound, nil)
  }

  private func tagFault(_ filter: AudienceFilter, _ device: WhyFacts.Device) -> WhyStep? {
    for name in filter.tagsAnd {
      if case .missing(let cause, let at) = state(name, device) { return fault(cause, name, at: at) }
    }
    guard !filter.tags.isEmpty else { return nil }
    var found: (name: String, cause: WhyCause, at: Timestamp?)?
    for name in filter.tags {
      guard case .missing(let cause, let at) = state(name, device) else { return nil }
      // Of several that would have done, the one of which most is known.
      if found == nil || found?.cause == .tagNotBound, cause != .tagNotBound { found = (name, cause, at) }
    }
    guard let found else { return fault(.tagNotBound, Self.list(filter.tags)) }
    return fault(found.cause, found.name, at: found.at)
  }

  private func exclusion(_ filter: AudienceFilter, _ device: WhyFacts.Device) -> WhyStep? {
    for name in filter.tagsNot {
      if case .had = state(name, device, isExcluded: true) {
        return fault(.tagExcluded, name, at: device.tags.first { $0.name.hasSameBytes(as: name) }?.boundAt)
      }
    }
    return nil
  }

  /// Only the last change of a tag is recorded. An excluded tag that the device has now is the remaining
  /// explanation if nothing else was wrong.
  private func presentExclusion(_ filter: AudienceFilter, _ device: WhyFacts.Device) -> WhyStep? {
    let bound = filter.tagsNot.first { name in
      device.tags.contains { $0.name.hasSameBytes(as: name) && $0.isBound }
    }
    return bound.map { fault(.tagExcluded, $0) }
  }

  // MARK: The rest

  private func testFault(_ audience: Audience, _ device: WhyFacts.Device) -> WhyStep? {
    audience.isForTestDevices && !device.isTestDevice ? fault(.notTestDevice) : nil
  }

  /// What remains if all other conditions held, as far as it is recorded who meets them.
  private func zoneFault(_ audience: Audience, _ filter: AudienceFilter) -> WhyStep? {
    guard push.isForZone else { return nil }
    return audience.file == nil && filter.segment == nil ? fault(.otherZone) : unknownAudience
  }

  private func nameFault(_ audience: Audience, _ filter: AudienceFilter) -> WhyStep? {
    guard filter.segment == nil else { return nil }
    return audience.file != nil || !filter.registrationIDs.isEmpty ? fault(.notNamed) : nil
  }

  /// Who was in the segment is not recorded. What remains if all other conditions held, unless devices are
  /// named besides.
  private func segmentFault(_ filter: AudienceFilter) -> WhyStep? {
    guard let segment = filter.segment, filter.registrationIDs.isEmpty else { return nil }
    return fault(.notInSegment, String(segment))
  }

  /// Who gets which content is stored with the pushes of the test alone.
  private func abTestFault(_ filter: AudienceFilter) -> WhyStep? {
    filter.abTest.map { fault(.notInABTest, String($0)) }
  }

  /// The first names of a list.
  private static func list(_ names: [String]) -> String {
    names.count <= 3
      ? names.joined(separator: ", ") : names.prefix(3).joined(separator: ", ") + " … (\(names.count))"
  }
}
