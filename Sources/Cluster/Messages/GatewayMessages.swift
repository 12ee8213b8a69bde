import BorealisBase
import BorealisProtocol

/// LOGIN: a device logs in at a gateway. The entry names no app, since the gateway knows only its key.
package struct SessionLogin: MessageBody {
  /// Its session; the same handle gets the same answer.
  package let handle: Handle
  /// The key of its app.
  package let app: AppKey
  package let registrationID: RegistrationID
  /// The digest of its secret, both halves.
  package let secretHigh, secretLow: UInt64
  /// Whether its app is in the foreground.
  package let isForeground: Bool
  /// When the device asked, in milliseconds of the gateway's clock since boot; 0 if the gateway does not say
  /// it.
  package let askedAt: UInt64

  package init(
    handle: Handle, app: AppKey, registrationID: RegistrationID, secretHigh: UInt64, secretLow: UInt64,
    isForeground: Bool, askedAt: UInt64 = 0
  ) {
    self.handle = handle
    self.app = app
    self.registrationID = registrationID
    self.secretHigh = secretHigh
    self.secretLow = secretLow
    self.isForeground = isForeground
    self.askedAt = askedAt
  }

  func write(into output: inout [UInt8]) {
    output.append(handle: handle)
    output.append(key: app)
    output.append(registrationID: registrationID)
    output.appendBigEndian(secretHigh)
    output.appendBigEndian(secretLow)
    output.append(flag: isForeground)
    output.appendVarint(askedAt)
  }

  init(from reader: inout BodyReader, in bytes: Span<UInt8>) throws(FrameError) {
    handle = try reader.handle(in: bytes)
    app = try reader.key(in: bytes)
    registrationID = try reader.registrationID(in: bytes)
    secretHigh = try reader.integer(in: bytes)
    secretLow = try reader.integer(in: bytes)
    isForeground = try reader.flag(in: bytes)
    // The version before does not say it.
    askedAt = reader.rest.isEmpty ? 0 : try reader.varint(in: bytes)
  }
}

/// CLOSE: a session has ended. It also confirms END_SESSION.
package struct SessionClose: MessageBody {
  /// The session.
  package let handle: Handle
  /// Its registration.
  package let number: RegistrationNumber
  /// Why, as it is recorded.
  package let reason: UInt8

  package init(handle: Handle, number: RegistrationNumber, reason: UInt8) {
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
package struct SessionState: MessageBody {
  /// The session.
  package let handle: Handle
  /// Its registration.
  package let number: RegistrationNumber
  /// Where the app is now.
  package let isForeground: Bool
  /// The gateway asks for STATE_TAKEN.
  package let wantsNewest: Bool

  package init(handle: Handle, number: RegistrationNumber, isForeground: Bool, wantsNewest: Bool) {
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

/// OPERATION, REGISTER, RECEIPTS: a device asks or tells something. The type of the message says which; the
/// same (handle, sequence) gets the same RESULT.
package struct DeviceRequest: MessageBody {
  /// The session.
  package let handle: Handle
  /// Grows from one request of the gateway to the next.
  package let sequence: UInt32
  /// Its registration; 0 for REGISTER.
  package let number: RegistrationNumber
  /// What is asked or told.
  package let body: [UInt8]
  /// When the device asked, in milliseconds of the gateway's clock since boot; 0 if the gateway does not say
  /// it.
  package let askedAt: UInt64

  package init(
    handle: Handle, sequence: UInt32, number: RegistrationNumber, body: [UInt8], askedAt: UInt64 = 0
  ) {
    self.handle = handle
    self.sequence = sequence
    self.number = number
    self.body = body
    self.askedAt = askedAt
  }

  func write(into output: inout [UInt8]) {
    output.append(handle: handle)
    output.appendBigEndian(sequence)
    output.append(number: number)
    output.append(counted: body)
    output.appendVarint(askedAt)
  }

  init(from reader: inout BodyReader, in bytes: Span<UInt8>) throws(FrameError) {
    handle = try reader.handle(in: bytes)
    sequence = try reader.integer(in: bytes)
    number = try reader.number(in: bytes)
    body = try reader.counted(atMost: ClusterLimits.maxContent, in: bytes)
    // The version before does not say it.
    askedAt = reader.rest.isEmpty ? 0 : try reader.varint(in: bytes)
  }
}

/// PULL: a session asks for the pushes that wait for it.
package struct PullRequest: MessageBody {
  /// The session.
  package let handle: Handle
  /// Its registration.
  package let number: RegistrationNumber
  /// The newest push sent to it.
  package let sentThrough: MessageID
  /// The most pushes to answer with, oldest first.
  package let limit: UInt32

  package init(handle: Handle, number: RegistrationNumber, sentThrough: MessageID, limit: UInt32) {
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

/// RECOUNT: a session with a full window asks how many of the pushes sent to it still wait; answered by
/// WAITING.
package struct RecountRequest: MessageBody {
  /// The session.
  package let handle: Handle
  /// Its registration.
  package let number: RegistrationNumber
  /// The newest push that is counted.
  package let through: MessageID

  package init(handle: Handle, number: RegistrationNumber, through: MessageID) {
    self.handle = handle
    self.number = number
    self.through = through
  }

  func write(into output: inout [UInt8]) {
    output.append(handle: handle)
    output.append(number: number)
    output.append(id: through)
  }

  init(from reader: inout BodyReader, in bytes: Span<UInt8>) throws(FrameError) {
    handle = try reader.handle(in: bytes)
    number = try reader.number(in: bytes)
    through = try reader.id(in: bytes)
  }
}

/// REPLAY: a gateway misses pushes of an app and asks for all open ones after the newest that it has applied.
package struct ReplayRequest: MessageBody {
  /// The newest push applied.
  package let after: MessageID
  /// Grows with each question of a gateway that waits for its answer; 0 if it does not.
  package let number: UInt32

  package init(after: MessageID, number: UInt32 = 0) {
    self.after = after
    self.number = number
  }

  func write(into output: inout [UInt8]) {
    output.append(id: after)
    output.appendVarint(UInt64(number))
  }

  init(from reader: inout BodyReader, in bytes: Span<UInt8>) throws(FrameError) {
    after = try reader.id(in: bytes)
    // The version before does not say it.
    number = reader.rest.isEmpty ? 0 : try reader.smallVarint(in: bytes)
  }
}

/// RECALLED: a recall took effect at the sender, or it has no such session.
package struct RecallConfirmation: MessageBody {
  /// The push.
  package let id: MessageID

  /// The one field.
  package init(id: MessageID) { self.id = id }

  func write(into output: inout [UInt8]) { output.append(id: id) }

  init(from reader: inout BodyReader, in bytes: Span<UInt8>) throws(FrameError) {
    id = try reader.id(in: bytes)
  }
}

/// LATE_TAKEN: a LATE has come.
package struct LateConfirmation: MessageBody {
  package let counter: UInt64

  /// The one field.
  package init(counter: UInt64) { self.counter = counter }

  func write(into output: inout [UInt8]) { output.appendVarint(counter) }

  init(from reader: inout BodyReader, in bytes: Span<UInt8>) throws(FrameError) {
    counter = try reader.varint(in: bytes)
  }
}
