import BorealisBase

/// The audience of a push: in the request, the directory, reports and the console. It refers to the devices
/// of the push's platforms.
package indirect enum Audience: Equatable, Sendable {
  /// Every device. Nothing else means everybody: an audience is always named, never left out.
  case all
  /// The devices that meet every condition.
  case filter(AudienceFilter)
  /// The devices that an uploaded file names.
  case file(String)
  /// Those of an audience that are devices for tests.
  case testDevices(of: Audience)

  /// The audience of which test devices are meant, or this one itself.
  package var named: Audience {
    if case .testDevices(let audience) = self { audience.named } else { self }
  }

  /// The conditions, if there are any.
  package var filter: AudienceFilter? {
    if case .filter(let filter) = named { filter } else { nil }
  }

  /// The file, if one names the devices.
  package var file: String? {
    if case .file(let id) = named { id } else { nil }
  }

  /// The Live Activity of the push, if it is for one.
  package var liveActivityID: String? { filter?.liveActivityID }

  /// Whether only devices for tests are meant.
  package var isForTestDevices: Bool {
    if case .testDevices = self { true } else { false }
  }
}

/// Conditions for devices of an app. Each key says how its values are combined, and the keys are combined by
/// AND. Without any condition it matches no device.
package struct AudienceFilter: Equatable, Sendable {
  /// Devices with any of these tags; empty for no condition.
  package var tags: [String]
  /// Devices with all of these tags; empty for no condition.
  package var tagsAnd: [String]
  /// Devices with none of these tags; empty for no condition.
  package var tagsNot: [String]
  /// Devices with any of these aliases; empty for no condition.
  package var aliases: [String]
  /// These devices; empty for no condition. Texts that are no registration ID match no device.
  package var registrationIDs: [String]
  /// Devices of the segment with this number; nil for no condition. Only the database knows what it means.
  package var segment: Int64?
  /// Devices of the A/B test with this number; nil for no condition. Cannot be combined. Reading a push
  /// object replaces it with the audience of the test; only what is kept of pushes has it.
  package var abTest: Int64?
  /// The devices with a Live Activity of this name; nil for no condition. Cannot be combined.
  package var liveActivityID: String?

  /// Makes a filter; an empty list is no condition.
  package init(
    tags: [String] = [], tagsAnd: [String] = [], tagsNot: [String] = [], aliases: [String] = [],
    registrationIDs: [String] = [], segment: Int64? = nil, abTest: Int64? = nil,
    liveActivityID: String? = nil
  ) {
    self.tags = tags
    self.tagsAnd = tagsAnd
    self.tagsNot = tagsNot
    self.aliases = aliases
    self.registrationIDs = registrationIDs
    self.segment = segment
    self.abTest = abTest
    self.liveActivityID = liveActivityID
  }

  /// Whether there is a condition on tags.
  package var hasTags: Bool { !tags.isEmpty || !tagsAnd.isEmpty || !tagsNot.isEmpty }

  /// Whether there is no condition at all; the parser never returns such a filter.
  package var isEmpty: Bool {
    !hasTags && aliases.isEmpty && registrationIDs.isEmpty && segment == nil && abTest == nil
      && liveActivityID == nil
  }
}

/// Which audiences a request may have.
package enum AudienceKind: Equatable, Sendable {
  /// Everybody, or by names.
  case named
  /// A file only.
  case file
  /// Any of them.
  case any
}

extension Audience {
  /// Reads the audience of a push object that was accepted once; nil if it says nothing about one. What the
  /// rules of today would refuse is read all the same.
  package init?(recorded push: JSONValue) {
    guard let audience = push["audience"] else { return nil }
    func names(_ key: String) -> [String] { (audience[key]?.array ?? []).compactMap(\.string) }
    let filter = AudienceFilter(
      tags: names("tag"), tagsAnd: names("tag_and"), tagsNot: names("tag_not"), aliases: names("alias"),
      registrationIDs: names("registration_id"), segment: names("segment").first.flatMap { Int64($0) },
      abTest: names("abtest").first.flatMap { Int64($0) },
      liveActivityID: audience["live_activity_id"]?.string)
    let named: Audience
    if audience == "all" {
      named = .all
    } else if let file = audience["file"]?["file_id"]?.string {
      named = .file(file)
    } else if !filter.isEmpty {
      named = .filter(filter)
    } else {
      return nil
    }
    let isForTests = push["options"]?["test_model"].flatMap { Fields.flag($0) } == true
    self = isForTests ? .testDevices(of: named) : named
  }

  /// The same, read from the bytes that were kept.
  package init?(recorded bytes: [UInt8]) {
    guard let push = try? parseJSON(bytes) else { return nil }
    self.init(recorded: push)
  }
}
