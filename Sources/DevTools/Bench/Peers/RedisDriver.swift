/// Redis' publish and subscribe over RESP2.
final class RedisDriver: PubSubDriver {
  private(set) var readyCount = 0
  private(set) var lostCount = 0
  var board: ArrivalBoard
  let heartbeat = RedisDriver.command([Array("PING".utf8)])

  private let subscribes: Bool
  private var sender: Link?
  private static let channel = Array("b".utf8)

  /// Without `subscribes` a receiver is ready when a PING is answered.
  init(receivers: Int, subscribes: Bool = true) {
    board = ArrivalBoard(receivers: receivers)
    self.subscribes = subscribes
  }

  func opened(_ link: Link, _ client: LoadClient) {
    if link.member == Link.sender {
      sender = link
    } else {
      client.send(link, subscribes ? Self.command([Array("SUBSCRIBE".utf8), Self.channel]) : heartbeat)
    }
  }

  func received(_ link: Link, _ bytes: Span<UInt8>, _ client: LoadClient) -> Int {
    var used = 0
    while let (parts, last, end) = Self.scan(bytes, at: used) {
      if link.member != Link.sender { handle(link, bytes, used, parts, last) }
      used = end
    }
    return used
  }

  private func handle(_ link: Link, _ bytes: Span<UInt8>, _ start: Int, _ parts: Int, _ last: Range<Int>) {
    // "*3 $7 message" or "*3 $9 subscribe"; anything else answers a PING.
    guard parts == 3 else {
      if !subscribes { readyCount += 1 }
      return
    }
    if bytes[start + 5] == UInt8(ascii: "7") {
      board.arrived(at: link.member, bytes, last)
    } else {
      readyCount += 1
    }
  }

  func closed(_ link: Link, _ client: LoadClient) { lostCount += 1 }

  func broadcast(_ payload: [UInt8], _ client: LoadClient) {
    if let sender { client.send(sender, Self.command([Array("PUBLISH".utf8), Self.channel, payload])) }
  }

  /// The reply at an index: how many parts it has, and the range of the last one. Nil while it is incomplete.
  private static func scan(_ bytes: Span<UInt8>, at start: Int) -> (parts: Int, last: Range<Int>, end: Int)? {
    guard start < bytes.count else { return nil }
    var parts = 1
    var index = start
    if bytes[start] == UInt8(ascii: "*") {
      guard let (count, next) = number(bytes, at: start + 1) else { return nil }
      parts = count
      index = next
    }
    var last = index..<index
    for _ in 0..<parts {
      guard index < bytes.count else { return nil }
      let isBulk = bytes[index] == UInt8(ascii: "$")
      guard let (count, next) = number(bytes, at: index + 1) else { return nil }
      index = next
      if isBulk {
        last = index..<index + max(0, count)
        index = last.upperBound + 2
        guard index <= bytes.count else { return nil }
      }
    }
    return (parts, last, index)
  }

  /// The number of a line, 0 for a text, and where the next line starts.
  private static func number(_ bytes: Span<UInt8>, at start: Int) -> (value: Int, next: Int)? {
    var value = 0
    var index = start
    while index + 1 < bytes.count {
      if bytes[index] == 13 { return (value, index + 2) }
      if case 48...57 = bytes[index] { value = value &* 10 &+ Int(bytes[index] - 48) }
      index += 1
    }
    return nil
  }

  private static func command(_ words: [[UInt8]]) -> [UInt8] {
    var bytes = Array("*\(words.count)\r\n".utf8)
    for word in words { bytes += Array("$\(word.count)\r\n".utf8) + word + [13, 10] }
    return bytes
  }
}
