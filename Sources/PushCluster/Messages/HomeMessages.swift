import PushBase
import PushWire

/// LOGIN_RESULT: the answer to LOGIN.
public struct SessionLoginResult: MessageBody {
  /// A login that a home accepted.
  public struct Accepted: Hashable, Sendable {
    /// The registration's number in this epoch.
    public let number: RegistrationNumber
    /// The order of the login within the epoch: the highest is the registration's session.
    public let order: UInt64
    /// Pushes up to this one were accepted before the login.
    public let newest: MessageID
    /// About how many pushes wait for the device.
    public let pending: UInt32
    /// What the device runs on; 0 if it is not known.
    public let platform: UInt8

    /// All fields.
    public init(
      number: RegistrationNumber, order: UInt64, newest: MessageID, pending: UInt32, platform: UInt8
    ) {
      self.number = number
      self.order = order
      self.newest = newest
      self.pending = pending
      self.platform = platform
    }
  }

  /// What became of a login.
  public enum Outcome: Hashable, Sendable {
    /// The device is connected.
    case accepted(Accepted)
    /// The device is refused, with the code of the device protocol that says why.
    case refused(UInt16)
  }

  /// The session.
  public let handle: Handle
  /// What became of it.
  public let outcome: Outcome

  /// Both fields.
  public init(handle: Handle, outcome: Outcome) {
    self.handle = handle
    self.outcome = outcome
  }

  func write(into output: inout [UInt8]) {
    output.append(handle: handle)
    switch outcome {
    case .accepted(let login):
      output.append(flag: true)
      output.append(number: login.number)
      output.appendVarint(login.order)
      output.append(id: login.newest)
      output.appendVarint(UInt64(login.pending))
      output.append(login.platform)
    case .refused(let code):
      output.append(flag: false)
      output.appendBigEndian(code)
    }
  }

  init(from reader: inout BodyReader, in bytes: Span<UInt8>) throws(FrameError) {
    handle = try reader.handle(in: bytes)
    guard try reader.flag(in: bytes) else {
      outcome = .refused(try reader.integer(in: bytes))
      return
    }
    outcome = .accepted(
      Accepted(
        number: try reader.number(in: bytes), order: try reader.varint(in: bytes),
        newest: try reader.id(in: bytes), pending: try reader.smallVarint(in: bytes),
        platform: try reader.integer(in: bytes)))
  }
}

/// STATE_TAKEN: an app's state was recorded.
public struct StateTaken: MessageBody {
  /// The session.
  public let handle: Handle
  /// Pushes up to this one were accepted before.
  public let newest: MessageID

  /// Both fields.
  public init(handle: Handle, newest: MessageID) {
    self.handle = handle
    self.newest = newest
  }

  func write(into output: inout [UInt8]) {
    output.append(handle: handle)
    output.append(id: newest)
  }

  init(from reader: inout BodyReader, in bytes: Span<UInt8>) throws(FrameError) {
    handle = try reader.handle(in: bytes)
    newest = try reader.id(in: bytes)
  }
}

/// STORED: the database has acknowledgements.
public struct AcksStored: MessageBody {
  /// How many of a session's acknowledgements count as stored now.
  public struct Count: Hashable, Sendable {
    /// The session.
    public let handle: Handle
    /// The number.
    public let count: UInt32

    /// Both fields.
    public init(_ handle: Handle, _ count: UInt32) {
      self.handle = handle
      self.count = count
    }
  }

  /// The batches that are committed. They are named one by one: a later batch may be committed while an earlier one was lost.
  public let batches: [UInt64]
  /// The sessions that they are of.
  public let counts: [Count]

  /// Both fields.
  public init(batches: [UInt64], counts: [Count]) {
    self.batches = batches
    self.counts = counts
  }

  func write(into output: inout [UInt8]) {
    output.append(list: batches) { $1.appendVarint($0) }
    output.append(list: counts) { count, output in
      output.append(handle: count.handle)
      output.appendVarint(UInt64(count.count))
    }
  }

  init(from reader: inout BodyReader, in bytes: Span<UInt8>) throws(FrameError) {
    batches = try reader.list(bytesEach: 1, in: bytes) { reader throws(FrameError) in
      try reader.varint(in: bytes)
    }
    counts = try reader.list(bytesEach: 12, in: bytes) { reader throws(FrameError) in
      Count(try reader.handle(in: bytes), try reader.smallVarint(in: bytes))
    }
  }
}

