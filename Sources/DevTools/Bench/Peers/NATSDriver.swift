/// NATS' client protocol.
final class NATSDriver: PubSubDriver {
  private(set) var readyCount = 0
  private(set) var lostCount = 0
  var board: ArrivalBoard
  let heartbeat = Array("PING\r\n".utf8)

  private let subscribes: Bool
  private var sender: Link?
  private var greeted: [Bool]

  /// Without `subscribes` a receiver is ready when its CONNECT is answered.
  init(receivers: Int, subscribes: Bool = true) {
    board = ArrivalBoard(receivers: receivers)
    greeted = [Bool](repeating: false, count: receivers)
    self.subscribes = subscribes
  }

  func opened(_ link: Link, _ client: LoadClient) {
    let connect = "CONNECT {\"verbose\":false,\"pedantic\":false}\r\n"
    if link.member == Link.sender {
      sender = link
      client.send(link, Array(connect.utf8))
    } else {
      greeted[link.member] = false
      client.send(link, Array((connect + (subscribes ? "SUB b 1\r\n" : "") + "PING\r\n").utf8))
    }
  }

  func received(_ link: Link, _ bytes: Span<UInt8>, _ client: LoadClient) -> Int {
    var used = 0
    while let end = Self.lineEnd(bytes, at: used) {
      // MSG, PING and PONG differ within two bytes; INFO and +OK need no answer.
      switch (bytes[used], bytes[used + 1]) {
      case (UInt8(ascii: "M"), _):
        let size = Self.lastNumber(bytes, before: end - 2)
        guard bytes.count - end >= size + 2 else { return used }
        board.arrived(at: link.member, bytes, end..<end + size)
        used = end + size + 2
        continue
      case (UInt8(ascii: "P"), UInt8(ascii: "I")): client.send(link, Array("PONG\r\n".utf8))
      case (UInt8(ascii: "P"), _) where link.member != Link.sender && !greeted[link.member]:
        greeted[link.member] = true
        readyCount += 1
      default: break
      }
      used = end
    }
    return used
  }

  func closed(_ link: Link, _ client: LoadClient) { lostCount += 1 }

  func broadcast(_ payload: [UInt8], _ client: LoadClient) {
    if let sender { client.send(sender, Array("PUB b \(payload.count)\r\n".utf8) + payload + [13, 10]) }
  }

  /// Where the line after the one at `start` begins.
  private static func lineEnd(_ bytes: Span<UInt8>, at start: Int) -> Int? {
    var index = start + 1
    while index < bytes.count {
      if bytes[index] == 10 { return index + 1 }
      index += 1
    }
    return nil
  }

  private static func lastNumber(_ bytes: Span<UInt8>, before end: Int) -> Int {
    var value = 0
    var place = 1
    var index = end - 1
    while index >= 0, case 48...57 = bytes[index] {
      value &+= Int(bytes[index] - 48) &* place
      place &*= 10
      index -= 1
    }
    return value
  }
}
