import PushBase
import PushDomain

/// 128 bits that name one notification to Apple, sent as a UUID in lower case (`apns-id`).
public struct APNsID: Hashable, Sendable, CustomStringConvertible {
  /// The first eight bytes.
  public let high: UInt64
  /// The last eight bytes.
  public let low: UInt64

  /// Puts an ID together.
  public init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// The 36 characters of the UUID as ASCII, written behind `bytes`.
  func write(to bytes: inout [UInt8]) {
    for nibble in 0..<32 {
      if nibble == 8 || nibble == 12 || nibble == 16 || nibble == 20 { bytes.append(45) }
      let half = nibble < 16 ? high : low
      bytes.append(Hex.character(UInt8(truncatingIfNeeded: half >> UInt64(60 - 4 * (nibble % 16))) & 15))
    }
  }

  /// The UUID in its usual form.
  public var description: String {
    var bytes: [UInt8] = []
    write(to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }
}

/// One notification for one device, as it goes to Apple.
public struct APNsRequest: Sendable {
  /// The caller's own number; comes back with the result and means nothing here.
  public var tag: UInt64
  /// The device token as it is, not in hexadecimal.
  public var deviceToken: [UInt8]
  /// The topic with its suffix.
  public var topic: String
  /// The kind of push.
  public var type: APNsPushType
  /// How soon Apple delivers.
  public var priority: APNsPriority
  /// Until when Apple keeps it, Unix seconds; 0 for one attempt, nil leaves it to Apple.
  public var expiration: Int64?
  /// At most 64 bytes; empty for none. A later push with the same ID takes the place of the first.
  public var collapseID: [UInt8]
  /// The name under which Apple's answer and logs know the push; the same at each attempt.
  public var id: APNsID
  /// The payload, JSON in UTF-8.
  public var payload: [UInt8]

  /// Puts a request together.
  public init(
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

/// What became of a request. Every request that was taken gets exactly one.
public enum APNsResult: Equatable, Sendable {
  /// Apple has answered. `uniqueID` is `apns-unique-id`, which only the sandbox gives: the key to the log in Apple's
  /// console.
  case answered(APNsAnswer, uniqueID: String? = nil)
  /// Apple has certainly not processed it: it never left in full, or its stream lay above the last one that a GOAWAY
  /// named. It may be sent again at once: the pool waits where connections fail.
  case notSent
  /// Apple refused its stream alone and has not processed it: it may be sent again, but not again and again at once.
  case refused
  /// It left and no answer came: the connection was lost, the stream reset, or the time was over. It may have been
  /// delivered.
  case unknown
}

/// A result with the number of the request it belongs to.
public struct APNsResultEntry: Sendable {
  /// The request's `tag`.
  public let tag: UInt64
  /// What became of it.
  public let result: APNsResult
}

/// Where a pool gets requests from and gives their results to. The calls come on the thread of the pool's loop and must
/// not block; those of one pool never overlap.
public protocol APNsSource: AnyObject, Sendable {
  /// Gives at most so many requests, those that should leave first in front. Fewer mean that there are no more now: the
  /// pool does not ask again before the next `wake()`.
  /// `areScarce` says that these are the last that fit in: a source that speaks for several should keep them for those who
  /// have little under way.
  func take(upTo count: Int, areScarce: Bool) -> [APNsRequest]

  /// Takes the results of one turn of the loop, in no particular order.
  func answered(_ results: [APNsResultEntry])

  /// Tells what an operator may want to see; does nothing unless implemented.
  func noticed(_ event: APNsPoolEvent)
}

extension APNsSource {
  /// Ignores it.
  public func noticed(_ event: APNsPoolEvent) {}
}
