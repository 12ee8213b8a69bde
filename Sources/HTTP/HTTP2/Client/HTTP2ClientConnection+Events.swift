/// Events of the server.
extension HTTP2ClientConnection {
  func handle(_ event: HTTP2Event) {
    switch event {
    case .headers(let stream, let headers): handleHeaders(stream.context, headers)
    case .data(let stream, let bytes): handleBody(stream.context, bytes)
    case .end(let stream): handleEnd(stream.context)
    case .closed(let stream, let code): handleClose(stream, code)
    case .settings(let settings): handleSettings(settings)
    case .goAway(let last, let code, let debug): handleGoAway(last, code, debug)
    case .settingsAcknowledged, .ping, .pong, .priority, .violation, .ignoredStream: break
    }
  }

  private func handleSettings(_ settings: HTTP2PeerSettings) {
    limit = Int(min(settings.maxConcurrentStreams, 1 << 20))
    guard phase == .settling else { return }
    phase = .ready
    lastUse = driver.now
    pool.becameReady(self)
  }

  private func handleHeaders(_ slot: UInt32, _ headers: HTTP2Headers) {
    // Informational responses come before the real one, trailers after it.
    guard flights[slot].status == 0, let status = headers.status, status >= 200 else { return }
    flights[slot].status = status
    flights[slot].headers = headers
  }

  private func handleBody(_ slot: UInt32, _ bytes: [UInt8]) {
    let room = configuration.keptBytes - flights[slot].body.count
    flights[slot].received += bytes.count
    if room > 0 { flights[slot].body.append(contentsOf: bytes.prefix(room)) }
    guard flights[slot].received > configuration.mostBytes, !flights[slot].isReported else { return }
    handleEnd(slot)
    try? transport?.session.reset(flights[slot].streamID, .cancel)
  }

  private func handleEnd(_ slot: UInt32) {
    guard !flights[slot].isReported, flights[slot].status > 0 else { return }
    let response = HTTP2Response(
      status: flights[slot].status, headers: flights[slot].headers, body: flights[slot].body)
    report(slot, .answered(response))
    judge(response)
  }

  private func handleClose(_ stream: HTTP2Stream, _ code: HTTP2ErrorCode) {
    let slot = stream.context
    if !flights[slot].isReported {
      // nghttp2 closes the streams above a GOAWAY's last one as if each had been refused.
      let isNotSent = goAwayLast.map { stream.id > $0 } ?? false
      report(slot, code != .refusedStream ? .unknown : isNotSent ? .notSent : .refused)
    }
    flights.remove(slot)
    pool.markDirty(self)
  }

  private func handleGoAway(_ last: Int32, _ code: HTTP2ErrorCode, _ debug: [UInt8]) {
    let text = String(decoding: debug.prefix(256), as: UTF8.self)
    goAwayLast = last
    if phase == .settling || phase == .ready { pool.goingAway(self, code, text) }
    retire()
  }

  /// Evaluates what a response says about the connection.
  private func judge(_ response: HTTP2Response) {
    serverErrorsInRow = response.status >= 500 ? serverErrorsInRow + 1 : 0
    if pool.source.isUseless(after: response) || serverErrorsInRow >= configuration.mostServerErrors {
      giveUp()
    } else if response.status < 500, !isProven {
      isProven = true
      pool.proven()
    }
  }

  private func giveUp() {
    guard phase == .ready else { return }
    pool.gaveUp(self)
    retire()
  }
}
