import BorealisBase
import BorealisProtocol

/// LOGIN_RESULT: the answer to LOGIN.
package struct SessionLoginResult: MessageBody {
  /// A login that a home accepted.
  package struct Accepted: Hashable, Sendable {
    /// The registration's number in this epoch.
    package let number: RegistrationNumber
    /// The order of the login among all that any home has accepted: the highest is the registration's
    /// session.
    package let order: UInt64
    /// Pushes up to this one were accepted before the login.
    package let newest: MessageID
    /// About how many pushes wait for the device.
    package let pending: UInt32
    /// What the device runs on; 0 if it is not known.
    package let platform: UInt8
    /// Whether any may wait, also if none was counted.
    package let mayWait: Bool
    /// The facts that the app asks the device for.
    package let facts: DeviceFactSet

    package init(
      number: RegistrationNumber, order: UInt64, newest: MessageID, pending: UInt32, platform: UInt8,
      mayWait: Bool, facts: DeviceFactSet = []
    ) {
      self.number = number
      self.order = order
      self.newest = newest
      self.pending = pending
      self.platform = platform
      self.mayWait = mayWait
      self.facts = facts
    }
  }

  /// What became of a login.
  package enum Outcome: Hashable, Sendable {
    /// The device is connected.
    case accepted(Accepted)
    /// The device is refused, with the code of the device protocol that says why.
    case refused(UInt16)
  }

  /// The session.
  package let handle: Handle
  /// What became of it.
  package let outcome: Outcome

  /// Both fields.
  package init(handle: Handle, outcome: Outcome) {
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
      output.append(flag: login.mayWait)
      output.appendVarint(UInt64(login.facts.rawValue))
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
    let number = try reader.number(in: bytes)
    let order = try reader.varint(in: bytes)
    let newest = try reader.id(in: bytes)
    let pending = try reader.smallVarint(in: bytes)
    let platform = try reader.integer(UInt8.self, in: bytes)
    // The version before does not say it.
    let mayWait = reader.rest.isEmpty ? pending > 0 : try reader.flag(in: bytes)
    let facts = reader.rest.isEmpty ? 0 : try reader.smallVarint(in: bytes)
    outcome = .accepted(
      Accepted(
        number: number, order: order, newest: newest, pending: pending, platform: platform, mayWait: mayWait,
        facts: DeviceFactSet(rawValue: UInt16(truncatingIfNeeded: facts))))
  }
}

/// STATE_TAKEN: an app's state was recorded.
package struct StateApplied: MessageBody {
  /// The session.
  package let handle: Handle
  /// Pushes up to this one were accepted before.
  package let newest: MessageID

  /// Both fields.
  package init(handle: Handle, newest: MessageID) {
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

/// FACTS_WANTED: an app asks its devices for other facts than before.
package struct FactsWanted: MessageBody {
  package let facts: DeviceFactSet

  /// The one field.
  package init(facts: DeviceFactSet) { self.facts = facts }

  func write(into output: inout [UInt8]) { output.appendVarint(UInt64(facts.rawValue)) }

  init(from reader: inout BodyReader, in bytes: Span<UInt8>) throws(FrameError) {
    facts = DeviceFactSet(rawValue: UInt16(truncatingIfNeeded: try reader.smallVarint(in: bytes)))
  }
}

/// STORED: the database has acknowledgements.
package struct AcksStored: MessageBody {
  /// The batches that are committed. They are named one by one: a later batch may be committed while an
  /// earlier one was lost.
  package let batches: [UInt64]

  /// The one field.
  package init(batches: [UInt64]) { self.batches = batches }

  func write(into output: inout [UInt8]) { output.append(list: batches) { $1.appendVarint($0) } }

  init(from reader: inout BodyReader, in bytes: Span<UInt8>) throws(FrameError) {
    batches = try reader.list(bytesEach: 1, in: bytes) { reader throws(FrameError) in
      try reader.varint(in: bytes)
    }
  }
}

/// RESULT: the answer to a request of a device.
package struct DeviceResult: MessageBody {
  /// The session.
  package let handle: Handle
  /// The request.
  package let sequence: UInt32
  /// What became of it.
  package let body: [UInt8]

  package init(handle: Handle, sequence: UInt32, body: [UInt8]) {
    self.handle = handle
    self.sequence = sequence
    self.body = body
  }

  func write(into output: inout [UInt8]) {
    output.append(handle: handle)
    output.appendBigEndian(sequence)
    output.append(counted: body)
  }

  init(from reader: inout BodyReader, in bytes: Span<UInt8>) throws(FrameError) {
    handle = try reader.handle(in: bytes)
    sequence = try reader.integer(in: bytes)
    body = try reader.counted(atMost: ClusterLimits.maxContent, in: bytes)
  }
}

/// WAITING: answers RECOUNT.
package struct RecountResult: MessageBody {
  /// The session.
  package let handle: Handle
  /// How many of the pushes asked about wait.
  package let count: UInt32

  /// Both fields.
  package init(handle: Handle, count: UInt32) {
    self.handle = handle
    self.count = count
  }

  func write(into output: inout [UInt8]) {
    output.append(handle: handle)
    output.appendVarint(UInt64(count))
  }

  init(from reader: inout BodyReader, in bytes: Span<UInt8>) throws(FrameError) {
    handle = try reader.handle(in: bytes)
    count = try reader.smallVarint(in: bytes)
  }
}

/// RECALL: a push is recalled. Sent again until RECALLED.
package struct PushRecall: MessageBody {
  /// The push.
  package let id: MessageID
  /// Its audience, as a serialized Roaring set; empty with `isComplement` for everybody.
  package let targets: [UInt8]
  /// The set holds those who are not in the audience.
  package let isComplement: Bool

  package init(id: MessageID, targets: [UInt8], isComplement: Bool) {
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
package struct SessionEnd: MessageBody {
  /// The session.
  package let handle: Handle
  /// The close reason that the device is told, as in the device protocol.
  package let reason: UInt8

  /// Both fields.
  package init(handle: Handle, reason: UInt8) {
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

/// HOME: a node is the home of the entry's app in the entry's epoch; of all apps, if the entry names none.
package struct HomeNotice: MessageBody {
  /// The node.
  package let incarnation: Incarnation

  /// The one field.
  package init(incarnation: Incarnation) { self.incarnation = incarnation }

  func write(into output: inout [UInt8]) { output.appendVarint(incarnation.rawValue) }

  init(from reader: inout BodyReader, in bytes: Span<UInt8>) throws(FrameError) {
    incarnation = Incarnation(try reader.varint(in: bytes))
  }
}

/// WANT_SESSIONS: a home asks a gateway for its sessions of an app, or of all apps if the entry names none.
package struct SessionsWanted: MessageBody {
  /// Stands in each SESSIONS that answers.
  package let request: UInt32
  /// The buckets that differ; none means all.
  package let buckets: [UInt32]

  /// Both fields.
  package init(request: UInt32, buckets: [UInt32]) {
    self.request = request
    self.buckets = buckets
  }

  func write(into output: inout [UInt8]) {
    output.appendVarint(UInt64(request))
    output.append(list: buckets) { $1.appendVarint(UInt64($0)) }
  }

  init(from reader: inout BodyReader, in bytes: Span<UInt8>) throws(FrameError) {
    request = try reader.smallVarint(in: bytes)
    buckets = try reader.list(bytesEach: 1, in: bytes) { reader throws(FrameError) in
      try reader.smallVarint(in: bytes)
    }
  }
}
