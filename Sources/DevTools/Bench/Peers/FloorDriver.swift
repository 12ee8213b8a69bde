/// Client of the `FloorServer`.
final class FloorDriver: PubSubDriver {
  private(set) var readyCount = 0
  private(set) var lostCount = 0
  var board: ArrivalBoard
  let heartbeat: [UInt8] = [0]

  private var sender: Link?
  private var greeted: [Bool]

  init(receivers: Int) {
    board = ArrivalBoard(receivers: receivers)
    greeted = [Bool](repeating: false, count: receivers)
  }

  func opened(_ link: Link, _ client: LoadClient) {
    guard link.member != Link.sender else {
      sender = link
      return client.send(link, [FloorServer.senderMark])
    }
    greeted[link.member] = false
    client.send(link, [FloorServer.receiverMark])
  }

  func received(_ link: Link, _ bytes: Span<UInt8>, _ client: LoadClient) -> Int {
    guard link.member != Link.sender else { return bytes.count }
    var used = 0
    if !greeted[link.member] {
      greeted[link.member] = true
      readyCount += 1
      used = 1
    }
    while bytes.count - used >= FloorServer.messageSize {
      board.arrived(at: link.member, bytes, used..<used + FloorServer.messageSize)
      used += FloorServer.messageSize
    }
    return used
  }

  func closed(_ link: Link, _ client: LoadClient) { lostCount += 1 }

  func broadcast(_ payload: [UInt8], _ client: LoadClient) {
    if let sender { client.send(sender, payload) }
  }
}
