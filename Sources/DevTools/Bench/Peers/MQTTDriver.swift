/// MQTT 3.1.1 (OASIS standard) with QoS 0, for mosquitto.
final class MQTTDriver: PubSubDriver {
  private(set) var readyCount = 0
  private(set) var lostCount = 0
  var board: ArrivalBoard
  let heartbeat: [UInt8] = [0xC0, 0]

  private let subscribes: Bool
  private var sender: Link?
  private static let topic = Array("b".utf8)

  /// Without `subscribes` a receiver is ready when its CONNECT is answered.
  init(receivers: Int, subscribes: Bool = true) {
    board = ArrivalBoard(receivers: receivers)
    self.subscribes = subscribes
  }

  func opened(_ link: Link, _ client: LoadClient) {
    let name = Array(link.member == Link.sender ? "sender".utf8 : "r\(link.member)".utf8)
    // Protocol level 4, clean session, keep-alive of 600 s (section 3.1.2).
    let header: [UInt8] = [0, 4, 0x4D, 0x51, 0x54, 0x54, 4, 2, 0x02, 0x58]
    var bytes = Self.packet(0x10, header + Self.counted(name))
    if link.member == Link.sender {
      sender = link
    } else if subscribes {
      bytes += Self.packet(0x82, [0, 1] + Self.counted(Self.topic) + [0])
    }
    client.send(link, bytes)
  }

  func received(_ link: Link, _ bytes: Span<UInt8>, _ client: LoadClient) -> Int {
    var used = 0
    while let (body, end) = Self.scan(bytes, at: used) {
      switch bytes[used] >> 4 {
      case 2 where !subscribes, 9: if link.member != Link.sender { readyCount += 1 }
      case 3:
        let content = body.lowerBound + 2 + Self.topic.count
        if content <= end { board.arrived(at: link.member, bytes, content..<end) }
      default: break
      }
      used = end
    }
    return used
  }

  func closed(_ link: Link, _ client: LoadClient) { lostCount += 1 }

  func broadcast(_ payload: [UInt8], _ client: LoadClient) {
    if let sender { client.send(sender, Self.packet(0x30, Self.counted(Self.topic) + payload)) }
  }

  /// The packet at an index, nil while it is incomplete.
  private static func scan(_ bytes: Span<UInt8>, at start: Int) -> (body: Range<Int>, end: Int)? {
    var length = 0
    var index = start + 1
    for place in 0..<4 {
      guard index < bytes.count else { return nil }
      length |= Int(bytes[index] & 0x7F) << (7 * place)
      index += 1
      if bytes[index - 1] < 0x80 { break }
    }
    guard bytes.count - index >= length else { return nil }
    return (index..<index + length, index + length)
  }

  private static func packet(_ first: UInt8, _ body: [UInt8]) -> [UInt8] {
    var bytes = [first]
    var length = body.count
    while length > 0x7F {
      bytes.append(UInt8(length & 0x7F) | 0x80)
      length >>= 7
    }
    bytes.append(UInt8(length))
    return bytes + body
  }

  private static func counted(_ bytes: [UInt8]) -> [UInt8] {
    [UInt8(truncatingIfNeeded: bytes.count >> 8), UInt8(truncatingIfNeeded: bytes.count)] + bytes
  }
}
