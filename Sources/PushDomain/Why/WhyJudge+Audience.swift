import PushBase

/// Whether a device is in a push's audience, which was fixed when the push was accepted, and if not, why not.
extension WhyJudge {
  var audience: WhyStep {
    if facts.isTarget { return WhyStep(.audience, .ok, at: push.createdAt) }
    guard let device = facts.device, let note = push.audience else { return unknownAudience }
    // All later conditions would look as if they held.
    guard device.registeredAt <= push.createdAt else { return notApplicable(.audience) }
    return liveActivityFault(note, device) ?? aliasFault(note, device) ?? tagFault(note, device)
      ?? exclusion(note, device) ?? testFault(note, device) ?? nameFault(note)
      ?? presentExclusion(note, device) ?? unknownAudience
  }

  private var unknownAudience: WhyStep { WhyStep(.audience, .unknown, .audienceUnknown) }

  private func fault(_ cause: WhyCause, _ detail: String? = nil, at: Timestamp? = nil) -> WhyStep {
    WhyStep(.audience, .failed, at: at, cause, detail: detail)
  }

  private func liveActivityFault(_ note: AudienceNote, _ device: WhyFacts.Device) -> WhyStep? {
    guard let activity = note.liveActivity, !device.hasLiveActivity else { return nil }
    return fault(.noLiveActivity, activity)
  }

  // MARK: Aliases

  private func aliasFault(_ note: AudienceNote, _ device: WhyFacts.Device) -> WhyStep? {
    guard !note.aliases.isEmpty else { return nil }
    guard let alias = device.alias, note.aliases.contains(alias) else {
      if let full = note.aliases.first(where: { device.fullAliases.contains($0) }) {
        return fault(.aliasFull, full)
      }
      return fault(.aliasNotBound, Self.list(note.aliases), at: device.aliasAt)
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

  /// The times of tags are whole seconds. Within the second of the push the device's not being a target decides: a tag that
  /// it needed was not there, one that is excluded was.
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
    device.tags.first { $0.name == name }.map { state($0, isExcluded: isExcluded) }
      ?? .missing(.tagNotBound, nil)
  }

  private func tagFault(_ note: AudienceNote, _ device: WhyFacts.Device) -> WhyStep? {
    for name in note.tagsAnd {
      if case .missing(let cause, let at) = state(name, device) { return fault(cause, name, at: at) }
    }
    guard !note.tags.isEmpty else { return nil }
    var found: (name: String, cause: WhyCause, at: Timestamp?)?
    for name in note.tags {
      guard case .missing(let cause, let at) = state(name, device) else { return nil }
      // Of several that would have done, the one of which most is known.
      if found == nil || found?.cause == .tagNotBound, cause != .tagNotBound { found = (name, cause, at) }
    }
    guard let found else { return fault(.tagNotBound, Self.list(note.tags)) }
    return fault(found.cause, found.name, at: found.at)
  }

  private func exclusion(_ note: AudienceNote, _ device: WhyFacts.Device) -> WhyStep? {
    for name in note.tagsNot {
      if case .had = state(name, device, isExcluded: true) {
        return fault(.tagExcluded, name, at: device.tags.first { $0.name == name }?.boundAt)
      }
    }
    return nil
  }

  /// Of a tag that came, went and came again only the last is noted. One that is excluded and there now is what is left,
  /// if nothing else was wrong.
  private func presentExclusion(_ note: AudienceNote, _ device: WhyFacts.Device) -> WhyStep? {
    let bound = note.tagsNot.first { name in device.tags.contains { $0.name == name && $0.isBound } }
    return bound.map { fault(.tagExcluded, $0) }
  }

  // MARK: The rest

  private func testFault(_ note: AudienceNote, _ device: WhyFacts.Device) -> WhyStep? {
    note.isForTestDevices && !device.isTestDevice ? fault(.notTestDevice) : nil
  }

  private func nameFault(_ note: AudienceNote) -> WhyStep? { note.namesDevices ? fault(.notNamed) : nil }

  /// The first names of a list.
  private static func list(_ names: [String]) -> String {
    names.count <= 3
      ? names.joined(separator: ", ") : names.prefix(3).joined(separator: ", ") + " … (\(names.count))"
  }
}
