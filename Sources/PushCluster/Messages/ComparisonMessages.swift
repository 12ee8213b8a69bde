import PushBase
import PushWire

/// DIGEST: what a gateway believes of its sessions of an app.
public struct DigestMessage: MessageBody {
  /// All sessions whose registration numbers share a bucket.
  public struct Bucket: Hashable, Sendable {
    /// The number of the bucket: registration number / 4096.
    public let index: UInt32
    /// The exclusive or of `SessionDigest.hash` of each session.
    public let hash: UInt64
    /// How many pushes are in flight to these sessions.
    public let inFlight: UInt32

    /// All fields.
    public init(index: UInt32, hash: UInt64, inFlight: UInt32) {
      self.index = index
      self.hash = hash
      self.inFlight = inFlight
    }
  }

  /// The buckets from this one on are compared; those of them that are not listed are empty.
  public let first: UInt32
  /// The last bucket that is compared.
  public let last: UInt32
  /// The buckets with sessions, in order.
  public let buckets: [Bucket]

  /// All fields.
  public init(first: UInt32, last: UInt32, buckets: [Bucket]) {
    self.first = first
    self.last = last
    self.buckets = buckets
  }

  func write(into output: inout [UInt8]) {
    output.appendVarint(UInt64(first))
    output.appendVarint(UInt64(last))
    output.append(list: buckets) { bucket, output in
      output.appendVarint(UInt64(bucket.index))
      output.appendBigEndian(bucket.hash)
      output.appendVarint(UInt64(bucket.inFlight))
    }
  }

  init(from reader: inout BodyReader, in bytes: Span<UInt8>) throws(FrameError) {
    first = try reader.smallVarint(in: bytes)
    last = try reader.smallVarint(in: bytes)
    buckets = try reader.list(bytesEach: 10, in: bytes) { reader throws(FrameError) in
      Bucket(
        index: try reader.smallVarint(in: bytes), hash: try reader.integer(in: bytes),
        inFlight: try reader.smallVarint(in: bytes))
    }
    let (first, last) = (first, last)
    guard first <= last, buckets.allSatisfy({ (first...last).contains($0.index) }),
      zip(buckets, buckets.dropFirst()).allSatisfy({ $0.index < $1.index })
    else { throw .invalidValue }
  }
}

/// SESSIONS: the sessions of a gateway in a range of buckets; answers WANT_SESSIONS.
public struct SessionList: MessageBody {
  /// A session.
  public struct Item: Hashable, Sendable {
    /// Its name.
    public let handle: Handle
    /// Its registration; the home tells the number anew.
    public let registrationID: RegistrationID
    /// The order of its login within the epoch that accepted it; 0 if no home has.
    public let order: UInt64
    /// The newest push sent to it.
    public let sentThrough: MessageID
    /// Whether its app is in the foreground.
    public let isForeground: Bool
    /// Pushes sent and not acknowledged.
    public let inFlight: [MessageID]
    /// Pushes acknowledged, but not stored as far as the gateway knows.
    public let unstored: [MessageID]

    /// All fields.
    public init(
      handle: Handle, registrationID: RegistrationID, order: UInt64, sentThrough: MessageID,
      isForeground: Bool, inFlight: [MessageID], unstored: [MessageID]
    ) {
      self.handle = handle
      self.registrationID = registrationID
      self.order = order
      self.sentThrough = sentThrough
      self.isForeground = isForeground
      self.inFlight = inFlight
      self.unstored = unstored
    }
  }

  /// The first bucket that it is about.
  public let first: UInt32
  /// The last bucket that it is about.
  public let last: UInt32
  /// More messages about the same buckets follow: nothing is missing only after the last.
  public let hasMore: Bool
  /// The newest push that the gateway has applied for the app: the floor of the next ID, and where a replay begins.
  public let applied: MessageID
  /// The sessions.
  public let items: [Item]

  /// All fields.
  public init(first: UInt32, last: UInt32, hasMore: Bool, applied: MessageID, items: [Item]) {
    self.first = first
    self.last = last
    self.hasMore = hasMore
    self.applied = applied
    self.items = items
  }

  func write(into output: inout [UInt8]) {
    output.appendVarint(UInt64(first))
    output.appendVarint(UInt64(last))
    output.append(flag: hasMore)
    output.append(id: applied)
    output.append(list: items) { item, output in
      output.append(handle: item.handle)
      output.append(registrationID: item.registrationID)
      output.appendVarint(item.order)
      output.append(id: item.sentThrough)
      output.append(flag: item.isForeground)
      output.append(list: item.inFlight) { $1.append(id: $0) }
      output.append(list: item.unstored) { $1.append(id: $0) }
    }
  }

  init(from reader: inout BodyReader, in bytes: Span<UInt8>) throws(FrameError) {
    first = try reader.smallVarint(in: bytes)
    last = try reader.smallVarint(in: bytes)
    hasMore = try reader.flag(in: bytes)
    applied = try reader.id(in: bytes)
    items = try reader.list(bytesEach: 33, in: bytes) { reader throws(FrameError) in
      Item(
        handle: try reader.handle(in: bytes), registrationID: try reader.registrationID(in: bytes),
        order: try reader.varint(in: bytes), sentThrough: try reader.id(in: bytes),
        isForeground: try reader.flag(in: bytes), inFlight: try reader.ids(in: bytes),
        unstored: try reader.ids(in: bytes))
    }
    guard first <= last else { throw .invalidValue }
  }
}

extension BodyReader {
  fileprivate mutating func ids(in bytes: Span<UInt8>) throws(FrameError) -> [MessageID] {
    try list(atMost: ClusterLimits.maxInFlight, bytesEach: 8, in: bytes) { reader throws(FrameError) in
      try reader.id(in: bytes)
    }
  }
}