/// RESULT: the answer to a request of a device.
public struct DeviceResult: MessageBody {
  /// The session.
  public let handle: Handle
  /// The request.
  public let sequence: UInt32
  /// The code of the device protocol.
  public let code: UInt16
  /// The payload of the device protocol.
  public let payload: [UInt8]

  /// All fields.
  public init(handle: Handle, sequence: UInt32, code: UInt16, payload: [UInt8]) {
    self.handle = handle
    self.sequence = sequence
    self.code = code
    self.payload = payload
  }

  func write(into output: inout [UInt8]) {
    output.append(handle: handle)
    output.appendBigEndian(sequence)
    output.appendBigEndian(code)
    output.append(counted: payload)
  }

  init(from reader: inout BodyReader, in bytes: Span<UInt8>) throws(FrameError) {
    handle = try reader.handle(in: bytes)
    sequence = try reader.integer(in: bytes)
    code = try reader.integer(in: bytes)
    payload = try reader.counted(atMost: ClusterLimits.maxContent, in: bytes)
  }
}

/// RECALL: a push is recalled. Sent again until RECALLED.
public struct PushRecall: MessageBody {
  /// The push.
  public let id: MessageID
  /// Its audience, as a serialized Roaring set; empty with `isComplement` for everybody.
  public let targets: [UInt8]
  /// The set holds those who are not in the audience.
  public let isComplement: Bool

  /// All fields.
  public init(id: MessageID, targets: [UInt8], isComplement: Bool) {
    self.id = id
    self.targets = targets
    self.isComplement = isComplement
  }

  func write(into output: inout [UInt8]) {
    output.append(id: id)
    output.append(flag: isComplement)
    output.append(counted: targets)
  }

  init(from reader: inout BodyReader, in bytes: Span<UInt8>) throws(FrameError) {
    id = try reader.id(in: bytes)
    isComplement = try reader.flag(in: bytes)
    targets = try reader.counted(atMost: ClusterLimits.maxSet, in: bytes)
  }
}

/// END_SESSION: a session is to be ended. Sent again until CLOSE.
public struct SessionEnd: MessageBody {
  /// The session.
  public let handle: Handle
  /// The close reason of the device protocol.
  public let reason: UInt8

  /// Both fields.
  public init(handle: Handle, reason: UInt8) {
    self.handle = handle
    self.reason = reason
  }

  func write(into output: inout [UInt8]) {
    output.append(handle: handle)
    output.append(reason)
  }

  init(from reader: inout BodyReader, in bytes: Span<UInt8>) throws(FrameError) {
    handle = try reader.handle(in: bytes)
    reason = try reader.integer(in: bytes)
  }
}

/// HOME: a node is the home of the entry's app in the entry's epoch. The table `home` says the same.
public struct HomeNotice: MessageBody {
  /// The node.
  public let incarnation: Incarnation
  /// The newest push of the app.
  public let newest: MessageID

  /// Both fields.
  public init(incarnation: Incarnation, newest: MessageID) {
    self.incarnation = incarnation
    self.newest = newest
  }

  func write(into output: inout [UInt8]) {
    output.appendVarint(incarnation.rawValue)
    output.append(id: newest)
  }

  init(from reader: inout BodyReader, in bytes: Span<UInt8>) throws(FrameError) {
    incarnation = Incarnation(try reader.varint(in: bytes))
    newest = try reader.id(in: bytes)
  }
}

/// WANT_SESSIONS: a home asks a gateway for its sessions of an app.
public struct SessionsWanted: MessageBody {
  /// The buckets that differ; none means all.
  public let buckets: [UInt32]

  /// The one field.
  public init(buckets: [UInt32]) { self.buckets = buckets }

  func write(into output: inout [UInt8]) {
    output.append(list: buckets) { $1.appendVarint(UInt64($0)) }
  }

  init(from reader: inout BodyReader, in bytes: Span<UInt8>) throws(FrameError) {
    buckets = try reader.list(bytesEach: 1, in: bytes) { reader throws(FrameError) in
      try reader.smallVarint(in: bytes)
    }
  }
}
