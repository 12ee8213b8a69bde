import BorealisBase

/// A payload with holes for what differs from device to device or is known only when the push is stored.
/// Filling it is a few copies, without any work on JSON.
package struct APNsTemplate: Equatable, Sendable {
  /// The value of a hole: a whole number in decimal digits. The raw values are stored in the database.
  package enum Value: UInt8, CaseIterable, Sendable {
    /// The number on the app's icon.
    case badge = 1
    /// The ID of the push.
    case messageID = 2
    /// When the push was accepted, in Unix seconds.
    case timestamp = 3

    /// The most digits that can come: badges keep `BadgeChange.range`, message IDs stay below 2^53.
    var maximumDigits: Int {
      switch self {
      case .badge: 5
      case .messageID: 16
      case .timestamp: 10
      }
    }
  }

  /// A place in the text.
  package struct Hole: Equatable, Sendable {
    /// How many bytes of the text come before.
    package let offset: Int
    /// What goes there.
    package let value: Value

    /// Makes a hole.
    package init(at offset: Int, for value: Value) {
      self.offset = offset
      self.value = value
    }
  }

  /// The JSON without the numbers.
  package let text: [UInt8]
  /// The holes in ascending order, at most one for each value.
  package let holes: [Hole]

  /// Makes a template; nil if the holes are not in ascending order, are outside of the text or have the same
  /// value.
  package init?(text: [UInt8], holes: [Hole]) {
    var end = 0
    for (index, hole) in holes.enumerated() {
      guard hole.offset >= end, hole.offset <= text.count else { return nil }
      guard !holes[..<index].contains(where: { $0.value == hole.value }) else { return nil }
      end = hole.offset
    }
    self.text = text
    self.holes = holes
  }

  /// Bytes of the payload if every hole is filled with its largest number.
  package var maximumBytes: Int { holes.reduce(text.count) { $0 + $1.value.maximumDigits } }

  /// Whether the payload has a place for a value.
  package func has(_ value: Value) -> Bool { holes.contains { $0.value == value } }

  /// Appends the payload of one device. Keep the buffer from device to device and empty it with
  /// `removeAll(keepingCapacity: true)`: then nothing is allocated. `badge` counts only if there is a hole
  /// for it.
  package func render(messageID: MessageID, badge: Int64, into buffer: inout [UInt8]) {
    var start = 0
    for hole in holes {
      buffer.append(contentsOf: text[start..<hole.offset])
      start = hole.offset
      switch hole.value {
      case .badge: Self.append(UInt64(clamping: badge), to: &buffer)
      case .messageID: Self.append(messageID.rawValue, to: &buffer)
      case .timestamp: Self.append(UInt64(clamping: messageID.time.seconds), to: &buffer)
      }
    }
    buffer.append(contentsOf: text[start...])
  }

  private static func append(_ number: UInt64, to buffer: inout [UInt8]) {
    var divisor: UInt64 = 1
    while number / divisor >= 10 { divisor *= 10 }
    while divisor > 0 {
      buffer.append(UInt8(truncatingIfNeeded: 48 + number / divisor % 10))
      divisor /= 10
    }
  }
}
