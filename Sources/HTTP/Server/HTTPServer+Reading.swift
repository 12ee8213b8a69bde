import BorealisBase
import BorealisNet

extension HTTPServer {
  /// The socket is readable.
  func read(_ slot: UInt32) {
    // While a request is being answered, one more read is done to notice the peer's end.
    let isAnswering = table.slab[slot].phase == .answering && table.slab[slot].work?.hasPending != true
    guard !table.slab[slot].connection.hasEnded, isAnswering || wantsBytes(slot) else {
      table.slab[slot].connection.isPaused = true
      return
    }
    switch table.slab[slot].connection.read(into: &buffer) {
    case .bytes(let count):
      if table.slab[slot].connection.hasUnread {
        table.slab[slot].connection.isPaused = true
        markDirty(slot)
      }
      // Moved out for the call, so that it may use the whole server; nothing is copied.
      var bytes: [UInt8] = []
      swap(&bytes, &buffer)
      let taken = digest(slot, bytes.span.extracting(0..<count))
      if taken < count, table.slab[slot].keepsBytes {
        table.work(slot).pending.append(contentsOf: bytes[taken..<count])
      }
      swap(&bytes, &buffer)
    case .nothing: break
    case .ended: end(slot)
    case .failed: close(slot)
    }
  }

  /// Continues parsing where an answer or a slow peer had stopped it.
  func resume(_ slot: UInt32) {
    if let work = table.slab[slot].work, work.hasPending, table.slab[slot].mayParse(limits) {
      let bytes = work.pending
      work.pendingStart += digest(slot, bytes.span.extracting(work.pendingStart..<bytes.count))
      if !work.hasPending {
        work.pending = []
        work.pendingStart = 0
      }
    }
    guard table.slab[slot].isOpen, wantsBytes(slot) else { return }
    if table.slab[slot].connection.hasEnded {
      end(slot)
    } else if table.slab[slot].connection.isPaused {
      table.slab[slot].connection.isPaused = false
      // The socket does not become readable for bytes that TLS has buffered.
      if table.slab[slot].connection.hasUnread { read(slot) }
    }
  }

  /// The peer sends nothing more, but still gets its answers.
  private func end(_ slot: UInt32) {
    switch table.slab[slot].phase {
    case .reading:
      metrics.refusedRequests.add()
      finish(slot)
    case .idle where table.slab[slot].work?.hasPending != true: finish(slot)
    case .idle, .answering, .handshaking, .closing, .lingering: break
    }
  }

  /// Parses bytes and passes on the requests that need not wait. Returns how many bytes were consumed.
  private func digest(_ slot: UInt32, _ bytes: Span<UInt8>) -> Int {
    let generation = table.slab[slot].generation
    var start = 0
    while start < bytes.count, table.slab[slot].mayParse(limits) {
      start += advance(slot, bytes, from: start)
      guard table.isCurrent(slot, generation) else { return bytes.count }
    }
    return start
  }

  /// Passes bytes to the parser once and handles its event. Returns how many were consumed.
  private func advance(_ slot: UInt32, _ bytes: Span<UInt8>, from start: Int) -> Int {
    let work = table.work(slot)
    let (count, event) = work.parser.consume(bytes, from: start)
    switch event {
    case .needMore: noteProgress(slot, work)
    case .needsContinue:
      // A client that sends the body at once does not wait (RFC 9110 section 10.1.1).
      let isWaiting = start + count == bytes.count
      noteProgress(slot, work, wantsContinue: isWaiting)
      guard table.slab[slot].phase == .reading, work.asked == nil,
        !turnAway(slot, work, wantsContinue: isWaiting)
      else { break }
      if isWaiting { sendContinue(slot) }
    case .request(let request):
      serve(request, slot, work, rest: bytes.extracting((start + count)..<bytes.count))
    case .failure(let fault): refuse(fault, slot)
    }
    return count
  }

  func sendContinue(_ slot: UInt32) {
    table.slab[slot].connection.append { $0 += HTTPResponse.continueBytes }
    markDirty(slot)
  }

  private func noteProgress(_ slot: UInt32, _ work: HTTPWork, wantsContinue: Bool = false) {
    table.slab[slot].noteProgress(limits, second: Self.second(loop.now))
    if work.parser.bodySize > limits.unscreenedBytes {
      _ = turnAway(slot, work, wantsContinue: wantsContinue)
    }
  }

  private func serve(_ request: HTTPRequest, _ slot: UInt32, _ work: HTTPWork, rest: Span<UInt8>) {
    switch HTTPDelay(loop.unreadFor, of: table.slab[slot].connection) {
    case .clientHasLeft: return close(slot)
    case .tooLong: return refuse(.unserved, slot)
    case nil: break
    }
    work.requestID = stamps.requestID(request.headers["x-request-id"])
    guard admission.needsScreening(request, over: table.slab[slot], work) else {
      return serve(request, nil, slot, work, rest: rest)
    }
    if ask(about: request, work.requestID, slot) {
      work.asked = .whole(request)
      enter(.reading, slot)
      table.slab[slot].deadline = Self.second(loop.now) &+ limits.bodySeconds &+ 1
      return
    }
    let screening = admission.look(at: request, work.requestID, over: table.slab[slot], work)
    serve(request, screening, slot, work, rest: rest)
  }

  /// Passes a request to its handler after its screening, which is nil if it needs none.
  func serve(
    _ request: HTTPRequest, _ screening: HTTPScreening?, _ slot: UInt32, _ work: HTTPWork, rest: Span<UInt8>
  ) {
    if case .admitted(let bodyBytes, _)? = screening, request.body.count > bodyBytes {
      work.forgetRequest()
      return refuse(.bodyTooLarge, slot)
    }
    let isBusy = !admission.hasRoom(for: request.body.capacity, of: table.slab[slot], work)
    let share = work.share
    let isKnown = work.isKnown || table.slab[slot].isKnown && !admission.peersActForOthers
    work.forgetRequest()
    guard !isBusy else { return refuse(.busy, slot) }
    work.keepAlive = request.keepAlive
    work.begin(request, work.requestID, overTLS: tls != nil)
    work.started = time.monotonic()
    table.slab[slot].number &+= 1
    enter(.answering, slot)
    if case .refused(let answer)? = screening {
      return handle(HTTPAnswers.Answer(token: token(slot), number: table.slab[slot].number, response: answer))
    }
    // The bytes that leave with a connection count for no network.
    let mayLeave = table.slab[slot].connection.queue.byteCount <= limits.uncountedBytes / 2
    guard mayLeave || request.headers["upgrade"] == nil else { return refuse(.busy, slot) }
    if mayLeave, let upgrade = upgrade?(request, table.slab[slot].peer) {
      perform(upgrade, slot, work, rest: rest)
      return
    }
    let exchange = HTTPExchange(
      requestID: work.requestID, peer: table.slab[slot].peer, loop: loop.handle.index, isKnown: isKnown,
      duty: AnswerDuty(token: token(slot), number: table.slab[slot].number, share: share, answers: answers))
    if let answer = answers.handling({ handler(request, exchange) }) { handle(answer) }
  }
}
