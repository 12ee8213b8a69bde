import BorealisBase
import Model
import Storage

/// Which devices of an app a list shows: those that match all that is given.
package struct DeviceFilter: Sendable, Equatable {
  package var platforms = PlatformSet.all
  /// A channel for which the device has a token; nil for devices with or without one.
  package var channel: ChannelID?
  /// The services of the channel that the token may belong to.
  package var services = ServiceSet.all
  /// Whether the device is connected; nil for both.
  package var isOnline: Bool?
  package var alias: String?
  package var tag: String?
  /// The number of a segment that the device is in.
  package var segment: Int64?

  /// Every device.
  package init() {}
}

/// A device's place in a list, which begins with connected devices, followed by the others, those that were
/// connected last first; among equals the last that registered is first.
package struct DevicePlace: Comparable, Sendable {
  /// When it was last connected, in Unix seconds; the largest number while it is connected.
  let lastSeen: UInt32
  let number: RegistrationNumber

  init(lastSeen: UInt32, number: RegistrationNumber) {
    (self.lastSeen, self.number) = (lastSeen, number)
  }

  /// Reads what `text` gave.
  package init?(_ text: String) {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false).map { UInt32($0) }
    guard parts.count == 2, let seen = parts[0], let number = parts[1] else { return nil }
    self.init(lastSeen: seen, number: RegistrationNumber(number))
  }

  /// For addresses.
  package var text: String { "\(lastSeen)-\(number.rawValue)" }

  /// Whether a list has one before another.
  package static func < (left: Self, right: Self) -> Bool {
    (left.lastSeen, left.number) > (right.lastSeen, right.number)
  }
}

/// A page of a list of devices.
package struct DeviceList: Sendable {
  /// A device in it.
  package struct Entry: Sendable {
    /// What is stored of it.
    package let row: RegistrationRow
    package let isOnline: Bool
    /// When it was last connected, or logged in if it is connected; nil for never.
    package let lastSeen: Timestamp?
    /// The first of its tags.
    package let tags: [String]
    /// The services of which it has tokens.
    package let tokens: [(channel: ChannelID, service: ServiceID)]
    /// What it has reported of itself, of the facts that its app asks for.
    package let facts: [DeviceFact: String]
  }

  package let entries: [Entry]
  /// How many devices match.
  package let count: Int
  /// The last place on this page, behind which the next one begins; nil if this is the last page.
  package let end: DevicePlace?
}

/// Lists the devices of apps.
package struct DeviceLists: Sendable {
  /// Tags of a device that a list names.
  private static let namedTags = 3

  let store: Store
  let segments: Segments
  let channels: PluggedChannels

  /// The devices of an app that match, at most `limit` behind a place. Looks at each device that matches, for
  /// milliseconds if they are a hundred thousand, on the caller's thread.
  package func list(
    _ filter: DeviceFilter, of app: App, after place: DevicePlace? = nil, limit: Int
  ) async -> Result<DeviceList, SegmentFailure> {
    let slots = filter.channel.map { channel in
      channels.info(channel).tokens.filter { !$0.isNamed }.map { TokenSlot(channel, kind: $0.number) }
    }
    var numbers = app.directory.members(filter, holding: slots)
    if let id = filter.segment {
      switch await members(of: id, in: app) {
      case .failure(let failure): return .failure(failure)
      case .success(let members): numbers.formIntersection(members)
      }
    }
    let count = numbers.count
    let places = app.directory.latest(of: numbers, after: place, limit: limit + 1)
    let result = await store.read { transaction throws(StorageError) in
      var entries: [DeviceList.Entry] = []
      for place in places.prefix(limit) {
        if let entry = try entry(place, app, transaction) { entries.append(entry) }
      }
      return entries
    }
    return result.mapError { .storage($0) }.map {
      DeviceList(entries: $0, count: count, end: places.count > limit ? places[limit - 1] : nil)
    }
  }

  private func members(of segment: Int64, in app: App) async -> Result<NumberSet, SegmentFailure> {
    let result = await store.read(inTurnOf: app.id) { transaction throws(StorageError) in
      try segments.members(of: segment, in: app, transaction)
    }
    return result.mapError { .storage($0) }.flatMap { $0 }
  }

  private func entry(
    _ place: DevicePlace, _ app: App, _ transaction: ReadTransaction
  ) throws(StorageError) -> DeviceList.Entry? {
    guard let row = try transaction.registrations.find(app: app.id, number: place.number),
      let presence = app.directory.presence(place.number)
    else { return nil }
    let tokens = try transaction.tokens.all(app: app.id, of: place.number).filter { !$0.token.bytes.isEmpty }
    return DeviceList.Entry(
      row: row, isOnline: presence.isOnline,
      lastSeen: presence.lastSeen == 0 ? nil : Timestamp(milliseconds: Int64(presence.lastSeen) * 1000),
      tags: try transaction.tags.names(app: app.id, numbers: Array(row.tags.prefix(Self.namedTags))),
      tokens: tokens.map { ($0.token.slot.channel, $0.token.service) },
      facts: app.directory.facts(of: place.number))
  }
}

extension AppDirectory {
  /// Devices that are looked at before the lock is let go.
  private static let listSlice = 1024

  /// Who matches a filter, whatever segment it names; `slots` are those of its channel.
  fileprivate func members(_ filter: DeviceFilter, holding slots: [TokenSlot]?) -> NumberSet {
    state.withLock { state in
      var found = state.table.members(platforms: filter.platforms)
      if let slots {
        found.formIntersection(
          slots.reduce(into: NumberSet()) {
            $0.formUnion(state.table.members(holding: $1, for: filter.services))
          })
      }
      switch filter.isOnline {
      case true?: found.formIntersection(state.onlineSet)
      case false?: found.subtract(state.onlineSet)
      case nil: break
      }
      if let tag = filter.tag { found.formIntersection(state.table.tags.members(tag)) }
      if let alias = filter.alias {
        found.formIntersection(NumberSet(state.table.registrations(alias: alias)))
      }
      return found
    }
  }

  /// The first of some devices behind a place of a list.
  fileprivate func latest(of numbers: NumberSet, after place: DevicePlace?, limit: Int) -> [DevicePlace] {
    var found: [DevicePlace] = []
    numbers.forEachSlice(of: Self.listSlice) { members in
      state.withLock { state in
        for number in members where state.table.isActive(number) {
          let one = DevicePlace(
            lastSeen: state.table.records[number.rawValue].isOnline
              ? .max : state.table.records[number.rawValue].lastSeen,
            number: number)
          if let place, one <= place { continue }
          if found.count == limit {
            guard let last = found.last, one < last else { continue }
            found.removeLast()
          }
          found.insert(one, at: found.firstIndex { one < $0 } ?? found.endIndex)
        }
      }
    }
    return found
  }
}
