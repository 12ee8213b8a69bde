import BorealisBase
import BorealisProtocol

/// ACKS: devices of a gateway acknowledged pushes of an app. Sent again until STORED names the batch.
package struct AckBatch: MessageBody {
  /// A push that reached a device.
  package struct Arrival: Hashable, Sendable {
    /// The push.
    package let id: MessageID
    /// How long ago it arrived when the batch was made, in milliseconds: the clocks of nodes are not
    /// compared.
    package let age: UInt32
    /// The device said when.
    package let isExact: Bool

    package init(_ id: MessageID, age: UInt32, isExact: Bool) {
      self.id = id
      self.age = age
      self.isExact = isExact
    }
  }

  /// What one device acknowledged.
  package struct Sender: Hashable, Sendable {
    /// The device's registration.
    package let number: RegistrationNumber
    /// Pushes after this one were accepted while the device was in reach: their latencies are counted.
    package let newestWhileAway: MessageID
    /// The pushes.
    package let arrivals: [Arrival]

    package init(_ number: RegistrationNumber, newestWhileAway: MessageID, arrivals: [Arrival]) {
      self.number = number
      self.newestWhileAway = newestWhileAway
      self.arrivals = arrivals
    }
  }

  /// A push that reached many devices, in the same way.
  package struct Group: Hashable, Sendable {
    /// The push.
    package let id: MessageID
    /// It was accepted while the devices were out of reach: its latencies are not counted.
    package let wasAway: Bool
    /// The devices said when it arrived.
    package let isExact: Bool
    /// The devices' registrations, a set of numbers.
    package let numbers: [UInt8]
    /// How long ago it reached each of them, in ascending order, when the batch was made, in milliseconds.
    package let ages: [UInt32]

    package init(_ id: MessageID, wasAway: Bool, isExact: Bool, numbers: [UInt8], ages: [UInt32]) {
      (self.id, self.wasAway, self.isExact) = (id, wasAway, isExact)
      (self.numbers, self.ages) = (numbers, ages)
    }
  }

  /// Grows from one batch of the gateway to the next; 0 for an empty one that only asks for storing.
  package let batch: UInt64
  /// Connections wait until the acknowledgements so far are stored.
  package let isUrgent: Bool
  /// How long the batch had been kept when it was sent, in milliseconds; the version before said so, this one
  /// makes `age` anew.
  package let held: UInt32
  /// Whose acknowledgements they are, one device after the other.
  package let senders: [Sender]
  /// Those of many devices for the same push; only for a home that speaks version 2.
  package let groups: [Group]

  package init(
    batch: UInt64, isUrgent: Bool = false, held: UInt32 = 0, senders: [Sender], groups: [Group] = []
  ) {
    self.batch = batch
    self.isUrgent = isUrgent
    self.held = held
    self.senders = senders
    self.groups = groups
  }

  func write(into output: inout [UInt8]) {
    output.appendVarint(batch)
    output.append(flag: isUrgent)
    output.appendVarint(UInt64(held))
    output.append(list: senders) { sender, output in
      output.append(number: sender.number)
      output.append(id: sender.newestWhileAway)
      output.append(list: sender.arrivals) { arrival, output in
        output.append(id: arrival.id)
        output.appendVarint(UInt64(arrival.age) << 1 | (arrival.isExact ? 1 : 0))
      }
    }
    output.append(list: groups) { group, output in
      output.append(id: group.id)
      output.append((group.wasAway ? 1 : 0) | (group.isExact ? 2 : 0))
      output.append(counted: group.numbers)
      output.append(list: group.ages) { $1.appendVarint(UInt64($0)) }
    }
  }

  init(from reader: inout BodyReader, in bytes: Span<UInt8>) throws(FrameError) {
    batch = try reader.varint(in: bytes)
    isUrgent = try reader.flag(in: bytes)
    held = try reader.smallVarint(in: bytes)
    senders = try reader.list(bytesEach: 13, in: bytes) { reader throws(FrameError) in
      Sender(
        try reader.number(in: bytes), newestWhileAway: try reader.id(in: bytes),
        arrivals: try reader.list(bytesEach: 9, in: bytes) { reader throws(FrameError) in
          let id = try reader.id(in: bytes)
          let age = try reader.varint(in: bytes)
          guard let milliseconds = UInt32(exactly: age >> 1) else { throw .invalidValue }
          return Arrival(id, age: milliseconds, isExact: age & 1 == 1)
        })
    }
    // The version before has none.
    guard !reader.rest.isEmpty else {
      groups = []
      return
    }
    groups = try reader.list(bytesEach: 11, in: bytes) { reader throws(FrameError) in
      let id = try reader.id(in: bytes)
      let flags = try reader.integer(UInt8.self, in: bytes)
      guard flags < 4 else { throw .invalidValue }
      return Group(
        id, wasAway: flags & 1 == 1, isExact: flags & 2 == 2,
        numbers: try reader.counted(atMost: ClusterLimits.maxSet, in: bytes),
        ages: try reader.list(bytesEach: 1, in: bytes) { reader throws(FrameError) in
          try reader.smallVarint(in: bytes)
        })
    }
  }
}
