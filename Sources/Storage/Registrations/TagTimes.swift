import BorealisBase

/// A tag with a moment.
package struct TimedTag: Sendable, Equatable {
  /// The tag's number.
  package var number: UInt32
  /// Unix seconds, 0 if not recorded.
  package var seconds: UInt32

  /// Both fields.
  package init(number: UInt32, seconds: UInt32) {
    self.number = number
    self.seconds = seconds
  }

  /// The time, nil if not recorded.
  package var at: Timestamp? { seconds == 0 ? nil : Timestamp(milliseconds: Int64(seconds) * 1000) }
}

/// When a registration's tags came and went: the columns `tag_times` and `lost_tags`.
struct TagTimes: Sendable, Equatable {
  /// Tags that went and are remembered.
  static let lostKept = 16

  /// When each tag came, for those of which that is known.
  private(set) var bound: [UInt32: UInt32] = [:]
  /// The latest that went, newest first.
  private(set) var lost: [TimedTag] = []

  /// Reads both columns; `tags` are those of the column `tags`.
  init(tags: [UInt32], _ times: [UInt8], lost bytes: [UInt8]) {
    let seconds = TagList.decode(times)
    // A program that knows nothing of times may have changed the tags.
    if seconds.count == tags.count {
      for (tag, second) in zip(tags, seconds) where second > 0 { bound[tag] = second }
    }
    let pairs = TagList.decode(bytes)
    lost = stride(from: 0, to: pairs.count - 1, by: 2).map {
      TimedTag(number: pairs[$0], seconds: pairs[$0 + 1])
    }
  }

  /// Applies a change.
  mutating func change(added: [UInt32], removed: [UInt32], at now: Timestamp) {
    let seconds = UInt32(clamping: now.seconds)
    for tag in added { bound[tag] = seconds }
    for tag in removed { bound[tag] = nil }
    let stay = lost.filter { !added.contains($0.number) && !removed.contains($0.number) }
    let gone = removed.prefix(Self.lostKept).map { TimedTag(number: $0, seconds: seconds) }
    lost = Array((gone + stay).prefix(Self.lostKept))
  }

  /// The column `tag_times` for some tags, ascending; nil for none.
  func times(of tags: [UInt32]) -> [UInt8]? {
    tags.isEmpty ? nil : Self.encode(tags.map { bound[$0] ?? 0 })
  }

  /// The column `lost_tags`; nil for none.
  var lostColumn: [UInt8]? { lost.isEmpty ? nil : Self.encode(lost.flatMap { [$0.number, $0.seconds] }) }

  static func encode(_ numbers: [UInt32]) -> [UInt8] {
    var writer = ByteWriter(capacity: numbers.count * 4)
    for number in numbers { writer.write(number) }
    return writer.bytes
  }
}
