import PushBase
import PushWire

/// LOGIN: a device logs in at a gateway.
public struct SessionLogin: MessageBody {
  /// Its session; the same handle gets the same answer.
  public let handle: Handle
  /// Its registration.
  public let registrationID: RegistrationID
  /// The digest of its secret, both halves.
  public let secretHigh, secretLow: UInt64
  /// Whether its app is in the foreground.
  public let isForeground: Bool

  /// All fields.
  public init(
    handle: Handle, registrationID: RegistrationID, secretHigh: UInt64, secretLow: UInt64,
    isForeground: Bool
  ) {
    self.handle = handle
    self.registrationID = registrationID
    self.secretHigh = secretHigh
    self.secretLow = secretLow
    self.isForeground = isForeground
  }

  func write(into output: inout [UInt8]) {
    output.append(handle: handle)
    output.append(registrationID: registrationID)
    output.appendBigEndian(secretHigh)
    output.appendBigEndian(secretLow)
    output.append(flag: isForeground)
  }

  init(from reader: inout BodyReader, in bytes: Span<UInt8>) throws(FrameError) {
    handle = try reader.handle(in: bytes)
    registrationID = try reader.registrationID(in: bytes)
    secretHigh = try reader.integer(in: bytes)
    secretLow = try reader.integer(in: bytes)
    isForeground = try reader.flag(in: bytes)
  }
}

/// CLOSE: a session has ended. It also confirms END_SESSION.
public struct SessionClose: MessageBody {
  /// The session.
  public let handle: Handle
  /// Its registration.
  public let number: RegistrationNumber
  /// Why, as it is recorded.
  public let reason: UInt8

  /// All fields.
  public init(handle: Handle, number: RegistrationNumber, reason: UInt8) {
    self.handle = handle
    self.number = number
    self.reason = reason
  }

  func write(into output: inout [UInt8]) {
    output.append(handle: handle)
    output.append(number: number)
    output.append(reason)
  }

  init(from reader: inout BodyReader, in bytes: Span<UInt8>) throws(FrameError) {
    handle = try reader.handle(in: bytes)
    number = try reader.number(in: bytes)
    reason = try reader.integer(in: bytes)
  }
}

/// STATE: an app went to the foreground or background.
public struct SessionState: MessageBody {
  /// The session.
  public let handle: Handle
  /// Its registration.
  public let number: RegistrationNumber
  /// Where the app is now.
  public let isForeground: Bool
  /// The gateway asks for STATE_TAKEN.
  public let wantsNewest: Bool

  /// All fields.
  public init(handle: Handle, number: RegistrationNumber, isForeground: Bool, wantsNewest: Bool) {
    self.handle = handle
    self.number = number
    self.isForeground = isForeground
    self.wantsNewest = wantsNewest
  }

  func write(into output: inout [UInt8]) {
    output.append(handle: handle)
    output.append(number: number)
    output.append(flag: isForeground)
    output.append(flag: wantsNewest)
  }

  init(from reader: inout BodyReader, in bytes: Span<UInt8>) throws(FrameError) {
    handle = try reader.handle(in: bytes)
    number = try reader.number(in: bytes)
    isForeground = try reader.flag(in: bytes)
    wantsNewest = try reader.flag(in: bytes)
  }
}

/// ACKS: devices of a gateway acknowledged pushes of an app. Sent again until STORED names the batch.
public struct AckBatch: MessageBody {
  /// An acknowledgement of one push by one device.
  public struct Single: Hashable, Sendable {
    /// The device's registration.
    public let number: RegistrationNumber
    /// The push.
    public let id: MessageID

    /// Both fields.
    public init(_ number: RegistrationNumber, _ id: MessageID) {
      self.number = number
      self.id = id
    }
  }

  /// Acknowledgements of one push by many devices.
  public struct Many: Hashable, Sendable {
    /// The push.
    public let id: MessageID
    /// The registrations, as a serialized Roaring set.
    public let numbers: [UInt8]

    /// Both fields.
    public init(_ id: MessageID, numbers: [UInt8]) {
      self.id = id
      self.numbers = numbers
    }
  }

  /// Grows from one batch of the gateway to the next for the same app.
  public let batch: UInt64
  /// Those of few devices for a push.
  public let singles: [Single]
  /// Those of many.
  public let broadcasts: [Many]

