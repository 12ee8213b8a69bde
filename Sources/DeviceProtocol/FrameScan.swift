/// What unread bytes start with.
public enum FrameScan: Hashable, Sendable {
  /// A whole frame: its type, where its body is, and where the next frame starts.
  case frame(type: FrameType, body: Range<Int>, end: Int)
  /// The frame is not complete yet.
  case needMore
  /// The bytes can never become a frame.
  case invalid(FrameError)
}

/// Looks for a frame at index `at` without copying or allocating. A length over `limit` is refused as soon as
/// it can be read, before the body has come; `limit` is `WireLimits.maxFrame` or
/// `WireLimits.maxFrameBeforeLogin`.
public func scanFrame(_ bytes: Span<UInt8>, at: Int, limit: Int) -> FrameScan {
  guard at >= 0 else { return .needMore }
  var length = 0
  var index = at
  while true {
    guard index < bytes.count else { return .needMore }
    let byte = bytes[index]
    let place = index - at
    length |= Int(byte & 0x7F) << (7 * place)
    index += 1
    if byte < 0x80 {
      if byte == 0 { return .invalid(place == 0 ? .emptyFrame : .lengthNotMinimal) }
      break
    }
    if place == WireLimits.maxLengthBytes - 1 { return .invalid(.lengthTooLong) }
  }
  guard length <= min(limit, WireLimits.maxFrame) else { return .invalid(.frameTooLarge) }
  guard bytes.count - index >= length else { return .needMore }
  let end = index + length
  return .frame(type: FrameType(rawValue: bytes[index]), body: index + 1..<end, end: end)
}
