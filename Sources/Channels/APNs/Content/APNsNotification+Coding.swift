import BorealisBase
import Model

extension APNsNotification {
  /// What the database keeps of a push's notifications: their number in one byte, then each.
  static func encode(_ notifications: [APNsNotification]) -> [UInt8] {
    var writer = ByteWriter(capacity: notifications.reduce(1) { $0 + 128 + $1.payload.text.count })
    writer.write(UInt8(truncatingIfNeeded: notifications.count))
    for notification in notifications { notification.encode(into: &writer) }
    return writer.bytes
  }

  /// Reads what `encode` wrote: one notification for each kind of token, in the order of kinds; nil for
  /// anything else.
  static func decode(_ bytes: [UInt8]) -> [APNsNotification]? {
    var reader = ByteReader(bytes)
    guard let count = reader.read(UInt8.self), count > 0 else { return nil }
    var notifications: [APNsNotification] = []
    for _ in 0..<count {
      guard let notification = APNsNotification(&reader) else { return nil }
      if let last = notifications.last, last.slot.kind.rawValue >= notification.slot.kind.rawValue {
        return nil
      }
      notifications.append(notification)
    }
    return reader.remaining == 0 ? notifications : nil
  }

  /// Appends one: type, priority, service and flags (a byte each; bit 0 for one attempt, bit 1 for a brief
  /// call), the collapse ID (a byte for its kind; then a length byte and the bytes, or eight bytes), the
  /// badge (a byte for its kind, four bytes), the number of holes (a byte), each hole's value (a byte) and
  /// offset (four bytes), then the text after its length in four bytes. Of a Live Activity the kind of its
  /// token follows (a byte), and the token's name after its length in a byte.
  func encode(into writer: inout ByteWriter) {
    writer.write(type.rawValue)
    writer.write(priority.rawValue)
    writer.write(wish.rawValue)
    writer.write(UInt8((isOneAttempt ? 1 : 0) | (isBrief ? 2 : 0)))
    switch collapse {
    case .ownID: writer.write(UInt8(0))
    case .given(let bytes):
      writer.write(UInt8(1))
      writer.write(UInt8(truncatingIfNeeded: bytes.count))
      writer.write(bytes: bytes)
    case .id(let id):
      writer.write(UInt8(2))
      writer.write(id.rawValue)
    }
    let (kind, number): (UInt8, Int32) =
      switch badge {
      case .unchanged: (0, 0)
      case .set(let number): (1, number)
      case .add(let change): (2, change)
      }
    writer.write(kind)
    writer.write(number)
    writer.write(UInt8(truncatingIfNeeded: payload.holes.count))
    for hole in payload.holes {
      writer.write(hole.value.rawValue)
      writer.write(UInt32(truncatingIfNeeded: hole.offset))
    }
    writer.write(UInt32(truncatingIfNeeded: payload.text.count))
    writer.write(bytes: payload.text)
    guard slot.kind.isNamed else { return }
    writer.write(slot.kind.rawValue)
    writer.write(UInt8(truncatingIfNeeded: slot.name.utf8.count))
    writer.write(bytes: slot.name.utf8)
  }

  /// Reads what `encode` wrote; nil for anything else.
  init?(_ reader: inout ByteReader) {
    guard let type = reader.read().flatMap({ APNsPushType(rawValue: $0) }),
      let priority = reader.read().flatMap({ APNsPriority(rawValue: $0) }),
      let wish = reader.read().flatMap({ APNsEnvironment(rawValue: $0) }),
      let flags = reader.read(UInt8.self), flags <= 3, let collapse = CollapseID(&reader),
      let badge = BadgeChange(&reader), let payload = APNsTemplate(&reader)
    else { return nil }
    var slot: APNsTokenSlot?
    if type == .liveActivity {
      guard let named = APNsTokenSlot(named: &reader) else { return nil }
      slot = named
    }
    self.init(
      type: type, slot: slot, priority: priority, wish: wish, isOneAttempt: flags & 1 != 0,
      isBrief: flags & 2 != 0, collapse: collapse,
      badge: badge,
      payload: payload)
  }
}

extension APNsTokenSlot {
  fileprivate init?(named reader: inout ByteReader) {
    guard let kind = reader.read().flatMap({ APNsTokenKind(rawValue: $0) }),
      let count = reader.read(UInt8.self), let bytes = reader.read(count: Int(count)),
      let name = String(validating: bytes, as: UTF8.self)
    else { return nil }
    self.init(kind, name: name)
  }
}

extension APNsNotification.CollapseID {
  fileprivate init?(_ reader: inout ByteReader) {
    switch reader.read(UInt8.self) {
    case 0: self = .ownID
    case 1:
      guard let count = reader.read(UInt8.self), let bytes = reader.read(count: Int(count)) else {
        return nil
      }
      self = .given(bytes)
    case 2:
      guard let id = reader.read(UInt64.self) else { return nil }
      self = .id(MessageID(id))
    default: return nil
    }
  }
}

extension BadgeChange {
  fileprivate init?(_ reader: inout ByteReader) {
    guard let kind = reader.read(UInt8.self), let number = reader.read(Int32.self) else { return nil }
    switch kind {
    case 0 where number == 0: self = .unchanged
    case 1: self = .set(number)
    case 2: self = .add(number)
    default: return nil
    }
  }
}

extension APNsTemplate {
  fileprivate init?(_ reader: inout ByteReader) {
    guard let count = reader.read(UInt8.self) else { return nil }
    var holes: [Hole] = []
    for _ in 0..<count {
      guard let value = reader.read().flatMap({ Value(rawValue: $0) }), let offset = reader.read(UInt32.self)
      else { return nil }
      holes.append(Hole(at: Int(offset), for: value))
    }
    guard let size = reader.read(UInt32.self), let text = reader.read(count: Int(size)) else { return nil }
    self.init(text: text, holes: holes)
  }
}
