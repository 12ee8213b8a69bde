import PushBase
import PushHTTP
import PushNet

extension HTTPServer {
  /// Whether bytes that came can be put to use: not while requests wait for the answer before them, nor while answers
  /// wait for the peer to read.
  private func wantsBytes(_ slot: UInt32) -> Bool { mayParse(slot) && slab[slot].work?.hasPending != true }

  private func mayParse(_ slot: UInt32) -> Bool {
    switch slab[slot].phase {
    case .idle, .reading: (slab[slot].work?.outgoingCount ?? 0) <= limits.outboundBytes
    case .handshaking, .answering, .closing, .lingering: false
    }
  }

  /// The socket is readable.
  func read(_ slot: UInt32) {
    // While a request is being answered one more read is taken, so that the peer's end is noticed.
    let isAnswering = slab[slot].phase == .answering && slab[slot].work?.hasPending != true
    guard !slab[slot].hasEnded, isAnswering || wantsBytes(slot) else {
      slab[slot].isPaused = true
      return
    }
    switch receive(slot) {
    case .bytes(let count):
      // Taken out for the call, so that it may use the whole server; nothing is copied.
      var bytes: [UInt8] = []
      swap(&bytes, &buffer)
      let taken = digest(slot, bytes.span.extracting(0..<count))
      if taken < count { keep(bytes[taken..<count], slot) }
      swap(&bytes, &buffer)
    case .blocked: break
    case .ended: end(slot)
    case .failed: close(slot)
    }
  }

  /// Goes on where an answer or the peer's slowness had stopped the parsing.
  func resume(_ slot: UInt32) {
    if let work = slab[slot].work, work.hasPending, mayParse(slot) {
      let bytes = work.pending
      work.pendingStart += digest(slot, bytes.span.extracting(work.pendingStart..<bytes.count))
      if !work.hasPending {
        work.pending = []
        work.pendingStart = 0
      }
    }
    guard slab[slot].descriptor >= 0, wantsBytes(slot) else { return }
    if slab[slot].hasEnded {
      end(slot)
    } else if slab[slot].isPaused {
      slab[slot].isPaused = false
      // The socket does not become readable for bytes that TLS holds already.
      if slab[slot].tls != nil { read(slot) }
    }
  }

  /// The peer sends nothing more. What it has asked for it may still get.
  private func end(_ slot: UInt32) {
    slab[slot].hasEnded = true
    switch slab[slot].phase {
    case .reading:
      metrics.refusedRequests.add()
      finish(slot)
    case .idle where slab[slot].work?.hasPending != true: finish(slot)
    case .idle, .answering, .handshaking, .closing, .lingering: break
    }
  }

  /// Parses bytes and hands over the requests in them, as far as they need not wait. Returns how many bytes are done
  /// with.
  private func digest(_ slot: UInt32, _ bytes: Span<UInt8>) -> Int {
    let generation = slab[slot].generation
    var start = 0
    while start < bytes.count, mayParse(slot) {
      start += advance(slot, bytes, from: start)
      guard slab.isCurrent(slot, generation) else { return bytes.count }
    }
    return start
  }

  /// Keeps bytes for later; those behind the last request of a connection are of no use.
  private func keep(_ bytes: ArraySlice<UInt8>, _ slot: UInt32) {
    switch slab[slot].phase {
    case .idle, .reading, .answering: work(slot).pending.append(contentsOf: bytes)
    case .handshaking, .closing, .lingering: break
    }
  }

  /// Gives bytes to the parser once and does what it says. Returns how many it took.
  private func advance(_ slot: UInt32, _ bytes: Span<UInt8>, from start: Int) -> Int {
    let work = work(slot)
    let (count, event) = work.parser.consume(bytes, from: start)
    switch event {
    case .needMore: noteProgress(slot, work)
    case .needsContinue:
      noteProgress(slot, work)
      guard slab[slot].phase == .reading, !turnAway(slot, work) else { break }
      // A client that sends the body at once does not wait (RFC 9110 section 10.1.1).
      if start + count == bytes.count {
        work.outgoing += HTTPResponse.continueBytes
        markDirty(slot)
      }
    case .request(let request):
      serve(request, slot, work, rest: bytes.extracting((start + count)..<bytes.count))
    case .failure(let fault): refuse(fault, slot)
    }
    return count
  }

  /// Header and body have deadlines of their own, each set once: trickling bytes do not extend them.
  private func noteProgress(_ slot: UInt32, _ work: HTTPWork) {
    if work.parser.isIdle {
      if slab[slot].phase == .reading { enter(.idle, slot) }
      return
    }
    if slab[slot].phase == .idle { enter(.reading, slot) }
    if !work.readsBody, work.parser.isInBody {
      work.readsBody = true
      setDeadline(slot, after: limits.bodySeconds)
    }
    if work.parser.bodySize > limits.unscreenedBytes, turnAway(slot, work) { return }
    if work.parser.isInLargeBody, !hasRoom(slot, work) { return refuse(.busy, slot) }
  }

  /// Whether there is room for as much of a large body as is announced.
  private func hasRoom(_ slot: UInt32, _ work: HTTPWork) -> Bool {
    let place = work.largeBody ?? largeBodies.place(for: sender(slot, work))
    work.largeBody = place
    return place.hold(work.parser.bodySize)
  }

  /// The network that the request under way comes from.
  private func sender(_ slot: UInt32, _ work: HTTPWork) -> PeerNetwork {
    guard let client, let head = work.parser.head, let address = client(head, slab[slot].peer) else {
      return slab[slot].network
    }
    return PeerNetwork(of: address)
  }

  private func serve(_ request: HTTPRequest, _ slot: UInt32, _ work: HTTPWork, rest: Span<UInt8>) {
    work.readsBody = false
    work.isScreened = false
    let place = work.largeBody
    work.largeBody = nil
    work.requestID = requestID(request.headers["x-request-id"])
    work.keepAlive = request.keepAlive
    work.headOnly = request.method == "HEAD"
    work.minorVersion = request.minorVersion
    work.started = time.monotonic()
    slab[slot].number &+= 1
    enter(.answering, slot)
    if let upgrade = upgrade?(request, slab[slot].peer) {
      perform(upgrade, slot, work, rest: rest)
      return
    }
    let exchange = HTTPExchange(
      requestID: work.requestID, peer: slab[slot].peer, loop: loop.handle.index, token: token(slot),
      number: slab[slot].number, largeBody: place, answers: answers)
    if let answer = answers.handling({ handler(request, exchange) }) { take(answer) }
  }
}
