import PushDomain
import PushHTTP2

/// Events of the server.
extension APNsConnection {
  /// Responses of APNs have some hundred bytes; more is not kept.
  private static var bodyLimit: Int { 4 << 10 }
  /// After this many consecutive responses with status 500 or above, another connection is tried.
  private static var mostServerErrors: Int { 5 }

  func take(_ event: HTTP2Event) {
    switch event {
    case .headers(let stream, let headers): takeHeaders(stream.context, headers)
    case .data(let stream, let bytes): takeBody(stream.context, bytes)
    case .end(let stream): takeEnd(stream.context)
    case .closed(let stream, let code): takeClose(stream, code)
    case .settings(let settings): takeSettings(settings)
    case .goAway(let last, let code, let debug): takeGoAway(last, code, debug)
    case .settingsAcknowledged, .ping, .pong, .priority, .violation, .ignoredStream: break
    }
  }

  private func takeSettings(_ settings: HTTP2PeerSettings) {
    limit = Int(min(settings.maxConcurrentStreams, 1 << 20))
    guard phase == .settling else { return }
    phase = .ready
    lastUse = driver.now
    pool.becameReady(self)
  }

  private func takeHeaders(_ slot: UInt32, _ headers: HTTP2Headers) {
    // Informational responses come before the real one, trailers after it.
    guard flights[slot].status == 0, let status = headers.status, status >= 200 else { return }
    flights[slot].status = status
    flights[slot].uniqueID = headers.text("apns-unique-id").map { String($0.prefix(64)) }
    flights[slot].retryAfter = headers.text("retry-after").flatMap { Int64($0) }
  }

  private func takeBody(_ slot: UInt32, _ bytes: [UInt8]) {
    guard flights[slot].status != 200, flights[slot].body.count + bytes.count <= Self.bodyLimit else {
      return
    }
    flights[slot].body.append(contentsOf: bytes)
  }

  private func takeEnd(_ slot: UInt32) {
    let flight = flights[slot]
    guard !flight.isReported, flight.status > 0 else { return }
    var answer =
      flight.status == 200
      ? APNsAnswer(status: 200) : APNsAnswer(status: flight.status, body: flight.body)
    answer.retryAfter = flight.retryAfter.map { min(max($0, 0), APNsAnswer.longestRetryAfter) }
    report(slot, .answered(answer, uniqueID: flight.uniqueID))
    judge(answer)
  }

  private func takeClose(_ stream: HTTP2Stream, _ code: HTTP2ErrorCode) {
    let slot = stream.context
    if !flights[slot].isReported {
      // nghttp2 closes the streams above a GOAWAY's last one as if each had been refused.
      let isNotSent = goAwayLast.map { stream.id > $0 } ?? false
      report(slot, code != .refusedStream ? .unknown : isNotSent ? .notSent : .refused)
    }
    flights.remove(slot)
    pool.markDirty(self)
  }

  private func takeGoAway(_ last: Int32, _ code: HTTP2ErrorCode, _ debug: [UInt8]) {
    let text = String(decoding: debug.prefix(256), as: UTF8.self)
    goAwayLast = last
    if phase == .settling || phase == .ready { pool.goingAway(self, code, text) }
    retire()
  }

  /// Evaluates what a response says about the connection.
  private func judge(_ answer: APNsAnswer) {
    serverErrorsInRow = answer.status >= 500 ? serverErrorsInRow + 1 : 0
    switch answer.knownReason {
    case .expiredProviderToken, .tooManyProviderTokenUpdates, .unrelatedKeyIdInToken, .idleTimeout, .shutdown:
      // Such a connection responds the same, or nothing, for a long time.
      giveUp()
    default:
      if serverErrorsInRow >= Self.mostServerErrors {
        giveUp()
      } else if answer.status < 500, !isProven {
        isProven = true
        pool.proven()
      }
    }
  }

  private func giveUp() {
    guard phase == .ready else { return }
    pool.gaveUp(self)
    retire()
  }
}
