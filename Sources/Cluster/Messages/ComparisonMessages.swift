import BorealisBase
import BorealisProtocol

/// DIGEST: what a gateway believes of its sessions of an app.
package struct DigestMessage: MessageBody {
  /// All sessions whose registration numbers share a bucket.
  package struct Bucket: Hashable, Sendable {
    /// The number of the bucket: registration number / 4096.
    package let index: UInt32
    /// The exclusive or of `SessionDigest.hash` of each session.
    package let hash: UInt64
    /// How many pushes are in flight to these sessions.
    package let inFlight: UInt32

    package init(index: UInt32, hash: UInt64, inFlight: UInt32) {
      self.index = index
      self.hash = hash
      self.inFlight = inFlight
    }
  }

  /// The buckets from this one on are compared; those of them that are not listed are empty.
  package let first: UInt32
  /// The last bucket that is compared.
  package let last: UInt32
  /// The buckets with sessions, in order.
  package let buckets: [Bucket]

  package init(first: UInt32, last: UInt32, buckets: [Bucket]) {
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

/// SESSIONS: the sessions of a gateway in a range of buckets of an app; answers WANT_SESSIONS. One that names
/// no app and has no sessions only says how many there are.
package struct SessionList: MessageBody {
  /// A session.
  package struct Item: Hashable, Sendable {
    /// Its name.
    package let handle: Handle
    package let registrationID: RegistrationID
    /// The number that the home which accepted the login gave the registration.
    package let number: RegistrationNumber
    /// The order of its login.
    package let order: UInt64
    /// Whether its app is in the foreground.
    package let isForeground: Bool

    package init(
      handle: Handle, registrationID: RegistrationID, number: RegistrationNumber, order: UInt64,
      isForeground: Bool
    ) {
      self.handle = handle
      self.registrationID = registrationID
      self.number = number
      self.order = order
      self.isForeground = isForeground
    }
  }

  /// What it answers.
  package let request: UInt32
  /// Its place among the messages that answer together, from 0.
  package let index: UInt32
  /// How many these are.
  package let count: UInt32
  /// The first bucket that it is about: all sessions in these buckets are in this message.
  package let first: UInt32
  /// The last bucket that it is about.
  package let last: UInt32
  /// The sessions.
  package let items: [Item]

  package init(request: UInt32, index: UInt32, count: UInt32, first: UInt32, last: UInt32, items: [Item]) {
    self.request = request
    self.index = index
    self.count = count
    self.first = first
    self.last = last
    self.items = items
  }

  func write(into output: inout [UInt8]) {
    for value in [request, index, count, first, last] { output.appendVarint(UInt64(value)) }
    output.append(list: items) { item, output in
      output.append(handle: item.handle)
      output.append(registrationID: item.registrationID)
      output.append(number: item.number)
      output.appendVarint(item.order)
      output.append(flag: item.isForeground)
    }
  }

  init(from reader: inout BodyReader, in bytes: Span<UInt8>) throws(FrameError) {
    request = try reader.smallVarint(in: bytes)
    index = try reader.smallVarint(in: bytes)
    count = try reader.smallVarint(in: bytes)
    first = try reader.smallVarint(in: bytes)
    last = try reader.smallVarint(in: bytes)
    items = try reader.list(bytesEach: 27, in: bytes) { reader throws(FrameError) in
      Item(
        handle: try reader.handle(in: bytes), registrationID: try reader.registrationID(in: bytes),
        number: try reader.number(in: bytes), order: try reader.varint(in: bytes),
        isForeground: try reader.flag(in: bytes))
    }
    guard first <= last, index < count else { throw .invalidValue }
  }
}