  /// All fields.
  public init(batch: UInt64, singles: [Single], broadcasts: [Many]) {
    self.batch = batch
    self.singles = singles
    self.broadcasts = broadcasts
  }

  func write(into output: inout [UInt8]) {
    output.appendVarint(batch)
    output.append(list: singles) { single, output in
      output.append(number: single.number)
      output.append(id: single.id)
    }
    output.append(list: broadcasts) { many, output in
      output.append(id: many.id)
      output.append(counted: many.numbers)
    }
  }

  init(from reader: inout BodyReader, in bytes: Span<UInt8>) throws(FrameError) {
    batch = try reader.varint(in: bytes)
    singles = try reader.list(bytesEach: 12, in: bytes) { reader throws(FrameError) in
      Single(try reader.number(in: bytes), try reader.id(in: bytes))
    }
    broadcasts = try reader.list(bytesEach: 9, in: bytes) { reader throws(FrameError) in
      Many(
        try reader.id(in: bytes), numbers: try reader.counted(atMost: ClusterLimits.maxSet, in: bytes))
    }
  }
}

/// OPERATION, REGISTER, RECEIPTS: a device asks or tells something. The type of the message says which; the same (handle, sequence)
/// gets the same RESULT.
public struct DeviceRequest: MessageBody {
  /// The session.
  public let handle: Handle
  /// Grows from one request of the session to the next.
  public let sequence: UInt32
  /// Its registration; 0 for REGISTER.
  public let number: RegistrationNumber
  /// The body of the device's frame, with its type in front.
  public let body: [UInt8]

  /// All fields.
  public init(handle: Handle, sequence: UInt32, number: RegistrationNumber, body: [UInt8]) {
    self.handle = handle
    self.sequence = sequence
    self.number = number
    self.body = body
  }

  func write(into output: inout [UInt8]) {
    output.append(handle: handle)
    output.appendBigEndian(sequence)
    output.append(number: number)
    output.append(counted: body)
  }

  init(from reader: inout BodyReader, in bytes: Span<UInt8>) throws(FrameError) {
    handle = try reader.handle(in: bytes)
    sequence = try reader.integer(in: bytes)
    number = try reader.number(in: bytes)
    body = try reader.counted(atMost: ClusterLimits.maxContent, in: bytes)
  }
}

/// PULL: a session asks for the pushes that wait for it.
public struct PullRequest: MessageBody {
  /// The session.
  public let handle: Handle
  /// Its registration.
  public let number: RegistrationNumber
  /// The newest push sent to it.
  public let sentThrough: MessageID
  /// The most pushes to answer with, oldest first.
  public let limit: UInt32

  /// All fields.
  public init(handle: Handle, number: RegistrationNumber, sentThrough: MessageID, limit: UInt32) {
    self.handle = handle
    self.number = number
    self.sentThrough = sentThrough
    self.limit = limit
  }

  func write(into output: inout [UInt8]) {
    output.append(handle: handle)
    output.append(number: number)
    output.append(id: sentThrough)
    output.appendVarint(UInt64(limit))
  }

  init(from reader: inout BodyReader, in bytes: Span<UInt8>) throws(FrameError) {
    handle = try reader.handle(in: bytes)
    number = try reader.number(in: bytes)
    sentThrough = try reader.id(in: bytes)
    limit = try reader.smallVarint(in: bytes)
  }
}

/// REPLAY: a gateway misses pushes of an app and asks for all open ones after the newest that it has applied.
public struct ReplayRequest: MessageBody {
  /// The newest push applied.
  public let after: MessageID

  /// The one field.
  public init(after: MessageID) { self.after = after }

  func write(into output: inout [UInt8]) { output.append(id: after) }

  init(from reader: inout BodyReader, in bytes: Span<UInt8>) throws(FrameError) {
    after = try reader.id(in: bytes)
  }
}

/// RECALLED: a recall took effect at the sender, or it has no such session.
public struct RecallConfirmation: MessageBody {
  /// The push.
  public let id: MessageID

  /// The one field.
  public init(id: MessageID) { self.id = id }

  func write(into output: inout [UInt8]) { output.append(id: id) }

  init(from reader: inout BodyReader, in bytes: Span<UInt8>) throws(FrameError) {
    id = try reader.id(in: bytes)
  }
}
