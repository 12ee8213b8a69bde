import BorealisBase
import HTTP
import Model

/// The 128-bit ID of one notification to APNs, sent as a UUID in lower case (`apns-id`).
package struct APNsID: Hashable, Sendable, CustomStringConvertible {
  /// The first eight bytes.
  package let high: UInt64
  /// The last eight bytes.
  package let low: UInt64

  /// Makes an ID.
  package init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// Appends the 36 characters of the UUID as ASCII to `bytes`.
  func write(to bytes: inout [UInt8]) {
    for nibble in 0..<32 {
      if nibble == 8 || nibble == 12 || nibble == 16 || nibble == 20 { bytes.append(45) }
      let half = nibble < 16 ? high : low
      bytes.append(Hex.character(UInt8(truncatingIfNeeded: half >> UInt64(60 - 4 * (nibble % 16))) & 15))
    }
  }

  /// The UUID in its usual form.
  package var description: String {
    var bytes: [UInt8] = []
    write(to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }
}

/// One notification for one device.
package struct APNsRequest: Sendable {
  /// The caller's own number, which the result carries.
  package var tag: UInt64
  /// The device token in binary form.
  package var deviceToken: [UInt8]
  /// The topic with its suffix.
  package var topic: String
  /// The kind of push.
  package var type: APNsPushType
  package var priority: APNsPriority
  /// Until when APNs keeps it, Unix seconds; 0 for one attempt, nil for the default of APNs.
  package var expiration: Int64?
  /// At most 64 bytes; empty for none. A later push with the same ID replaces the first.
  package var collapseID: [UInt8]
  /// The ID of the push in responses and logs of APNs; the same in each attempt.
  package var id: APNsID
  /// The payload, JSON in UTF-8.
  package var payload: [UInt8]

  /// Makes a request.
  package init(
    tag: UInt64, deviceToken: [UInt8], topic: String, type: APNsPushType = .alert,
    priority: APNsPriority = .immediate, expiration: Int64? = nil, collapseID: [UInt8] = [], id: APNsID,
    payload: [UInt8]
  ) {
    self.tag = tag
    self.deviceToken = deviceToken
    self.topic = topic
    self.type = type
    self.priority = priority
    self.expiration = expiration
    self.collapseID = collapseID
    self.id = id
    self.payload = payload
  }
}

/// The result of a request. Every request that was taken gets exactly one.
package enum APNsResult: Equatable, Sendable {
  /// APNs responded. `uniqueID` is `apns-unique-id`, which only the sandbox sends: the key to the log in
  /// Apple's console.
  case answered(APNsAnswer, uniqueID: String? = nil)
  /// APNs has certainly not processed it: it was not sent completely, or its stream was above the last one of
  /// a GOAWAY. It may be sent again immediately: the pool backs off if connections fail.
  case notSent
  /// APNs refused only its stream and has not processed it: it may be sent again, but not in a busy loop.
  case refused
  /// It was sent and there was no response: the connection was lost, the stream reset, or the time limit
  /// passed. It may have been delivered.
  case unknown
}

/// A result with the number of the request it belongs to.
package struct APNsResultEntry: Sendable {
  /// The request's `tag`.
  package let tag: UInt64
  /// The outcome.
  package let result: APNsResult
}

/// Supplies a pool with requests and takes their results. The calls come on the thread of the pool's loop and
/// must not block; those of one pool never overlap.
package protocol APNsSource: AnyObject, Sendable {
  /// Removes and returns at most this many requests, in sending order. Fewer mean that there are no more now:
  /// the pool does not ask again before the next `wake()`. `areScarce` says that these are the last free
  /// streams: a source with several users should reserve them for those with few requests in flight.
  func popRequests(upTo count: Int, areScarce: Bool) -> [APNsRequest]

  /// Handles the results of one turn of the loop, in no particular order.
  func answered(_ results: [APNsResultEntry])

  /// Reports an event for operators; does nothing by default.
  func noticed(_ event: HTTP2PoolEvent)
}

extension APNsSource {
  /// Ignores it.
  package func noticed(_ event: HTTP2PoolEvent) {}
}
